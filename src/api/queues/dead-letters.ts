/** `/v1/dead-letters`: counts and lists dead letters, sends them again, and discards those that only a user handles. */
import type { Context, Hono } from 'hono';
import { hasDestinations } from '../../domain/callbacks/callback.ts';
import type { Millis } from '../../domain/ids.ts';
import type { DeadLetter, DeadLetterQueue, FinalQueue } from '../../ports/queues.ts';
import { handleChosen, isFinal, listLetters } from '../../steps/repair/browse.ts';
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
      const handled = async (): Promise<Handled> => {
        if (ids) {
          const from = finalQueue(queue, NO_SINGLE_REDRIVE);
          return choose(deps, from, ids, dryRun ? wouldResend(deps, from) : (each) => resend(deps, from, each));
        }
        return dryRun ? wouldHandle(deps, queue) : walkAll(deps, queue, cursor, (walk) => redriveIn(deps, queue, walk));
      };
      return answer(context, 'redriven', await handled(), dryRun);
    },

    discardDeadLetters: async ({ context, part, body }) => {
      const from = finalQueue(queueNamed(queues, part('queue')), NO_DISCARD);
      const asked = await body();
      const { dryRun } = asked;
      const handled = async (): Promise<Handled> => {
        if ('ids' in asked && asked.ids)
          return choose(deps, from, asked.ids, dryRun ? async () => undefined : (each) => discard(deps, from, each));
        const cursor = 'cursor' in asked ? asked.cursor : undefined;
        return dryRun ? wouldHandle(deps, from) : walkAll(deps, from, cursor, (walk) => discardAll(deps, from, walk));
      };
      return answer(context, 'discarded', await handled(), dryRun);
    },
  });
};

/** What a request did with messages. */
interface Handled {
  readonly done: number;
  readonly skipped: readonly Skipped[];
  /** Approximate number of messages left in the queue. */
  readonly left: number;
  readonly cursor?: string;
}

const answer = (
  context: Context,
  name: 'redriven' | 'discarded',
  { done, ...handled }: Handled,
  dryRun: boolean | undefined,
): Response => context.json({ ...(dryRun ? { dryRun } : {}), [name]: done, ...handled }, dryRun ? 200 : 202);

/** A dry run for all messages only counts them. */
const wouldHandle = async ({ deadLetters }: ApiDeps, queue: DeadLetterQueue): Promise<Handled> => {
  const left = await deadLetters.count(queue);
  return { done: left, skipped: [], left };
};

/** Handles all messages of a queue, as far as the time allows. */
const walkAll = async (
  deps: ApiDeps,
  queue: DeadLetterQueue,
  cursor: string | undefined,
  work: (walk: Walk) => Promise<Walked>,
): Promise<Handled> => {
  const { deadLetters, machine } = deps;
  const now = machine.now();
  // The cursor is the time of the first request. Messages that were sent later are left to another walk.
  const began = cursor === undefined ? now : Number(cursor);
  const isInTime = (): boolean => machine.now() < now + HANDLING_TIME;
  const mayGoOn = (skipped: number): boolean => skipped < SKIPPED_MAX && isInTime();
  let [done, looks] = [0, 0];
  const skipped: Skipped[] = [];
  for (;;) {
    const walked = await work({ began, mayGoOn });
    looks += 1;
    done += walked.revived;
    skipped.push(...walked.skipped);
    const left = await deadLetters.count(queue);
    const areHidden = walked.isDone && cursor === undefined && left > skipped.length;
    if (!areHidden || looks === LOOKS || !isInTime())
      return { done, skipped, left, ...(walked.isDone ? {} : { cursor: String(began) }) };
  }
};

/** Handles single messages, and logs the errors of those that could not be handled. */
const choose = async (
  deps: ApiDeps,
  queue: FinalQueue,
  ids: readonly string[],
  turn: (deadLetter: DeadLetter) => Promise<string | undefined>,
): Promise<Handled> => {
  const end = deps.machine.now() + HANDLING_TIME;
  const { failures, ...chosen } = await handleChosen(deps, queue, ids, () => deps.machine.now() < end, turn);
  for (const cause of failures) deps.onError(cause);
  return { ...chosen, left: await deps.deadLetters.count(queue) };
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
  if (isFinal(queue)) return queue;
  throw new HttpProblem(409, `nothing was done: ${otherwise}`);
};
