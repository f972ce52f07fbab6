/**
 * Finds stuck Targets, batches and slots and repairs them. The patrol does this for a slice of the Targets each minute,
 * and `groupage doctor` on demand.
 *
 * A Target that cannot be read is reported, and does not affect the others. Each repair is a message that does no harm
 * or a conditional write. So a repair is harmless if it is made twice or is not needed.
 */

import pLimit from 'p-limit';
import { type Finding, findingOf, overdue, stuckSlot } from '../../domain/batches/findings.ts';
import { isClosed, type Lock } from '../../domain/batches/lock.ts';
import { batchVisibility, operationFor, operationNamed } from '../../domain/config/resolved.ts';
import { type BatchId, type Millis, operationOf, type Target } from '../../domain/ids.ts';
import type { Layout } from '../../domain/operations/slot-pages.ts';
import { batchOfSlot, pauseNow } from '../../domain/operations/slots.ts';
import { GRACE } from '../../domain/timings.ts';
import type { LockView, Mine } from '../../ports/locks.ts';
import type { BatchDeps } from '../deps.ts';
import { isSlotOver } from '../slots/pages.ts';
import { furtherPagesOf, isTargetFull, pagesOfTarget, releaseTargetSlot } from '../slots/target-slots.ts';

/** A Target or batch that could not be read, and why. */
export interface Skipped {
  readonly id: Target | BatchId;
  readonly cause: unknown;
}

/** The findings of a scan. */
export interface Looked {
  readonly findings: readonly Finding[];
  readonly skipped: readonly Skipped[];
}

/**
 * Reads a Target's lock and its first waiting row. This costs half a read unit, and one read unit for each batch that
 * counts as under way.
 *
 * @param onWaiting gets the registration time of the oldest waiting task, if a task waits.
 * @param onEventualRead gets the lock row from an eventually consistent read.
 */
export const lookAtTarget = async (
  deps: BatchDeps,
  target: Target,
  now: Millis,
  grace: Millis = GRACE,
  onWaiting: (since: Millis) => void = () => {},
  onEventualRead: (target: Target, readEventually: LockView) => void = () => {},
): Promise<Finding | undefined> => {
  const readEventually = await deps.locks.readEventually(target);
  const { lock, first } = readEventually;
  onEventualRead(target, readEventually);
  if (first) onWaiting(first.at);
  // Check the slots first, because the batches that count as under way decide whether waiting tasks are stuck.
  const operation = operationNamed(deps.config, operationOf(target));
  const layout = operation && pagesOfTarget(deps, target, lock);
  const stuck = await lookAtSlots(deps, target, lock, layout, now, grace);
  if (stuck) return stuck;
  const closed = operation !== undefined && isClosed(lock, operation.concurrency, deps.locks.pageSize);
  const finding = findingOf(target, lock, first, now, grace, closed);
  if (finding?.finding !== 'forgotten') return finding;
  // A full Target is not stuck: it is signalled when one of its batches ends.
  if (layout && (await isTargetFull(deps, target, lock, layout))) return undefined;
  // A Target in the slot queue is not stuck: it is woken when a slot is free.
  const waiting = { target, at: finding.since, fence: finding.fence };
  return (await deps.operations.isWaiting(operationOf(target), waiting)) ? undefined : finding;
};

const lookAtSlots = async (
  deps: BatchDeps,
  target: Target,
  lock: Lock,
  layout: Layout | undefined,
  now: Millis,
  grace: Millis,
): Promise<Finding | undefined> => {
  const { config, batches } = deps;
  const { inFlight = [], openBatch } = lock;
  // If a batch handler crashes, its message is delivered again only after this time.
  const patience = grace === 0 ? 0 : batchVisibility(config) + grace;
  for (const id of inFlight.filter((each) => each !== openBatch)) {
    const finding = stuckSlot(target, id, await batches.get(id), now, patience);
    if (finding) return finding;
  }
  const pages = await furtherPagesOf(deps, target, lock, layout);
  const looked = await pLimit(AT_ONCE).map(
    pages.flatMap(({ slots }) => slots),
    async (slot) => ((await isSlotOver(deps, slot, now - patience)) ? batchOfSlot(slot) : undefined),
  );
  const batchId = looked.find((id) => id !== undefined);
  return batchId && { finding: 'stuck-slot', target, since: now - patience, batchId };
};

/** Number of slots that are read at once. */
const AT_ONCE = 20;

/**
 * @param onWaiting see {@link lookAtTarget}.
 * @param onEventualRead see {@link lookAtTarget}.
 */
export const lookAtTargets = (
  deps: BatchDeps,
  targets: readonly Target[],
  onWaiting?: (since: Millis) => void,
  onEventualRead?: (target: Target, readEventually: LockView) => void,
): Promise<Looked> =>
  lookAtEach(targets, (target) => lookAtTarget(deps, target, deps.machine.now(), GRACE, onWaiting, onEventualRead));

interface BatchesLookedAt extends Looked {
  /** Number of batches on this page, including skipped batches. */
  readonly batches: number;
  /** Where the next page begins. Undefined after the last page. */
  readonly cursor?: string;
}

/**
 * Reads a page of a Target's sealed batches, including finished ones. This costs a read unit for each 4 KB of a batch.
 * During a pause no batch counts as overdue. Otherwise each batch would get another message, which would be delivered
 * every minute until the pause ends.
 */
export const lookAtBatches = async (
  deps: BatchDeps,
  target: Target,
  limit: number,
  cursor?: string,
): Promise<BatchesLookedAt> => {
  const { batches, config, machine } = deps;
  const { items: ids, ...page } = await batches.ofTarget(target, limit, cursor);
  // If a batch handler crashes, its message is delivered again only after this time.
  const grace = batchVisibility(config) + GRACE;
  const isPaused = await isHeldUp(deps, target, machine.now());
  const looked = await lookAtEach(ids, async (id) => {
    const batch = await batches.get(id);
    return batch && !isPaused ? overdue(batch, machine.now(), grace) : undefined;
  });
  return { ...page, ...looked, batches: ids.length };
};

const isHeldUp = async ({ operations, locks }: BatchDeps, target: Target, now: Millis): Promise<boolean> => {
  const [state, lock] = await Promise.all([operations.read(operationOf(target)), locks.read(target)]);
  return pauseNow(state, now) !== undefined || pauseNow(lock, now) !== undefined;
};

const lookAtEach = async <Id extends Target | BatchId>(
  ids: readonly Id[],
  look: (id: Id) => Promise<Finding | undefined>,
): Promise<Looked> => {
  const findings: Finding[] = [];
  const skipped: Skipped[] = [];
  const looks = await Promise.allSettled(ids.map(async (id) => look(id)));
  for (const [index, id] of ids.entries()) {
    const each = looks[index];
    if (each?.status === 'rejected') skipped.push({ id, cause: each.reason });
    else if (each?.value) findings.push(each.value);
  }
  return { findings, skipped };
};

/** The repair of a finding: a message was sent, or a lock or slot was freed. */
export type Remedy = 'elect-message' | 'batch-message' | 'lock-released' | 'slot-freed';

/** A finding, with its repair or the reason why it could not be repaired. */
export type Treated = { readonly finding: Finding } & (
  | {
      /** Undefined if nothing was left to repair. */
      readonly remedy: Remedy | undefined;
    }
  | { readonly cause: unknown }
);

/** Repairs each finding on its own. A finding that cannot be repaired does not affect the others. */
export const repairAll = (deps: BatchDeps, findings: readonly Finding[]): Promise<readonly Treated[]> =>
  Promise.all(
    findings.map((finding) =>
      repair(deps, finding).then(
        (remedy) => ({ finding, remedy }),
        (cause: unknown) => ({ finding, cause }),
      ),
    ),
  );

/**
 * @returns the repair that was made. Undefined if another function was faster.
 * @throws UnknownOperation if the operation is not configured, because any function that received a message for it
 *   would throw too.
 */
export const repair = async (deps: BatchDeps, finding: Finding): Promise<Remedy | undefined> => {
  const { target, since } = finding;
  const remedy = await applyRepair(deps, finding);
  if (remedy === undefined) return undefined;
  deps.report({
    event: 'repaired',
    finding: finding.finding,
    operation: operationOf(target),
    target,
    since,
    ...('batchId' in finding ? { batchId: finding.batchId } : {}),
  });
  return remedy;
};

const applyRepair = async (deps: BatchDeps, finding: Finding): Promise<Remedy | undefined> => {
  const { target } = finding;
  switch (finding.finding) {
    case 'stranded':
    case 'leaderless-batch':
      return askForLeader(deps, target);
    case 'expired-lock':
      // The Target may be blocked, so the message carries the fence.
      return finding.hasWork ? askForLeader(deps, target, finding.holder.fence) : release(deps, target, finding.holder);
    case 'forgotten':
      return askForLeader(deps, target, finding.fence);
    case 'stuck-slot':
      // The finding does not contain the page of the place, so the lock is checked first.
      return freeStuckSlot(deps, target, finding.batchId);
    case 'overdue-batch':
      operationFor(deps.config, operationOf(target));
      await deps.queues.batch({ kind: 'due', batchId: finding.batchId }, 0);
      return 'batch-message';
  }
};

const freeStuckSlot = async (deps: BatchDeps, target: Target, batchId: BatchId): Promise<Remedy> => {
  const left = await releaseTargetSlot(deps, { id: batchId, target, targetPage: 0 });
  // A blocked Target ignores an elect message without a fence, so send one with the fence.
  if (left?.blocked !== undefined) return askForLeader(deps, target, left.fence);
  return (await deps.waiting.first(target, 1)).length > 0 ? askForLeader(deps, target) : 'slot-freed';
};

/** @param fence set for a blocked Target, which ignores an elect message without a fence. */
const askForLeader = async (
  { config, queues }: BatchDeps,
  target: Target,
  fence?: number,
): Promise<'elect-message'> => {
  operationFor(config, operationOf(target));
  await queues.elect([{ kind: 'elect', target, ...(fence === undefined ? {} : { wake: fence }) }]);
  return 'elect-message';
};

/**
 * Releases a lock as its leader would (G3). A register function may have read the lock while it was held and sent no
 * message. So if a task waits, this sends an elect message, even if another function released the lock.
 */
const release = async (deps: BatchDeps, target: Target, holder: Mine): Promise<Remedy | undefined> => {
  const released = await deps.locks.release(target, holder);
  const [first] = await deps.waiting.first(target, 1);
  if (first) return askForLeader(deps, target);
  return released ? 'lock-released' : undefined;
};
