/** Tasks in memory. */
import { type BatchId, type Millis, parseCandidate, type TaskId } from '../batching/ids.ts';
import {
  isRedriveOf,
  isSettledIn,
  type NewTask,
  type Outcome,
  type PayloadToStore,
  type Settlement,
  type Task,
  type TaskResult,
} from '../batching/task.ts';
import type { FailedTask, FinishingBatch, TaskOutline, Tasks, Written } from '../ports.ts';
import { type Gate, through } from './gate.ts';
import { belongs, hasLeft, loadMembers, membersOf, payloadOf } from './memory-members.ts';
import { behind, type Lag, upToDate } from './remembered.ts';
import { newestFirst, pageOf, payloadKey, putPayload, putTask, type Tables } from './tables.ts';

export const memoryTasks = (tables: Tables, gate: Gate, lag: Lag = upToDate): Tasks => ({
  insert: (tasks) =>
    gate(
      'tasks.insert',
      tasks.map((task) => () => insertOne(tables, task)),
    ),
  storePayloads: async (payloads) => {
    await gate(
      'tasks.storePayloads',
      payloads.map((each) => () => storePayload(tables, each)),
    );
  },
  claim: (candidates, batch) =>
    gate(
      'tasks.claim',
      candidates.map((candidate) => () => {
        tables.claims += 1;
        return claimOne(tables, parseCandidate(candidate), batch);
      }),
    ),
  redrive: async (failed, at) => {
    await gate(
      'tasks.keepPayloads',
      failed.filter(({ payloadApart }) => payloadApart).map((task) => () => keepPayload(tables, task)),
    );
    return gate(
      'tasks.redrive',
      failed.map((task) => () => redriveOne(tables, task, at)),
    );
  },
  members: (ids, batch) => through(gate, 'tasks.members', () => membersOf(loadMembers(tables, ids), batch)),
  glance: (ids, batch) => through(gate, 'tasks.glance', () => membersOf(loadMembers(tables, ids, lag), batch).open),
  finish: async (results, batch) => {
    const ended = await gate(
      'tasks.finish',
      results.map((result) => () => finishOne(tables, result, batch)),
    );
    const mine = results.filter((_, index) => ended[index]?.isMember);
    await gate(
      'tasks.expirePayloads',
      mine.flatMap(({ id, payloadRow }) => (payloadRow ? [() => expirePayload(tables, { id, ...payloadRow })] : [])),
    );
    return ended.map((each) => each?.status);
  },
  get: (id) => through(gate, 'tasks.get', () => tables.tasks.get(id)),
  all: (ids) => through(gate, 'tasks.all', () => ids.flatMap((id) => tables.tasks.get(id) ?? [])),
  settle: async (settlements, { at }) => {
    const settled = await gate(
      'tasks.settle',
      settlements.map(
        ({ task, as }) =>
          () =>
            settleOne(tables, task, as, at),
      ),
    );
    const mine = settled.flatMap((each, index) =>
      each && isSettledIn(settlements[index]?.task.run, each.stored) && each.stored.payloadApart ? [each.stored] : [],
    );
    await gate(
      'tasks.expirePayloads',
      mine.map((task) => () => expirePayload(tables, task)),
    );
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
      const finishedAt = ({ state }: Task): number => ('finishedAt' in state ? state.finishedAt : 0);
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

const failuresIn = (tables: Tables, lag: Millis): FailedTask[] =>
  [...behind(tables.tasks, lag).values()].flatMap(({ id, operation, target, state }) =>
    state.status === 'failed' ? [{ id, operation, target, error: state.error }] : [],
  );

const storePayload = (tables: Tables, payload: PayloadToStore): void => {
  const { payload: text, createdAt, run } = payload;
  const there = tables.payloads.get(payloadKey(payload));
  if (!there || there.createdAt < createdAt) putPayload(tables, payload, { text, createdAt, run });
};

/** What the row of a payload shows is what the last run wants that there was when it was written. */
const keepPayload = (tables: Tables, task: Task): void => {
  const payload = tables.payloads.get(payloadKey(task));
  if (!payload || payload.run > task.run) return;
  const { expires: _, ...kept } = payload;
  putPayload(tables, task, { ...kept, run: task.run + 1 });
};

const expirePayload = (tables: Tables, row: Pick<Task, 'id' | 'payloadHash' | 'run'>): void => {
  const payload = tables.payloads.get(payloadKey(row));
  if (payload && payload.run <= row.run) putPayload(tables, row, { ...payload, expires: true });
};

const outlineOf = ({ id, run, operation, state }: Task): TaskOutline => ({
  id,
  run,
  operation,
  status: state.status,
  ...('batchId' in state ? { batchId: state.batchId } : {}),
});

const insertOne = (tables: Tables, task: NewTask): Written => {
  const stored = tables.tasks.get(task.id);
  if (stored) return { isNew: false, stored };
  const { payload, ...fields } = task;
  const inserted: Task = { ...fields, run: 1, payloadApart: tables.isApart(task), state: { status: 'created' } };
  if (!inserted.payloadApart) tables.payloads.set(task.id, { text: payload, createdAt: task.createdAt, run: 1 });
  putTask(tables, inserted);
  return { isNew: true, stored: inserted };
};

const redriveOne = (tables: Tables, { id, run }: Task, at: Millis): Written | undefined => {
  const task = tables.tasks.get(id);
  if (!task) return undefined;
  const isNew = task.state.status === 'failed' && task.run === run;
  if (!isNew) return { isNew: isRedriveOf(run, at, task), stored: task };
  // When it had to start was a matter of its first run.
  const { startBy: _, ...kept } = task;
  const stored: Task = { ...kept, run: run + 1, redrivenAt: at, state: { status: 'created' } };
  putTask(tables, stored);
  return { isNew, stored };
};

const settleOne = (
  tables: Tables,
  { id, run }: Pick<Task, 'id' | 'run'>,
  as: Settlement,
  finishedAt: Millis,
): Written | undefined => {
  const task = tables.tasks.get(id);
  if (!task) return undefined;
  if (task.state.status !== 'created' || task.run !== run) return { isNew: false, stored: task };
  const stored: Task = { ...task, state: { ...as, attempts: 0, finishedAt } };
  putTask(tables, stored);
  return { isNew: true, stored };
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
  { id, outcome }: TaskResult,
  batch: FinishingBatch,
): { readonly status: Outcome['status']; readonly isMember: boolean } | undefined => {
  const task = tables.tasks.get(id);
  if (task && hasLeft(task, batch.id)) return { status: 'failed', isMember: false };
  if (!task || !belongs(task, batch.id)) return undefined;
  if (task.state.status === 'batched')
    putTask(tables, {
      ...task,
      state: { ...outcome, batchId: batch.id, attempts: batch.attempts, finishedAt: batch.at },
    });
  const { status } = (tables.tasks.get(id) as Task).state;
  return status === 'succeeded' || status === 'failed' ? { status, isMember: true } : undefined;
};
