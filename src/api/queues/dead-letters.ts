/** `/v1/dead-letters`: counts and lists dead letters, sends them again, and discards those that only a user handles. */
import type { Hono } from 'hono';
import { hasDestinations } from '../../domain/callbacks/callback.ts';
import type { Millis } from '../../domain/ids.ts';
import type { DeadLetter, DeadLetterQueue, FinalQueue } from '../../ports/queues.ts';
import { type Chosen, handleChosen, listLetters } from '../../steps/repair/browse.ts';
import { redriveDeadLetterQueue, sourceQueues, type Walk, type Walked } from '../../steps/repair/dead-letters.ts';
import { discard, discardAll, redriveGivenUp, redriveRefused, resend } from '../../steps/repair/refused-messages.ts';
import { resendOf } from '../../steps/repair/resend.ts';
import type { Skipped } from '../shared/answer-schemas.ts';
import { serve } from '../shared/calls.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { HttpProblem } from '../shared/problem.ts';
import { LETTER_CALLS } from './requests.ts';
import { messagesView } from './views.ts';

/**
 * How long one request handles messages, in milliseconds: half of the function's timeout. The last message is therefore
 * processed before the timeout.
 */
const HANDLING_TIME: Millis = 10_000;
/**
 * A request stops after this many skipped messages. Its answer has a reason for each, and Lambda limits an answer to 6
 * MB.
 */
const SKIPPED_MAX = 200;
/**
 * How often a request looks into the queue at most, if it lacks messages that SQS counts. A list hides the messages for
 * a moment, and must not make a redrive end without having seen them. Each look waits for a second.
 */
const LOOKS = 3;

const AT_ONCE = (): number => 0;

export const deadLetterRoutes = (deps: ApiDeps): Hono => {
  const { deadLetters } = deps;
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

    listDeadLetterMessages: async ({ context, part, query }) => {
      const queue = queueNamed(queues, part('queue'));
      const listed = await listLetters(deps, queue, query().limit);
      return context.json(messagesView(deps.config, queue, listed));
    },

    redriveDeadLetters: async ({ context, part, body }) => {
      const queue = queueNamed(queues, part('queue'));
      const { dryRun, ids, cursor } = await body();
      if (ids) {
        const from = finalQueue(queue, NO_SINGLE_REDRIVE);
        const turn = dryRun ? wouldResend(deps, from) : (each: DeadLetter) => resend(deps, from, each);
        const { done, skipped } = await choose(deps, from, ids, turn);
        const left = await deadLetters.count(from);
        return context.json({ ...(dryRun ? { dryRun } : {}), redriven: done, skipped, left }, dryRun ? 200 : 202);
      }
      if (dryRun) {
        const left = await deadLetters.count(queue);
        return context.json({ dryRun, redriven: left, skipped: [], left });
      }
      const { revived, skipped, left, next } = await walkAll(deps, queue, cursor, (walk) =>
        redriveIn(deps, queue, walk),
      );
      return context.json({ redriven: revived, skipped, left, ...next }, 202);
    },

    discardDeadLetters: async ({ context, part, body }) => {
      const from = finalQueue(queueNamed(queues, part('queue')), NO_DISCARD);
      const asked = await body();
      const { dryRun } = asked;
      if ('ids' in asked && asked.ids) {
        const turn = dryRun ? async () => undefined : (each: DeadLetter) => discard(deps, from, each);
        const { done, skipped } = await choose(deps, from, asked.ids, turn);
        const left = await deadLetters.count(from);
        return context.json({ ...(dryRun ? { dryRun } : {}), discarded: done, skipped, left }, dryRun ? 200 : 202);
      }
      if (dryRun) {
        const left = await deadLetters.count(from);
        return context.json({ dryRun, discarded: left, skipped: [], left });
      }
      const cursor = 'cursor' in asked ? asked.cursor : undefined;
      const { revived, skipped, left, next } = await walkAll(deps, from, cursor, (walk) =>
        discardAll(deps, from, walk),
      );
      return context.json({ discarded: revived, skipped, left, ...next }, 202);
    },
  });
};

/** Handles all messages of a queue, as far as the time allows. */
const walkAll = async (
  deps: ApiDeps,
  queue: DeadLetterQueue,
  cursor: string | undefined,
  work: (walk: Walk) => Promise<Walked>,
) => {
  const { deadLetters, machine } = deps;
  const now = machine.now();
  // The cursor is the time of the first request. Messages that were sent later are left to another walk.
  const began = cursor === undefined ? now : Number(cursor);
  const isInTime = (): boolean => machine.now() < now + HANDLING_TIME;
  const mayGoOn = (skipped: number): boolean => skipped < SKIPPED_MAX && isInTime();
  let [revived, looks] = [0, 0];
  const skipped: Skipped[] = [];
  for (;;) {
    const walked = await work({ began, mayGoOn });
    looks += 1;
    revived += walked.revived;
    skipped.push(...walked.skipped);
    const left = await deadLetters.count(queue);
    const areHidden = walked.isDone && cursor === undefined && left > skipped.length;
    if (!areHidden || looks === LOOKS || !isInTime())
      return { revived, skipped, left, next: walked.isDone ? {} : { cursor: String(began) } };
  }
};

/** Handles single messages, and logs the errors of those that could not be handled. */
const choose = async (
  deps: ApiDeps,
  queue: FinalQueue,
  ids: readonly string[],
  turn: (deadLetter: DeadLetter) => Promise<string | undefined>,
): Promise<Chosen> => {
  const end = deps.machine.now() + HANDLING_TIME;
  const chosen = await handleChosen(deps, queue, ids, () => deps.machine.now() < end, turn);
  for (const cause of chosen.failures) deps.onError(cause);
  return chosen;
};

const wouldResend =
  ({ config }: ApiDeps, from: FinalQueue) =>
  async (deadLetter: DeadLetter): Promise<string | undefined> => {
    const how = resendOf(config, from, deadLetter);
    return how.is === 'kept' ? how.reason : undefined;
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

const NO_DISCARD =
  'dead letters of this queue cannot be discarded: without its message, a task could be lost, or a Target could stay stuck. The sweep sends them again by itself; send them now with a redrive. Only the queues rejected and given-up can be discarded';
const NO_SINGLE_REDRIVE =
  'single dead letters of this queue cannot be chosen: all of them must be handled, and a repeat does no harm. Leave out `ids`. Only in the queues rejected and given-up can messages be chosen';

/** @throws HttpProblem 409 for a queue whose messages Groupage needs */
const finalQueue = (queue: DeadLetterQueue, otherwise: string): FinalQueue => {
  if (queue === 'rejected' || queue === 'given-up') return queue;
  throw new HttpProblem(409, `nothing was done: ${otherwise}`);
};
