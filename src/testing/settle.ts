/** Lists what has not ended in a testbed, and what it waits for. */
import type { ApiDeps } from '../api/shared/deps.ts';
import { waitsFor } from '../api/tasks/waits-for.ts';
import { isPending } from '../domain/batches/batch.ts';
import { inFull } from '../domain/downstream/downstream.ts';
import type { Task } from '../domain/tasks/task.ts';
import type { Unsettled } from './failures.ts';
import type { Flow } from './flow.ts';

/** Number of ids that an error message shows. */
const FIRST = 3;

/**
 * Whether nothing continues without input from the test: every task that has not ended waits for the report of a job,
 * or for the end of a pause that a user started.
 */
export const waitsForInput = (flow: Flow, now: number): boolean => {
  const { tables, queues, unfinished } = flow;
  if (unfinished.size === 0 || !queues.register.isEmpty || !queues.callback.isEmpty) return false;
  const isPaused = ({ operation, target }: Task): boolean =>
    tables.operations.get(operation)?.paused?.by === 'person' || tables.locks.get(target)?.paused?.by === 'person';
  const waits = (task: Task): boolean => {
    if (task.state.status !== 'batched') return isPaused(task);
    const batch = tables.batches.get(task.state.batchId);
    if (!batch || batch.status === 'forming' || batch.startedBy !== undefined) return false;
    const hasJob = isPending(batch) && batch.pending?.ids.includes(task.id) === true && batch.pending.until >= now;
    return hasJob || isPaused(task);
  };
  return [...unfinished].every((id) => waits(tables.tasks.get(id) as Task));
};

/**
 * Everything that has not ended, by Target and by queue.
 * @param deps are used to read the stored state
 */
export const unsettledIn = async (flow: Flow, deps: ApiDeps): Promise<readonly Unsettled[]> => {
  const unfinished = [...flow.unfinished].map((id) => flow.tables.tasks.get(id) as Task);
  unfinished.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  const groups = Map.groupBy(unfinished, ({ target, state }) => `${target} ${state.status}`);
  const tasks = await Promise.all([...groups.values()].map((same) => ofTasks(flow, deps, same)));
  // If tasks have not ended, omit messages that are not dead letters, because these messages are about the same tasks.
  return [
    ...tasks,
    ...ofQueues(flow)
      .filter(({ isDead }) => isDead || tasks.length === 0)
      .map(({ of }) => of),
  ];
};

const ofTasks = async (flow: Flow, deps: ApiDeps, tasks: readonly Task[]): Promise<Unsettled> => {
  const [first] = tasks as readonly [Task];
  const batch = first.state.status === 'batched' ? flow.tables.batches.get(first.state.batchId) : undefined;
  const why = await waitsFor(deps, first, batch);
  const last = batch?.lastAttempt ? ` (its last attempt: ${inFull(batch.lastAttempt)})` : '';
  return {
    of: first.target,
    count: tasks.length,
    first: tasks.slice(0, FIRST).map(({ id }) => id),
    waitsFor: `${why?.text ?? `the next attempt at batch ${batch?.id}`}${last}${wayOut(why?.reason)}`,
  };
};

/** Says what a test can do about a task that waits for this reason. */
const wayOut = (reason: string | undefined): string => {
  if (reason === 'job') return ': call complete() for its batch, or advance() past that time';
  if (reason === 'operation-paused' || reason === 'target-paused') return ': call resume()';
  return '';
};

const ofQueues = ({ queues }: Flow): readonly { readonly isDead: boolean; readonly of: Unsettled }[] =>
  Object.entries(queues).flatMap(([name, { messages, deadLetters }]) => {
    if (messages.size === 0) return [];
    const isDead = deadLetters.size > 0;
    const first = [...(isDead ? deadLetters : messages)].slice(0, FIRST).map(({ id }) => id);
    const waitsFor = isDead ? 'the sweep, which sends dead letters again' : 'their delay, or their visibility timeout';
    return [{ isDead, of: { of: `the ${name} queue`, count: messages.size, first, waitsFor } }];
  });
