/** Tasks in memory. */
import { belongs, hasLeft, type Loaded, membersAmong } from '../domain/batches/members.ts';
import { expiresAt } from '../domain/expiry.ts';
import { type BatchId, type Millis, parseCandidate, type TaskId } from '../domain/ids.ts';
import {
  batchIdIn,
  hasEnded,
  isRedriveOf,
  isSettledIn,
  type NewTask,
  type Outcome,
  type PayloadToStore,
  type Settlement,
  type Task,
  type TaskResult,
} from '../domain/tasks/task.ts';
import {
  type FailedTask,
  type FinishingBatch,
  type TaskOutline,
  type Tasks,
  Unstorable,
  type Written,
} from '../ports/tasks.ts';
import { type Gate, rowByRow, through } from '../virtual/gate.ts';
import { DYNAMODB, keyProblem, rowProblem } from './limits.ts';
import { behind, type Lag, rowBehind, upToDate } from './remembered.ts';
import { newestFirst, pageOf, payloadKey, payloadOf, putPayload, putTask, type Tables } from './tables.ts';

export const memoryTasks = (tables: Tables, gate: Gate, lag: Lag = upToDate): Tasks => ({
  insert: (tasks) =>
    insertStorable(tasks, (storable) =>
      rowByRow(gate, 'tasks.insert', storable, idOf, (task) => insertOne(tables, task)),
    ),
  storePayloads: async (payloads) => {
    await rowByRow(gate, 'tasks.storePayloads', payloads, payloadKey, (each) => storePayload(tables, each));
  },
  claim: (candidates, batch) =>
    rowByRow(gate, 'tasks.claim', candidates.map(parseCandidate), idOf, (candidate) => {
      tables.claims += 1;
      return claimOne(tables, candidate, batch);
    }),
  redrive: async (failed, at) => {
    const apart = failed.filter(({ payloadApart }) => payloadApart);
    await rowByRow(gate, 'tasks.keepPayloads', apart, payloadKey, (task) => keepPayload(tables, task));
    return rowByRow(gate, 'tasks.redrive', failed, idOf, (task) => redriveOne(tables, task, at));
  },
  members: (ids, batch) => through(gate, 'tasks.members', () => membersAmong(load(tables, ids), batch)),
  readEventually: (ids, batch) =>
    through(gate, 'tasks.readEventually', () => membersAmong(load(tables, ids, lag), batch).open),
  finish: async (results, batch) => {
    const ended = await rowByRow(gate, 'tasks.finish', results, idOf, (result) => finishOne(tables, result, batch));
    const mine = results.filter((_, index) => ended[index]?.isMember);
    const apart = mine.flatMap(({ id, payloadRow }) => (payloadRow ? [{ id, ...payloadRow }] : []));
    const expires = expiresAt(batch.at, batch.keep);
    await rowByRow(gate, 'tasks.expirePayloads', apart, payloadKey, (row) => expirePayload(tables, row, expires));
    return ended.map((each) => each?.status);
  },
  touch: () => through(gate, 'tasks.touch', () => undefined),
  get: (id) => through(gate, 'tasks.get', () => tables.tasks.get(id)),
  all: (ids) => through(gate, 'tasks.all', () => ids.flatMap((id) => tables.tasks.get(id) ?? [])),
  settle: async (settlements, { at, keep }) => {
    const expires = expiresAt(at, keep);
    const written = await rowByRow(
      gate,
      'tasks.settle',
      settlements,
      ({ task }) => task.id,
      ({ task, as }) => settleOne(tables, task, as, { at, expires }),
    );
    // Read the stored tasks after all of these writes.
    const settled = settlements.map(({ task: { id } }, index): Written | undefined => {
      const stored = tables.tasks.get(id);
      return stored && { isNew: written[index] === true, stored };
    });
    const mine = settled.flatMap((each, index) =>
      each && isSettledIn(settlements[index]?.task.run, each.stored) && each.stored.payloadApart ? [each.stored] : [],
    );
    await rowByRow(gate, 'tasks.expirePayloads', mine, payloadKey, (task) => expirePayload(tables, task, expires));
    return settled;
  },
  outlines: (ids) =>
    through(gate, 'tasks.outlines', () =>
      ids.map((id) => {
        const task = tables.tasks.get(id);
        return task && outlineOf(task);
      }),
    ),
  payload: (id) =>
    through(gate, 'tasks.payload', () => {
      const task = tables.tasks.get(id);
      return task && payloadOf(tables, task);
    }),
  failed: (target, limit, cursor) =>
    through(gate, 'tasks.failed', () => {
      const failed = [...behind(tables.tasks, lag()).values()].filter(
        (task) => task.target === target && task.state.status === 'failed',
      );
      const finishedAt = ({ state }: Task): number => (hasEnded(state) ? state.finishedAt : 0);
      const page = pageOf(newestFirst(failed, finishedAt), limit, cursor);
      return { ...page, items: page.items.map(({ id }) => id) };
    }),
  failedAnywhere: (limit, cursor) =>
    through(gate, 'tasks.failedAnywhere', () => {
      const page = pageOf(failuresIn(tables, lag()), limit, cursor);
      return { ...page, items: page.items.map(({ id }) => id) };
    }),
  failures: (operation, limit, cursor) =>
    through(gate, 'tasks.failures', () => {
      const page = pageOf(failuresIn(tables, lag()), limit, cursor);
      const items = page.items.filter((each) => operation === undefined || each.operation === operation);
      return { ...page, items, looked: page.items.length };
    }),
});

const idOf = ({ id }: { readonly id: TaskId }): TaskId => id;

/** The stored tasks among `ids`, in the given order. Each row has a lag of its own. */
const load = (tables: Tables, ids: readonly TaskId[], lag: Lag = upToDate): Loaded[] =>
  ids.flatMap((id): Loaded[] => {
    const task = rowBehind(tables.tasks, id, lag());
    if (!task) return [];
    // A payload in the task's own row is as old as that row.
    const payload = task.payloadApart
      ? rowBehind(tables.payloads, payloadKey(task), lag())?.text
      : payloadOf(tables, task);
    return [payload === undefined ? { task } : { task, payload }];
  });

/** As in the adapter, one task that cannot be stored does not prevent the storing of other tasks. */
const insertStorable = async (
  tasks: readonly NewTask[],
  insert: (storable: readonly NewTask[]) => Promise<Written[]>,
): Promise<Written[]> => {
  const reasons = new Map<TaskId, string>();
  for (const task of tasks) {
    const problem = keyProblem(task.id, DYNAMODB.partitionKey) ?? rowProblem(task);
    if (problem !== undefined) reasons.set(task.id, problem);
  }
  const written = await insert(tasks.filter(({ id }) => !reasons.has(id)));
  if (reasons.size > 0) throw new Unstorable(reasons);
  return written;
};

const failuresIn = (tables: Tables, lag: Millis): FailedTask[] =>
  [...behind(tables.tasks, lag).values()].flatMap(({ id, operation, target, state }) =>
    state.status === 'failed' ? [{ id, operation, target, error: state.error }] : [],
  );

const storePayload = (tables: Tables, payload: PayloadToStore): void => {
  const { payload: text, createdAt, run } = payload;
  const there = tables.payloads.get(payloadKey(payload));
  if (!there || there.createdAt < createdAt) putPayload(tables, payload, { text, createdAt, run });
};

/** Keeps the payload for the task's next run. A payload row has the number of the last run that needs it. */
const keepPayload = (tables: Tables, task: Task): void => {
  const payload = tables.payloads.get(payloadKey(task));
  if (!payload || payload.run > task.run) return;
  const { expires: _, ...kept } = payload;
  putPayload(tables, task, { ...kept, run: task.run + 1 });
};

const expirePayload = (tables: Tables, row: Pick<Task, 'id' | 'payloadHash' | 'run'>, expires: number): void => {
  const payload = tables.payloads.get(payloadKey(row));
  if (payload && payload.run <= row.run) putPayload(tables, row, { ...payload, expires });
};

const outlineOf = ({ id, run, operation, state }: Task): TaskOutline => {
  const batchId = batchIdIn(state);
  return { id, run, operation, status: state.status, ...(batchId === undefined ? {} : { batchId }) };
};

const insertOne = (tables: Tables, task: NewTask): Written => {
  const stored = tables.tasks.get(task.id);
  if (stored) return { isNew: false, stored };
  const { payload, ...fields } = task;
  const inserted: Task = { ...fields, payloadApart: tables.isApart(task), state: { status: 'created' } };
  if (!inserted.payloadApart) tables.payloads.set(task.id, { text: payload, createdAt: task.createdAt, run: task.run });
  putTask(tables, inserted);
  return { isNew: true, stored: inserted };
};

const redriveOne = (tables: Tables, { id, run }: Task, at: Millis): Written | undefined => {
  const task = tables.tasks.get(id);
  if (!task) return undefined;
  const isNew = task.state.status === 'failed' && task.run === run;
  if (!isNew) return { isNew: isRedriveOf(run, at, task), stored: task };
  // Omit `startBy`, because this limit applies only to the first run.
  const { startBy: _, ...kept } = task;
  const stored: Task = { ...kept, run: run + 1, redrivenAt: at, state: { status: 'created' } };
  tables.expiries.tasks.delete(id);
  putTask(tables, stored);
  return { isNew, stored };
};

const settleOne = (
  tables: Tables,
  { id, run }: Pick<Task, 'id' | 'run'>,
  as: Settlement,
  { at: finishedAt, expires }: { readonly at: Millis; readonly expires: number },
): boolean => {
  const task = tables.tasks.get(id);
  if (task?.state.status !== 'created' || task.run !== run) return false;
  tables.expiries.tasks.set(id, expires);
  putTask(tables, { ...task, state: { ...as, attempts: 0, finishedAt } });
  return true;
};

const claimOne = (tables: Tables, { id, run }: { id: TaskId; run: number }, batchId: BatchId): boolean => {
  const task = tables.tasks.get(id);
  if (!task) return false;
  if (task.state.status !== 'created' || task.run !== run) return belongs(task, batchId) && task.run === run;
  putTask(tables, { ...task, state: { status: 'batched', batchId } });
  return true;
};

const finishOne = (
  tables: Tables,
  { id, outcome, suspect }: TaskResult,
  batch: FinishingBatch,
): { readonly status: Outcome['status']; readonly isMember: boolean } | undefined => {
  const task = tables.tasks.get(id);
  if (task && hasLeft(task, batch.id)) return { status: 'failed', isMember: false };
  if (!task || !belongs(task, batch.id)) return undefined;
  if (task.state.status === 'batched') {
    tables.expiries.tasks.set(id, expiresAt(batch.at, batch.keep));
    putTask(tables, {
      ...task,
      ...(suspect ? { suspect } : {}),
      state: { ...outcome, batchId: batch.id, attempts: batch.attempts, finishedAt: batch.at },
    });
  }
  const { status } = (tables.tasks.get(id) as Task).state;
  return status === 'succeeded' || status === 'failed' ? { status, isMember: true } : undefined;
};
