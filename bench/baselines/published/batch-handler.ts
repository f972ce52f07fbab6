/**
 * The batch handler. It makes one call per delivery and stores a result for each task. The only retry is redelivery by
 * the queue.
 */

import type { Downstream } from '../../../src/domain/downstream/downstream.ts';
import { failAll, type Verdict, verdictOf } from '../../../src/domain/downstream/verdict.ts';
import { type BatchId, operationOf } from '../../../src/domain/ids.ts';
import { MAX_RECEIVES } from '../../../src/domain/timings.ts';
import type { BatchRow, Tables, TaskRow } from './tables.ts';

interface HandlerDeps {
  readonly tables: Tables;
  readonly downstream: Downstream;
}

/** @returns whether the message is done and can be deleted */
export const handlePublishedBatch = async (
  { tables, downstream }: HandlerDeps,
  id: BatchId,
  delivery: number,
): Promise<boolean> => {
  const batch = await tables.batch(id);
  if (!batch) throw new TypeError(`batch ${id} was sent before it was stored: the model is wrong`);
  const open = await openTasks(tables, batch);
  if (open.length === 0) return true;
  const idle = open.filter(({ status }) => status !== 'in-progress').map((task) => task.id);
  await tables.start(idle, id);
  const call = { batchId: id, operation: operationOf(batch.target), target: batch.target, attempt: delivery };
  const verdict = verdictOf(await downstream.call({ ...call, items: open }), open);
  const isLast = delivery >= MAX_RECEIVES;
  await tables.finish([...verdict.results, ...(isLast ? givenUp(verdict) : [])], id);
  return isLast || verdict.open.length === 0;
};

const openTasks = async (tables: Tables, { id, members }: BatchRow): Promise<TaskRow[]> => {
  const tasks = await tables.read(members);
  return tasks.flatMap((task) => (task && tables.isOpen(task, id) ? [task] : []));
};

/** Fails the tasks that are still open after the last delivery. The message would otherwise become a dead letter. */
const givenUp = ({ open, reason }: Verdict<TaskRow>): ReturnType<typeof failAll> =>
  failAll(open, { code: 'attempts-exhausted', message: reason, retriable: true });
