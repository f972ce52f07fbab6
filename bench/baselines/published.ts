/**
 * The published algorithm that Groupage stands in for: serverless batching by leader election over DynamoDB, run under
 * the same schedules, faults, queues and downstream as ours.
 *
 * Known of it, and modelled literally:
 * - Tables: Task (`Id`, `Target`, `Status`, `BatchId`) with an index by Target and Status, BatchLock (`LockHolder`,
 *   `AcquiredAt`), Batch. About twelve write units a task: it moves through `created`, `batched`, `in-progress` and its
 *   result, each a write and, but for the first, two more in the index.
 * - Register stores the task and starts the batch leader election of its Target, a conditional write on the lock: free,
 *   or acquired longer ago than its expiry, by the wall clock. Who loses leaves it to the present leader.
 * - The leader asks the index for waiting tasks each second, until a batch is full or the maximum wait is over; creates a
 *   batch, writes each task into it, sends the batch to its queue, removes the lock if it still is its own.
 * - The batch handler calls downstream once per delivery; what has no result yet is retried by the queue, up to its
 *   receive limit.
 * - Nothing else sees to a task: no sweep, no patrol. A dead leader's tasks wait until the lock has expired and another
 *   task of their Target comes.
 *
 * Its text is not at hand: the above is from a summary of it. What that leaves open is read in its favour:
 * - The leader is a workflow without a time limit. A step of it that fails is repeated until it succeeds, and its polls
 *   never fail or crash: only steps that decide something do, as many as ours.
 * - A lock expires one lease (ours) after the maximum wait, so that it outlives every healthy leader.
 * - Electing again with the same holder succeeds, so that a client which repeats a request does not lose to itself.
 * - A task that is registered again keeps its status, and is put to the election again only while it waits.
 * - The leader counts its own task among the waiting ones before the index shows it, if a consistent read shows it
 *   waiting; and it never takes again what it put into a batch, though the index may show it for a while.
 * - Having removed the lock the leader looks at the index once more, and stands for election again if a task waits.
 *   Without this even an index without lag strands what came between its last look and the removal, and what was
 *   beyond the batch's size: see `looksAgain`.
 * - Tasks go into a batch oldest first; the batch names its members, so that no second index is needed to find them.
 * - All tasks of a batch are claimed in one request of many statements, as ours are: one chance to crash, not many.
 * - A handler skips what has a result, and fails what is still open at the last delivery instead of leaving it.
 * - The index keeps the order of the writes of one task; only those of different tasks overtake each other.
 */
import type { Scenario } from '../../verification/batches/scenario.ts';
import type { Outcome } from './outcome.ts';
import type { Reading } from './published/reading.ts';
import { PublishedWorld } from './published/world.ts';

/** Runs a schedule until nothing is left to happen. The same scenario and reading give the same outcome. */
export const runPublished = (scenario: Scenario, reading: Reading): Promise<Outcome> =>
  new PublishedWorld(scenario, reading).run();
