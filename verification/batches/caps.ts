/**
 * Promises about caps: the number of batches in flight and the number of concurrent calls are within `concurrency`. In
 * the end no slot is taken.
 */
import { isFinished } from '../../src/domain/batches/batch.ts';
import type { Lock } from '../../src/domain/batches/lock.ts';
import { type Config, operationNamed } from '../../src/domain/config/resolved.ts';
import { type BatchId, type Millis, type OperationName, operationOf, type Target } from '../../src/domain/ids.ts';
import { batchOfSlot, type Slot } from '../../src/domain/operations/slots.ts';
import { slotsIn, type Watcher } from '../../src/memory/tables.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { LoggedCall } from './call-log.ts';
import type { Configurations } from './configurations.ts';
import type { Evidence } from './evidence.ts';

/** Counts the batches of a Target from the moment when they are opened until they are finished. */
export const watchCaps = (
  configs: Configurations,
  now: () => Millis,
  openedAt: Map<BatchId, Millis>,
): Required<Pick<Watcher, 'lock' | 'batch'>> => {
  const underWay = new Map<BatchId, { readonly target: Target; readonly at: Millis }>();
  return {
    lock: (target: Target, before: Lock, { openBatch }: Lock) => {
      if (openBatch === undefined || openBatch === before.openBatch) return;
      underWay.set(openBatch, { target, at: now() });
      openedAt.set(openBatch, now());
      const opened = [...underWay.values()].filter((each) => each.target === target).map(({ at }) => at);
      const isAllowed = configs.allowTheLast(now(), opened, perTargetOf(operationOf(target)));
      demand(isAllowed, 'a Target has at most perTarget batches under way', { target, count: opened.length });
    },
    batch: (_, after) => {
      if (isFinished(after.status)) underWay.delete(after.id);
    },
  };
};

type CapOf = (config: Config) => number | null | undefined;

const perTargetOf =
  (operation: OperationName): CapOf =>
  (config) =>
    operationNamed(config, operation)?.concurrency.perTarget;

export const totalOf =
  (operation: OperationName): CapOf =>
  (config) =>
    operationNamed(config, operation)?.concurrency.total;

/** @throws Violation */
export const checkCaps = (evidence: Evidence): void => {
  const { config, tables, log, mayOverlap } = evidence;
  for (const operation of Object.keys(config.operations) as OperationName[])
    demand(slotsIn(tables, operation).length === 0, 'no slot is taken in the end', { operation });
  for (const [target, lock] of tables.locks)
    demand((lock.inFlight ?? []).length === 0 && lock.blocked === undefined, 'no batch is in flight in the end', {
      target,
      lock,
    });
  for (const page of tables.slotPages.values())
    if (page.of === 'target') checkLeft(evidence, page.owner as Target, page);
  for (const [operation, { size }] of tables.waitingTargets)
    demand(size === 0, 'no Target waits for a slot in the end', { operation, size });
  if (mayOverlap) return;
  for (const operation of Object.keys(config.operations) as OperationName[]) {
    const calls = log.calls.filter(({ call }) => call.operation === operation);
    checkAtOnce(evidence, calls, totalOf(operation), 'an operation has at most total calls at once');
    for (const ofTarget of Map.groupBy(calls, ({ call }) => call.target).values())
      checkAtOnce(evidence, ofTarget, perTargetOf(operation), 'a Target has at most perTarget calls at once');
  }
};

/**
 * A slot of a Target may be left taken in three cases. A leader died before it opened its batch. A pause kept the
 * leader from opening the batch. Or the leader took the slot again after another leader had finished the batch, and
 * then died. A later leader that finds no free slot, or the patrol, frees such a slot. If the cap was lowered to a
 * number that needs no pages, no function reads the pages until the cap is raised. Two deliveries of a guard with
 * outdated reads may take the same slot on two pages. The batch frees the slot on the page that it has stored. The slot
 * on the other page stays taken until the patrol frees it.
 */
const checkLeft = (
  { configs, tables, mayStopAmidWork, mayTakeLate, patrolled, wasPaused }: Evidence,
  target: Target,
  { page, slots }: { readonly page: number; readonly slots: readonly Slot[] },
): void => {
  const hadOthers = configs.changes(perTargetOf(operationOf(target)));
  const isUnowned = (slot: Slot): boolean => {
    const batch = tables.batches.get(batchOfSlot(slot));
    return batch === undefined || ((mayTakeLate || hadOthers) && isFinished(batch.status));
  };
  const isDuplicate = (slot: Slot): boolean => {
    const batch = tables.batches.get(batchOfSlot(slot));
    return !patrolled && batch !== undefined && isFinished(batch.status) && batch.targetPage !== page;
  };
  const mayBeLeft = hadOthers || ((mayStopAmidWork || mayTakeLate || wasPaused) && !patrolled);
  const isLeft = slots.every((slot) => (mayBeLeft && isUnowned(slot)) || isDuplicate(slot));
  demand(slots.length === 0 || isLeft, 'no slot of a Target is taken in the end', { slots });
};

/**
 * A call whose caller died has no known end and is left out. A call of a finished batch counts as over, because its job
 * may report before the call is answered.
 */
const checkAtOnce = (
  { configs, tables, seen }: Pick<Evidence, 'configs' | 'tables' | 'seen'>,
  calls: readonly LoggedCall[],
  most: CapOf,
  promise: string,
): void => {
  if (configs.all.every(({ config }) => most(config) === null)) return;
  const finishedAt = ({ call }: LoggedCall): Millis =>
    tables.batches.get(call.batchId)?.finishedAt ?? Number.POSITIVE_INFINITY;
  const openedAt = ({ call: { batchId } }: LoggedCall): Millis => {
    const [opened, stored] = [seen.opened.get(batchId), tables.batches.get(batchId)?.createdAt];
    return Math.min(opened ?? Number.POSITIVE_INFINITY, stored ?? Number.POSITIVE_INFINITY);
  };
  const known = calls.flatMap((each) =>
    each.answered ? [{ from: each.at, to: Math.min(each.answered.at, finishedAt(each)), opened: openedAt(each) }] : [],
  );
  for (const { from } of known) {
    const atOnce = known.filter((other) => other.from <= from && from < other.to);
    const opened = atOnce.map((each) => each.opened);
    demand(configs.allow(from, opened, most), promise, { from, atOnce: atOnce.length });
  }
};
