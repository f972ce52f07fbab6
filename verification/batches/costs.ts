/**
 * Bounds for the cost of a step, however many Targets, slots and tasks there are. For each invocation of a function,
 * the gate counts requests to stores and queues, and rows per request. A step that reads all Targets, and not only its
 * own, exceeds the bounds.
 *
 * An invocation makes at most {@link WAKING} requests for each message. It may make {@link EACH} more for each message,
 * each batch that it opens, each time it settles tasks, and each call to the downstream, and {@link ITEM} more for each
 * row of a task that is an item of a fan-out. A request has at most as many rows as the largest of these: the invocation's messages, the
 * tasks of two batches, the Targets that are woken together, the pages of slots, and the inputs of a merged request. An
 * invocation that wakes many Targets at a limited pace must keep to that pace.
 */

import { INPUTS_MAX } from '../../src/domain/merging/inputs.ts';
import { STINT } from '../../src/domain/timings.ts';
import type { WorkingQueue } from '../../src/ports/queues.ts';
import { PACE, TOGETHER } from '../../src/steps/slots/wake.ts';
import { DOWNSTREAM_CALL } from '../../src/virtual/faulty-gate.ts';
import type { Gate } from '../../src/virtual/gate.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Configurations } from './configurations.ts';

/**
 * A signal to each of the Targets that are woken together, a deleted row for each, and the requests around them. The
 * batch of each message may free a slot, and so wake Targets.
 */
const WAKING = 2 * TOGETHER + 20;
const EACH = 40;
/**
 * Requests for an item that was acked before: its ack, the note of its failure, and seven in a tree of four levels (the
 * header at each level, a node at three). Simulated nodes have three slots. Real ones have 450, so real trees have
 * fewer levels.
 */
const ITEM = 9;

/** Requests for each row of a limit's queue that is read: its message, and the weight of its batch. */
const GRANT = 2;
/** The most rows of a limit's queue, or locks of these rows, in one request: see src/steps/limits/grant.ts. */
const GRANTED_AT_ONCE = 101;

/** An invocation of a function that processes a queue. */
interface Run {
  readonly of: WorkingQueue;
  readonly messages: number;
}

export const isStep = (name: string): name is WorkingQueue => ['register', 'elect', 'group', 'batch'].includes(name);

const WORK: ReadonlySet<string> = new Set(['locks.openBatch', 'tasks.settle', DOWNSTREAM_CALL]);

/** A gate that also counts. @param judge receives a check after each request */
export const metered = (
  gate: Gate,
  run: Run,
  { configs, slotsPerPage }: { readonly configs: Configurations; readonly slotsPerPage: number },
  judge: (check: () => void) => void,
): Gate => {
  const most = mostRows(run, configs, slotsPerPage);
  let [requests, work, items, granted, atPace] = [0, run.messages, 0, 0, false];
  return async (call, effects) => {
    if (WORK.has(call)) work += 1;
    atPace ||= call === 'operations.markWaking';
    const answers = await gate(call, effects);
    // Failed requests are not counted, because a function repeats a write during an outage until its time is over.
    requests += 1;
    items += totalOf(answers, itemsIn);
    const rows = totalOf(answers, rowsIn);
    // Each woken Target needs one request and a share of two other requests.
    if (call === 'buckets.waiting') granted += rows;
    const pace = atPace ? { requests: 2 * PACE * (STINT / 1_000 + 1), rows: PACE } : { requests: 0, rows: 0 };
    judge(() => {
      const bound = WAKING * run.messages + EACH * work + ITEM * items + pace.requests + GRANT * granted;
      demand(requests <= bound, 'the number of requests of a step is bounded', { ...run, call, requests, bound });
      demand(
        rows <= Math.max(most, pace.rows, granted > 0 ? GRANTED_AT_ONCE : 0),
        'the number of rows of a request is bounded',
        {
          ...run,
          call,
          rows,
          most,
        },
      );
    });
    return answers;
  };
};

const mostRows = ({ messages }: Run, { all }: Configurations, slotsPerPage: number): number => {
  // Batches and slots may date from an earlier configuration.
  const sizes = all
    .flatMap(({ config }) => Object.values(config.operations))
    .flatMap(({ batch, merge, concurrency: { total, perTarget } }) => [
      2 * batch.maxSize,
      Math.ceil(Math.max(total ?? 0, perTarget ?? 0) / slotsPerPage) + 1,
      merge === null ? 0 : INPUTS_MAX,
    ]);
  return Math.max(messages, TOGETHER + 1, ...sizes);
};

const rowsIn = (answer: unknown): number => {
  if (Array.isArray(answer)) return answer.length;
  return typeof answer === 'object' && answer !== null && 'items' in answer ? rowsIn(answer.items) : 1;
};

/** The number of rows of tasks that are items of a fan-out. */
const itemsIn = (answer: unknown): number => {
  if (typeof answer !== 'object' || answer === null) return 0;
  if ('fanOutItem' in answer && answer.fanOutItem !== undefined) return 1;
  return totalOf(Object.values(answer), itemsIn);
};

const totalOf = (answers: readonly unknown[], of: (answer: unknown) => number): number =>
  answers.reduce<number>((sum, answer) => sum + of(answer), 0);
