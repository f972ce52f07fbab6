/**
 * The published algorithm, which Groupage replaces: serverless batching by leader election over DynamoDB. It runs under
 * the same schedules, faults, queues and downstream as Groupage.
 *
 * Known facts, modelled literally:
 * - Tables: Task (`Id`, `Target`, `Status`, `BatchId`) with an index by Target and Status, BatchLock (`LockHolder`,
 *   `AcquiredAt`), Batch. A task costs about twelve write units: it goes through `created`, `batched`, `in-progress`
 *   and its result. Each of these is a write, and each but the first costs two more in the index.
 * - The register function stores the task and starts the batch leader election of its Target. The election is a
 *   conditional write on the lock, which must be free or acquired longer ago than its expiry, by the wall clock. A
 *   candidate that loses leaves the task to the present leader.
 * - The leader queries the index for waiting tasks each second, until a batch is full or the maximum wait is over. Then
 *   the leader creates a batch, writes each task into it, sends the batch to its queue, and removes the lock if it
 *   still holds it.
 * - The batch handler makes one call per delivery. The queue retries tasks without a result, up to its receive limit.
 * - No other function checks tasks: there is no sweep and no patrol. The tasks of a dead leader wait until the lock has
 *   expired and another task of their Target arrives.
 *
 * The original text is not available; these facts are from a summary of it. Open points are decided in its favour:
 * - The leader is a workflow without a time limit. A failed step is repeated until it succeeds. Its polls never fail or
 *   crash; only steps that decide something do, as many as in Groupage.
 * - A lock expires one lease (of Groupage) after the maximum wait, so that it outlives every healthy leader.
 * - An election with the same holder succeeds again, so that a client that repeats a request does not lose to itself.
 * - A task that is registered again keeps its status, and stands for election again only while it waits.
 * - The leader counts its own task as waiting before the index shows it, if a strongly consistent read shows it
 *   waiting. The leader never takes a task again that it put into a batch, although the index may still show it.
 * - After removing the lock, the leader queries the index again, and stands for election again if a task waits. Without
 *   this, even an index without lag strands the tasks that arrive between the last query and the removal, and the tasks
 *   beyond the batch's size (see `looksAgain`).
 * - Tasks go into a batch oldest first. The batch lists its members, so no second index is needed to find them.
 * - All tasks of a batch are claimed in one request of many statements, as in Groupage: one chance to crash, not many.
 * - The batch handler skips tasks with a result. At the last delivery it fails the tasks that are still open instead of
 *   leaving them.
 * - The index keeps the order of the writes of one task. Only writes of different tasks overtake each other.
 */
import type { Scenario } from '../../verification/batches/scenario.ts';
import type { Outcome } from './outcome.ts';
import type { Reading } from './published/reading.ts';
import { PublishedWorld } from './published/world.ts';

/** Runs a schedule until no event is left. The same scenario and reading give the same outcome. */
export const runPublished = (scenario: Scenario, reading: Reading): Promise<Outcome> =>
  new PublishedWorld(scenario, reading).run();
