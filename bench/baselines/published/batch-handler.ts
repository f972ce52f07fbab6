/** The batch handler λ: one call a delivery, a result for each task, and the queue's redelivery as the only retry. */
import { type BatchId, operationOf } from '../../../src/batching/ids.ts';
import { MAX_RECEIVES } from '../../../src/batching/timings.ts';
import type { Downstream } from '../../../src/downstream/downstream.ts';
import { failAll, type Verdict, verdictOf } from '../../../src/downstream/verdict.ts';
import { type Gate, through } from '../../../src/simulation/gate.ts';
import type { BatchRow, Store, TaskRow } from './store.ts';

interface HandlerDeps {
  readonly store: Store;
  readonly gate: Gate;
  readonly downstream: Downstream;
}

/** @returns whether the message is done. */
export const handlePublishedBatch = async (deps: HandlerDeps, id: BatchId, delivery: number): Promise<boolean> => {
  const { store, gate } = deps;
  const batch = await through(gate, 'batches.get', () => store.batch(id));
  if (!batch) throw new TypeError(`batch ${id} was sent before it was stored: the model is wrong`);
  const open = await openTasks(deps, batch);
  if (open.length === 0) return true;
  const idle = open.filter(({ status }) => status !== 'in-progress');
  await each(gate, 'tasks.start', idle, (task) => store.start(task.id, id));
  const call = { batchId: id, operation: operationOf(batch.target), target: batch.target, attempt: delivery };
  const verdict = verdictOf(await deps.downstream.call({ ...call, items: open }), open);
  const isLast = delivery >= MAX_RECEIVES;
  const results = [...verdict.results, ...(isLast ? givenUp(verdict) : [])];
  await each(gate, 'tasks.finish', results, ({ id: task, outcome }) => store.finish(task, id, outcome.status));
  return isLast || verdict.open.length === 0;
};

const openTasks = async ({ store, gate }: HandlerDeps, { id, members }: BatchRow): Promise<TaskRow[]> => {
  const tasks = await each(gate, 'tasks.get', members, (member) => store.task(member));
  return tasks.flatMap((task) => (task && store.isOpen(task, id) ? [task] : []));
};

/** What is still open after the last delivery: the message must not become a dead letter for its sake. */
const givenUp = ({ open, reason }: Verdict<TaskRow>): ReturnType<typeof failAll> =>
  failAll(open, { code: 'attempts-exhausted', message: reason, retriable: true });

/** One request with a statement for each; none for nothing. */
const each = async <T, Answer>(
  gate: Gate,
  call: string,
  all: readonly T[],
  effect: (one: T) => Answer,
): Promise<Answer[]> =>
  all.length === 0
    ? []
    : gate(
        call,
        all.map((one) => () => effect(one)),
      );
