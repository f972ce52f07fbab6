/** `/v1/dead-letters`: counts dead letters and sends them again. */
import type { Hono } from 'hono';
import { hasDestinations } from '../../domain/callbacks/callback.ts';
import type { Millis } from '../../domain/ids.ts';
import type { DeadLetterQueue } from '../../ports/queues.ts';
import { redriveDeadLetterQueue, sourceQueues, type Walk, type Walked } from '../../steps/repair/dead-letters.ts';
import { redriveGivenUp, redriveRefused } from '../../steps/repair/refused-messages.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { HttpProblem } from '../shared/problem.ts';
import { LETTER_CALLS } from './requests.ts';

/**
 * How long one request redrives dead letters, in milliseconds: half of the function's timeout. The last message is
 * therefore processed before the timeout.
 */
const REDRIVE_TIME: Millis = 10_000;
/**
 * A request stops after this many skipped messages. Its answer has a reason for each, and Lambda limits an answer to 6
 * MB.
 */
const SKIPPED_MAX = 200;

const AT_ONCE = (): number => 0;

export const deadLetterRoutes = (deps: ApiDeps): Hono => {
  const { deadLetters, machine } = deps;
  const queues: readonly DeadLetterQueue[] = [
    ...sourceQueues(deps.config),
    ...(hasDestinations(deps.config) ? (['given-up'] as const) : []),
    'rejected',
  ];
  return serve(deps, LETTER_CALLS, {
    listDeadLetters: async ({ context }) => {
      const counts = await Promise.all(queues.map((queue) => deadLetters.count(queue)));
      return context.json({ queues: queues.map((queue, index) => ({ queue, messages: counts[index] })) });
    },

    redriveDeadLetters: async ({ context, part, body }) => {
      const queue = queueNamed(queues, part('queue'));
      const { dryRun, cursor } = await body();
      if (dryRun) {
        const left = await deadLetters.count(queue);
        return context.json({ dryRun, redriven: left, skipped: [], left });
      }
      const now = machine.now();
      // The cursor is the time of the first request. Messages that were sent later are not part of the redrive.
      const began = cursor === undefined ? now : Number(cursor);
      const mayGoOn = (skipped: number): boolean => skipped < SKIPPED_MAX && machine.now() < now + REDRIVE_TIME;
      const { revived, skipped, isDone } = await redriveIn(deps, queue, { began, mayGoOn });
      const next = isDone ? {} : { cursor: String(began) };
      return context.json({ redriven: revived, skipped, left: await deadLetters.count(queue), ...next }, 202);
    },
  });
};

const redriveIn = (deps: ApiDeps, queue: DeadLetterQueue, walk: Walk): Promise<Walked> => {
  if (queue === 'rejected') return redriveRefused(deps, walk);
  if (queue === 'given-up') return redriveGivenUp(deps, walk);
  return redriveDeadLetterQueue(deps, queue, walk, AT_ONCE);
};

/** @throws HttpProblem */
const queueNamed = (queues: readonly DeadLetterQueue[], name: string): DeadLetterQueue => {
  const queue = queues.find((each) => each === name);
  if (!queue)
    throw new HttpProblem(404, `there is no queue ${JSON.stringify(name)}: the queues are ${queues.join(', ')}`);
  return queue;
};
