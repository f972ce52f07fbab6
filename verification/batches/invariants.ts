/**
 * Invariants that must hold after every write to the tables, e.g. that a fence never decreases. A watcher checks them,
 * and the first broken invariant ends the schedule. So a bug is found at the write that causes it, and not only by its
 * effect at the end.
 */
import { type Batch, isFinished, membersOf } from '../../src/domain/batches/batch.ts';
import type { Lock } from '../../src/domain/batches/lock.ts';
import { type GroupMessage, parseGroup } from '../../src/domain/batches/messages.ts';
import type { Waiting } from '../../src/domain/batches/policy.ts';
import { candidateOf, type Millis, parseCandidate, type Target, type TaskId } from '../../src/domain/ids.ts';
import type { Task } from '../../src/domain/tasks/task.ts';
import type { QueuedMessage, SimulatedQueue } from '../../src/memory/queue.ts';
import { payloadKey, type Tables, type Watcher } from '../../src/memory/tables.ts';
import { endedWaiting } from '../../src/steps/tasks/settle.ts';
import { demand, Violation } from '../../src/virtual/violation.ts';
import type { CallLog } from './call-log.ts';
import { watchCaps } from './caps.ts';
import type { Configurations } from './configurations.ts';
import type { Seen } from './evidence.ts';
import { watchSlots } from './slots.ts';

/** What the watcher needs besides the writes. */
interface Watched {
  readonly tables: Tables;
  readonly configs: Configurations;
  readonly groupQueue: SimulatedQueue;
  readonly now: () => Millis;
  readonly log: CallLog;
  readonly seen: Seen;
  readonly slotsPerPage: number;
}

/** Watches all writes to the tables, and the deletion of guards. */
export const watch = (
  { tables, configs, groupQueue, now, log, seen, slotsPerPage }: Watched,
  onViolation: (violation: Violation) => void,
): void => {
  const checked =
    <Args extends unknown[]>(check: (...args: Args) => void) =>
    (...args: Args): void => {
      try {
        check(...args);
      } catch (cause) {
        if (!(cause instanceof Violation)) throw cause;
        onViolation(cause);
      }
    };
  const parsed = new WeakMap<QueuedMessage, GroupMessage>();
  const parse = (message: QueuedMessage): GroupMessage => {
    const known = parsed.get(message) ?? parseGroup(message.body);
    parsed.set(message, known);
    return known;
  };
  const sent = new Map<Target, Set<QueuedMessage>>();
  groupQueue.onSend = (message) => {
    const { target } = parse(message);
    sent.set(target, (sent.get(target) ?? new Set()).add(message));
  };
  /** The guards of a Target that are in flight. */
  const guards = (target: Target): GroupMessage[] => {
    const messages = sent.get(target) ?? new Set();
    for (const message of messages) if (message.deleted) messages.delete(message);
    return [...messages].map(parse).filter(({ hint }) => !hint);
  };
  const caps = watchCaps(configs, now, seen.opened);
  const slots = watchSlots(tables, configs, now, log.calls, seen.idle, slotsPerPage);
  const watcher: Watcher = {
    task: checked((before, after) => {
      checkTask(tables, before, after);
      checkPayload(tables, after.id);
      if (endedWaiting(after) && before?.state !== after.state) seen.settled.push(after);
    }),
    payload: checked((id) => checkPayload(tables, id)),
    batch: checked((before, after) => {
      checkBatch(before, after);
      checkKeys(tables, before, after);
      caps.batch(before, after);
    }),
    lock: checked((target, before, after) => {
      checkLock(tables, target, before, after);
      caps.lock(target, before, after);
      slots.lock(target, before, after);
      if (after.holder === undefined || groupQueue.wasPurged) return;
      const guarded = guards(target).some((guard) => guard.fence === after.fence && guard.token === after.holder);
      demand(guarded, 'a held fence has a guard message in flight', { target, ...after });
    }),
    rowDeleted: checked((target, row) => checkRowDeleted(tables, target, row)),
    operation: checked(slots.operation),
    slotPage: checked(slots.slotPage),
    waitingTarget: checked(slots.waitingTarget),
  };
  tables.watcher = watcher;
  groupQueue.onDelete = checked((message) => {
    const { target, fence, token, hint } = parse(message);
    const lock = tables.locks.get(target);
    const same = guards(target).filter((guard) => guard.fence === fence && guard.token === token);
    seen.guards.most = Math.max(seen.guards.most, same.length);
    const isLastGuard = same.length === 1;
    const isHolder = lock?.fence === fence && lock.holder === token;
    demand(hint === true || !isHolder || !isLastGuard, 'a guard is deleted only after its fence is released', {
      message: message.body,
      lock,
    });
  });
};

const checkTask = (tables: Tables, before: Task | undefined, after: Task): void => {
  const [was, is] = [before?.state, after.state];
  demand(before === undefined || after.run >= before.run, "a task's run number never decreases", { before, after });
  if (before && after.run > before.run) {
    const isNext = was?.status === 'failed' && is.status === 'created' && after.run === before.run + 1;
    demand(isNext, 'only a failed task is redriven, and it then waits', { before, after });
    return;
  }
  if (was?.status === 'succeeded' || was?.status === 'failed')
    demand(false, "a run's result is written once", { before, after });
  if (was && 'batchId' in was)
    demand('batchId' in is && is.batchId === was.batchId, "a run's batch id is written once", { before, after });
  if (!('batchId' in is)) return;
  const batch = tables.batches.get(is.batchId);
  demand(
    batch?.candidates.includes(candidateOf(after.id, after.run)) === true,
    'a claimed task is a candidate of its batch',
    { after, batch },
  );
  demand(batch?.target === after.target, 'all tasks of a batch have the same Target', { after, batch });
};

const checkPayload = (tables: Tables, id: TaskId): void => {
  const task = tables.tasks.get(id);
  if (!task?.payloadApart || (task.state.status !== 'created' && task.state.status !== 'batched')) return;
  const payload = tables.payloads.get(payloadKey(task));
  // The payload row belongs to an earlier task with the same id. It is replaced before this task can be claimed.
  if (payload && payload.createdAt < task.createdAt) return;
  demand(payload?.expires === undefined, "an unfinished task's payload has no time to live", { task, payload });
};

const checkBatch = (before: Batch | undefined, after: Batch): void => {
  if (!before) return;
  const same = (a: readonly string[], b: readonly string[]): boolean =>
    a.length === b.length && a.every((each, index) => each === b[index]);
  demand(same(before.candidates, after.candidates), "a batch's candidates never change", { before, after });
  demand(
    before.sealedAt === undefined || same(before.dropped, after.dropped),
    "a sealed batch's members never change",
    {
      before,
      after,
    },
  );
  demand(!isFinished(before.status), 'a finished batch is not written again', { before, after });
  demand(after.attempt >= before.attempt, "a batch's attempt number never decreases", { before, after });
  demand(after.attempt <= 1_000, 'a batch has at most 1,000 attempts', { before, after });
};

/**
 * If several waiting tasks have the same coalesceKey, only the newest one is in a batch. The others end as superseded.
 */
const checkKeys = (tables: Tables, before: Batch | undefined, after: Batch): void => {
  if (after.sealedAt === undefined || before?.sealedAt !== undefined) return;
  const keys = membersOf(after).flatMap((id) => tables.tasks.get(id)?.coalesceKey ?? []);
  demand(new Set(keys).size === keys.length, 'two tasks with the same coalesceKey are not in one batch', {
    after,
    keys,
  });
};

const checkLock = (tables: Tables, target: Target, before: Lock, after: Lock): void => {
  demand(after.fence >= before.fence, "a Target's fence never decreases", { target, before, after });
  demand(after.round >= before.round, "a Target's round never decreases", { target, before, after });
  if (before.openBatch === undefined || after.openBatch === before.openBatch) return;
  const batch = tables.batches.get(before.openBatch);
  demand(
    batch !== undefined && batch.status !== 'forming',
    'an open batch is cleared from its lock only after it is sealed',
    {
      target,
      before,
      after,
    },
  );
};

const checkRowDeleted = (tables: Tables, target: Target, row: Waiting): void => {
  const { id, run } = parseCandidate(row.candidate);
  const task = tables.tasks.get(id);
  demand(
    // A task that is missing has ended, and its row has expired.
    task === undefined || task.state.status !== 'created' || task.run !== run,
    'a waiting row is deleted only after its task is claimed',
    { target, row, task },
  );
};
