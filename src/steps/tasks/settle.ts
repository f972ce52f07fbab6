/**
 * Settle (N1): ends tasks that are still waiting, because they expired, a newer task replaces them, or a user cancels
 * them. Each task's end is written first, then the function notifies, and the waiting row is deleted last. So if a
 * function dies in between, any function that finds the row can do the rest.
 */

import { type Waiting, waitingRow } from '../../domain/batches/policy.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import { type Millis, operationOf, parseCandidate, type Target, type TaskId } from '../../domain/ids.ts';
import { type Age, isNewer } from '../../domain/tasks/age.ts';
import { hasEnded, type Settlement, type Task } from '../../domain/tasks/task.ts';
import type { TaskDeps } from '../deps.ts';
import { reportBroken } from '../producers/judge.ts';
import { notify } from './notify.ts';

/** A waiting row, and how its task ends. */
interface Settled {
  readonly row: Waiting;
  readonly as: Settlement;
  /** The row of the newer task that replaces it. */
  readonly by?: Waiting;
}

/**
 * G2. The rows to settle: tasks that expired, and tasks with a newer task of the same `coalesceKey`, and of the same
 * sender if a rule demands it.
 */
export const settlementsOf = (rows: readonly Waiting[], now: Millis): readonly Settled[] => {
  const isExpired = ({ startBy }: Waiting): boolean => startBy !== undefined && startBy <= now;
  const expired = rows.filter(isExpired).map((row): Settled => ({ row, as: EXPIRED }));
  const keyed = rows.filter((row) => row.key !== undefined && !isExpired(row));
  const superseded = [...Map.groupBy(keyed, comparedKey).values()].flatMap((same) => {
    const newest = same.reduce((latest, row) => (isNewerRow(row, latest) ? row : latest));
    const as: Settlement = { status: 'succeeded', supersededBy: parseCandidate(newest.candidate).id };
    return same.filter((row) => row !== newest).map((row): Settled => ({ row, as, by: newest }));
  });
  return [...expired, ...superseded];
};

/** The texts of keys with and without a sender differ: a name of a sender contains no line break. */
const comparedKey = ({ key, sender, ownKey }: Waiting): string => `${ownKey ? sender : ''}\n${key}`;

/** If one task has two rows, they belong to two runs. The earlier run is over, and its row was left after a crash. */
const isNewerRow = (a: Waiting, b: Waiting): boolean => {
  const [ageA, ageB] = [ageOfRow(a), ageOfRow(b)];
  if (ageA.id === ageB.id) return parseCandidate(a.candidate).run > parseCandidate(b.candidate).run;
  return isNewer(ageA, ageB);
};

const ageOfRow = ({ age, candidate, at }: Waiting): Age => age ?? { id: parseCandidate(candidate).id, sentAt: at };

const EXPIRED: Settlement = {
  status: 'failed',
  error: { code: 'expired', message: 'no batch claimed the task within expiresIn', retriable: true },
};

/**
 * Settles waiting tasks of a Target. Repeated or concurrent calls are harmless.
 * @returns the tasks as they are stored afterwards.
 */
export const settle = async (
  deps: TaskDeps,
  target: Target,
  settled: readonly Settled[],
): Promise<readonly (Task | undefined)[]> => {
  const { config, tasks, waiting, machine, report } = deps;
  const operation = operationOf(target);
  const { keepTasks: keep } = operationFor(config, operation);
  const written = await tasks.settle(
    settled.map(({ row, as }) => ({ task: { ...parseCandidate(row.candidate), target }, as })),
    { at: machine.now(), keep },
  );
  const stored = written.map((each) => each?.stored);
  await notifySettled(deps, stored);
  await waiting.remove(
    target,
    settled.map(({ row }) => row.entry),
  );
  const mine = settled.filter((_, index) => written[index]?.isNew);
  for (const [how, { length }] of Map.groupBy(mine, ({ as }) =>
    as.status === 'failed' ? as.error.code : 'superseded',
  ))
    report({ event: 'settled', operation, target, how, tasks: length });
  reportBroken(
    report,
    mine.flatMap(({ row, by }) =>
      by?.sender === undefined || row.sender === by.sender
        ? []
        : [{ rule: 'coalesce' as const, operation, sender: { id: by.sender, via: 'queue' as const } }],
    ),
  );
  return stored;
};

/**
 * R1, F5. Settles tasks again that ended while they waited, because the function that ended them may have died before
 * it notified or deleted their rows.
 */
export const settleAgain = async (deps: TaskDeps, tasks: readonly Task[]): Promise<void> => {
  for (const [target, same] of Map.groupBy(tasks.filter(endedWaiting), (task) => task.target))
    await settle(
      deps,
      target,
      same.flatMap((task) => settledAs(task) ?? []),
    );
};

const settledAs = (task: Task): Settled | undefined => {
  const { state } = task;
  const row = waitingRow(task);
  if (state.status === 'failed') return { row, as: { status: state.status, error: state.error } };
  return state.status === 'succeeded' && state.supersededBy !== undefined
    ? { row, as: { status: state.status, supersededBy: state.supersededBy } }
    : undefined;
};

/** Whether a task ended while it waited, before it was claimed into a batch. */
export const endedWaiting = ({ state }: Task): boolean => hasEnded(state) && state.batchId === undefined;

/**
 * Notifies for all these tasks, including those that another function settled, because that function may have died
 * before it notified.
 */
const notifySettled = (deps: TaskDeps, tasks: readonly (Task | undefined)[]): Promise<void> =>
  notify(deps, tasks.filter((task) => task !== undefined && endedWaiting(task)) as readonly Task[]);

/** The result of a request to cancel a task. */
export interface Cancelled {
  readonly task: Task;
  /** `registering`: the task has no waiting row yet, so its payload may not be stored. Retry in a moment (N2). */
  readonly is: 'cancelled' | 'under-way' | 'registering';
}

const CANCELLED: Settlement = {
  status: 'failed',
  error: { code: 'cancelled', message: 'cancelled by a user before a batch claimed the task', retriable: true },
};

/** Cancels a waiting task. @returns undefined if there is no such task. @throws UnknownOperation */
export const cancel = async (deps: TaskDeps, id: TaskId): Promise<Cancelled | undefined> => {
  const task = await deps.tasks.get(id);
  if (!task) return undefined;
  operationFor(deps.config, task.operation);
  // A cancelled task is settled again: the function that cancelled it may have died before it notified or deleted the
  // row.
  if (task.state.status !== 'created' && !endedWaiting(task)) return { task, is: 'under-way' };
  const row = waitingRow(task);
  if (task.state.status === 'created' && !(await deps.waiting.has(task.target, row.entry)))
    return { task, is: 'registering' };
  const [stored = task] = await settle(deps, task.target, [{ row, as: CANCELLED }]);
  return { task: stored, is: isCancelled(stored) ? 'cancelled' : 'under-way' };
};

const isCancelled = ({ state }: Task): boolean => state.status === 'failed' && state.error.code === 'cancelled';
