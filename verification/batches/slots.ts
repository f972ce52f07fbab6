/**
 * Invariants of slots, pauses and waiting Targets, checked after every write. Caps are kept. A paused operation or
 * Target begins no batch. A batch is opened and called only while it holds a slot. The watcher also measures how long a
 * Target waits although a slot is free.
 */
import { type Batch, isFinished } from '../../src/domain/batches/batch.ts';
import type { Lock } from '../../src/domain/batches/lock.ts';
import { type Config, handlerTimeout, operationFor, operationNamed } from '../../src/domain/config/resolved.ts';
import type { Call } from '../../src/domain/downstream/downstream.ts';
import { type Millis, type OperationName, operationOf, type Target } from '../../src/domain/ids.ts';
import { batchOfSlot, parseSlot, type Slot, slotOfBatch } from '../../src/domain/operations/slots.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import { inFlightIn, slotsIn, type Tables, type Watcher } from '../../src/memory/tables.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { LoggedCall } from './call-log.ts';
import { totalOf } from './caps.ts';
import type { Configurations, Configured } from './configurations.ts';
import type { Idle } from './evidence.ts';

type SlotWatcher = Required<Pick<Watcher, 'lock' | 'operation' | 'slotPage' | 'waitingTarget'>>;

/**
 * @param calls the calls that the downstream has received so far
 * @param idle the watcher writes here how long a Target waited although a slot was free
 * @param slotsPerPage the most slots of a row
 */
export const watchSlots = (
  tables: Tables,
  configs: Configurations,
  now: () => Millis,
  calls: readonly LoggedCall[],
  idle: Idle,
  slotsPerPage: number,
): SlotWatcher => {
  const hasFailed = ({ id, attempt, lastAttempt }: Batch): boolean => {
    const last = calls.findLast(({ call }) => call.batchId === id && call.attempt === attempt);
    // A call that is not in the log did not arrive.
    if (!last || last.isLost) return attempt > 0;
    if (last.answered) return last.answered.answer.kind === 'unavailable' || lastAttempt !== undefined;
    return now() >= last.at + operationFor(configs.at(now()), last.call.operation).downstream.timeout;
  };
  const [since, sincePaused] = [new Map<OperationName, Millis>(), new Map<OperationName, Millis>()];
  const wasPaused = new Set<Target>();
  const takenAt = new Map<Slot, Millis>();
  const look = (operation: OperationName): void => {
    const all = slotsIn(tables, operation);
    const needed = all.filter((slot) => !isLent(tables, slot, now()));
    idle.most = Math.max(idle.most, tables.waitingTargets.get(operation)?.size ?? 0);
    idle.longest = Math.max(idle.longest, lookFor(operation, since, all.length));
    idle.longestForPaused = Math.max(idle.longestForPaused, lookFor(operation, sincePaused, needed.length));
  };
  const lookFor = (operation: OperationName, began: Map<OperationName, Millis>, taken: number): Millis => {
    const from = began.get(operation);
    if (targetWaitsDespiteFreeSlot(tables, configs.at(now()), operation, taken, now))
      began.set(operation, from ?? now());
    else began.delete(operation);
    return from === undefined ? 0 : now() - from;
  };
  const checkRow = (slots: readonly unknown[]): void =>
    demand(slots.length <= slotsPerPage, 'a row has at most slotsPerPage slots', { slots });
  const noteTaken = (before: readonly Slot[], after: readonly Slot[]): void => {
    for (const slot of before) if (!after.includes(slot)) takenAt.delete(slot);
    for (const slot of after) if (!before.includes(slot)) takenAt.set(slot, now());
  };
  /**
   * Checks the number of taken slots. A batch is opened and called only while it holds a slot, so a limit of slots also
   * limits batches.
   */
  const checkCap = (operation: OperationName, before: readonly Slot[], after: readonly Slot[]): void => {
    // A write that only frees slots does not begin a batch.
    if (after.every((slot) => before.includes(slot))) return;
    // Two deliveries of a guard may take the same slot on two pages.
    const slots = [...new Set(slotsIn(tables, operation))];
    const taken = slots.map((slot) => takenAt.get(slot) ?? Number.NEGATIVE_INFINITY);
    const isAllowed = configs.allowTheLast(now(), taken, totalOf(operation));
    demand(isAllowed, 'an operation has at most total batches under way', { operation, slots });
  };
  return {
    lock: (target, before, after) => {
      checkOpened(tables, configs.recent(now()), target, before, after);
      // When a Target gets a cap, all its batches in flight are counted in its row, even if their number exceeds the
      // cap.
      const isMore = (after.inFlight?.length ?? 0) > (before.inFlight?.length ?? 0);
      if (isMore && after.openBatch !== before.openBatch) checkRow(after.inFlight ?? []);
      if (after.paused) wasPaused.add(target);
      look(operationOf(target));
    },
    operation: (operation, before, after) => {
      const taken = after.inFlight.filter((slot) => !before.inFlight.includes(slot));
      demand(taken.length === 0 || before.paused === undefined, 'no slot of a paused operation is taken', { taken });
      checkRow(after.inFlight);
      checkFreed(tables, wasPaused, hasFailed, before.inFlight, after.inFlight);
      noteTaken(before.inFlight, after.inFlight);
      checkCap(operation, before.inFlight, after.inFlight);
      look(operation);
    },
    slotPage: ({ of, owner, slots }, before) => {
      checkRow(slots);
      checkFreed(tables, wasPaused, hasFailed, before, slots);
      if (of === 'target') return;
      noteTaken(before, slots);
      checkCap(owner as OperationName, before, slots);
      look(owner as OperationName);
    },
    waitingTarget: look,
  };
};

const checkOpened = (
  tables: Tables,
  recent: readonly Configured[],
  target: Target,
  before: Lock,
  { openBatch }: Lock,
): void => {
  if (openBatch === undefined || openBatch === before.openBatch) return;
  const operation = operationOf(target);
  demand(before.paused === undefined, 'no batch of a paused Target is opened', { target, before, openBatch });
  if (recent.some(({ config }) => (totalOf(operation)(config) ?? null) === null)) return;
  const slots = slotsIn(tables, operation);
  demand(slots.includes(slotOfBatch({ id: openBatch, target })), 'a batch is opened only with a slot', {
    target,
    openBatch,
    slots,
  });
};

/**
 * A batch whose attempt opened the circuit frees its slot after its call has failed. A handler that found its Target
 * paused may be slow and free the slot after the Target was resumed.
 */
const checkFreed = (
  tables: Tables,
  wasPaused: ReadonlySet<Target>,
  hasFailed: (batch: Batch) => boolean,
  before: readonly Slot[],
  after: readonly Slot[],
): void => {
  for (const slot of before.filter((each) => !after.includes(each))) {
    const [id, { target }] = [batchOfSlot(slot), parseSlot(slot)];
    const batch = tables.batches.get(id);
    const isOver = batch
      ? isFinished(batch.status) || wasPaused.has(target) || hasFailed(batch)
      : tables.locks.get(target)?.openBatch !== id;
    demand(isOver, 'a slot is freed only after its batch is over or has failed, or its Target was paused', {
      slot,
      batch,
    });
  }
};

/** A call is made only for a batch that holds a slot, if the operation has slots. */
export const checkHoldsSlot = (tables: Tables, config: Config, { batchId, operation, target }: Call): void => {
  if (operationFor(config, operation).concurrency.total === null) return;
  const slots = slotsIn(tables, operation);
  demand(slots.includes(slotOfBatch({ id: batchId, target })), 'a batch is called only while it holds a slot', {
    batchId,
    slots,
  });
};

/**
 * No call is made while a person has paused the operation or the Target. An attempt that began before the pause may
 * continue until its function ends. A circuit's pause is left out, because a fast clock may end it early.
 */
export const checkPause = (tables: Tables, config: Config, { batchId, operation, target }: Call, now: Millis): void => {
  const began = now - handlerTimeout(config) - 2 * CLOCK_SKEW;
  for (const paused of [tables.operations.get(operation)?.paused, tables.locks.get(target)?.paused])
    demand(paused?.by !== 'person' || paused.since >= began, 'no batch is called while it is paused', {
      batchId,
      paused,
    });
};

/** Whether a batch is between two attempts and the next attempt is due. */
const isIdle = (batch: Batch | undefined, now: Millis): boolean =>
  batch?.status === 'sealed' || (batch?.status === 'in-progress' && batch.runUntil < now);

/**
 * Whether the batch of a slot has nothing to do until its Target is resumed. A batch with a job in progress still needs
 * its slot, even if the batch's other tasks wait.
 */
const isLent = (tables: Tables, slot: Slot, now: Millis): boolean => {
  const batch = tables.batches.get(batchOfSlot(slot));
  const isUnderWay = batch?.pending !== undefined && batch.pending.until >= now;
  return tables.locks.get(parseSlot(slot).target)?.paused !== undefined && isIdle(batch, now) && !isUnderWay;
};

/** Whether a Target or batch in the slot queue would continue if it were woken, because a slot is free. */
const targetWaitsDespiteFreeSlot = (
  tables: Tables,
  config: Config,
  operation: OperationName,
  taken: number,
  now: () => Millis,
): boolean => {
  const configured = operationNamed(config, operation);
  if (!configured) return false;
  const { total, perTarget } = configured.concurrency;
  const { circuit } = configured;
  const { paused, failures = 0 } = tables.operations.get(operation) ?? {};
  // The circuit is half-open: only one batch is called, to find out whether the downstream has recovered.
  if (circuit && failures >= circuit.failures) return false;
  // A circuit's pause is over at its end time, even if no message has ended it.
  const isPaused = paused !== undefined && (paused.until ?? Number.POSITIVE_INFINITY) > now();
  if (isPaused || (total !== null && taken >= total)) return false;
  return [...(tables.waitingTargets.get(operation)?.values() ?? [])].some(({ target, fence, batch }) => {
    const lock = tables.locks.get(target);
    if (batch !== undefined) return !lock?.paused && isIdle(tables.batches.get(batch), now());
    const mayGoOn = lock?.blocked !== undefined && lock.fence === fence && !lock.paused;
    return mayGoOn && (perTarget === null || inFlightIn(tables, target) < perTarget);
  });
};
