/**
 * Simulates DynamoDB's time to live. Rows are deleted some time after they have expired, and not all at once. "Expired
 * items are typically deleted within a few days"; until then they are read like other rows.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
 */
import { type Batch, isFinished } from '../../src/domain/batches/batch.ts';
import { NO_LOCK } from '../../src/domain/batches/lock.ts';
import type { CallbackMessage } from '../../src/domain/callbacks/callback.ts';
import type { Millis, Target, TaskId } from '../../src/domain/ids.ts';
import type { Task } from '../../src/domain/tasks/task.ts';
import { MINUTE, SECOND } from '../../src/domain/timings.ts';
import { payloadKey, type Tables } from '../../src/memory/tables.ts';
import type { Chaos } from '../../src/virtual/chaos.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { CallLog } from './call-log.ts';
import type { Seen } from './evidence.ts';

/** A deleted row, and the time when it was deleted. */
interface Gone<Row> {
  readonly row: Row;
  readonly at: Millis;
}

/** Rows that expired and were deleted, for the judges at the end. */
export interface Expired {
  readonly tasks: Gone<Task>[];
  readonly batches: Gone<Batch>[];
  readonly locks: Gone<Target>[];
  /** The deleted tasks that were included in a call before their deletion. */
  readonly tried: Set<Task>;
  /** The tasks of the deleted payloads. */
  readonly payloads: Gone<TaskId>[];
}

export const nothingExpired = (): Expired => ({ tasks: [], tried: new Set(), batches: [], locks: [], payloads: [] });

const HOUR: Millis = 60 * MINUTE;
/** The longest times between a row's expiry and its deletion, in ms. One of them is drawn for each row. */
const LATE: readonly Millis[] = [MINUTE, HOUR, 48 * HOUR, 10 * 24 * HOUR];

/** Deletes rows that have expired. @throws Violation if a row must not be deleted */
export const deleteExpired = (tables: Tables, { tried }: CallLog, chaos: Chaos, expired: Expired): void => {
  const { now } = chaos.scheduler;
  const isOver = (key: string, expires: number): boolean => {
    if (expires * SECOND > now) return false;
    const random = chaos.chanceOf(`time to live of ${key} at ${expires}`);
    return expires * SECOND + random.int(0, random.pick(LATE)) <= now;
  };
  const over = <Key extends string>(of: string, rows: ReadonlyMap<Key, number>): readonly Key[] =>
    [...rows].filter(([key, expires]) => isOver(`${of} ${key}`, expires)).map(([key]) => key);
  const gone = (of: string, key: string): void => chaos.trace(() => `  ${of} ${key} has expired and is deleted`);
  for (const id of over('task', tables.expiries.tasks)) {
    const task = tables.tasks.get(id) as Task;
    const { status } = task.state;
    demand(status === 'succeeded' || status === 'failed', 'only an ended task is deleted by its time to live', task);
    expired.tasks.push({ row: task, at: now });
    if (tried.delete(id)) expired.tried.add(task);
    tables.tasks.delete(id);
    tables.expiries.tasks.delete(id);
    if (!task.payloadApart) tables.payloads.delete(id);
    gone('task', id);
  }
  for (const [key, { expires, run }] of [...tables.payloads]) {
    const hash = key.indexOf('#payload#');
    if (expires === undefined || hash === -1 || !isOver(`payload ${key}`, expires)) continue;
    const id = key.slice(0, hash) as TaskId;
    const task = tables.tasks.get(id);
    const isWanted =
      task && payloadKey(task) === key && task.run === run && ['created', 'batched'].includes(task.state.status);
    demand(isWanted !== true, 'the payload of an unfinished task is not deleted by its time to live', task);
    expired.payloads.push({ row: id, at: now });
    tables.payloads.delete(key);
    gone('payload', key);
  }
  for (const id of over('batch', tables.expiries.batches)) {
    const batch = tables.batches.get(id) as Batch;
    demand(isFinished(batch.status), 'only a finished batch is deleted by its time to live', batch);
    expired.batches.push({ row: batch, at: now });
    tables.batches.delete(id);
    tables.expiries.batches.delete(id);
    gone('batch', id);
  }
  for (const target of over('lock', tables.expiries.locks)) {
    const lock = tables.locks.get(target);
    const { paused, openBatch, inFlight, blocked } = lock ?? NO_LOCK;
    // Slots on pages exist without the lock row, so they need not be free.
    const isFree = (paused ?? openBatch ?? blocked) === undefined && (inFlight ?? []).length === 0;
    demand(
      isFree,
      'a lock that is paused, waits for a slot, or has batches in flight is not deleted by its time to live',
      { target, lock },
    );
    expired.locks.push({ row: target, at: now });
    tables.locks.delete(target);
    tables.expiries.locks.delete(target);
    gone('lock', target);
  }
};

/** Records about tasks and batches besides the tables, for the judges at the end. */
interface Known {
  readonly log: CallLog;
  readonly seen: Seen;
  readonly sentCallbacks: CallbackMessage[];
  readonly redriven: { readonly id: TaskId }[];
}

const endedBy = ({ state }: Task, moment: Millis): boolean => 'finishedAt' in state && state.finishedAt <= moment;

/**
 * Deletes all tasks and batches that had ended at `moment`, and all records about them. After that, the judges see only
 * the tasks that use the ids again.
 *
 * @returns the deleted tasks
 */
export const expire = (tables: Tables, known: Known, moment: Millis): ReadonlySet<TaskId> => {
  const tasks = new Map([...tables.tasks].filter(([, task]) => endedBy(task, moment)));
  for (const [id, task] of tasks) {
    tables.tasks.delete(id);
    tables.payloads.delete(id);
    tables.payloads.delete(payloadKey(task));
    known.log.tried.delete(id);
  }
  for (const [id, batch] of tables.batches)
    if (isFinished(batch.status) && (batch.finishedAt ?? 0) <= moment) tables.batches.delete(id);
  const { log, seen, sentCallbacks, redriven } = known;
  keepOnly(log.calls, ({ call }) => tables.batches.has(call.batchId));
  keepOnly(log.reports, ({ batchId }) => tables.batches.has(batchId));
  keepOnly(seen.settled, ({ id }) => !tasks.has(id));
  keepOnly(redriven, ({ id }) => !tasks.has(id));
  keepOnly(sentCallbacks, ({ event }) => !tasks.has((JSON.parse(event) as { readonly subject: TaskId }).subject));
  return new Set(tasks.keys());
};

const keepOnly = <T>(list: T[], isKept: (each: T) => boolean): void => {
  list.splice(0, list.length, ...list.filter(isKept));
};
