/**
 * Look for what is stuck, and put it right: the patrol does, a piece each minute, and `groupage doctor` when asked.
 *
 * What cannot be looked at is named, and keeps nothing else from its turn. Every repair is a hint, or a conditional write: harmless
 * when it is made twice, or where nothing was wrong.
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

/** What could not be looked at, and why. */
export interface Skipped {
  readonly id: Target | BatchId;
  readonly cause: unknown;
}

/** What is stuck of all that was looked at. */
export interface Looked {
  readonly findings: readonly Finding[];
  readonly skipped: readonly Skipped[];
}

/**
 * Looks at a Target's lock and its first waiting row: half a read unit, and one for each batch that counts as under way.
 *
 * @param onWaiting is told since when the task waits whose turn is next, if one does.
 * @param onEventualRead is given the lock row as it was read, which may be a moment behind.
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
  // First: what counts as under way decides whether what waits waits rightly.
  const operation = operationNamed(deps.config, operationOf(target));
  const layout = operation && pagesOfTarget(deps, target, lock);
  const stuck = await lookAtSlots(deps, target, lock, layout, now, grace);
  if (stuck) return stuck;
  const closed = operation !== undefined && isClosed(lock, operation.concurrency, deps.locks.pageSize);
  const finding = findingOf(target, lock, first, now, grace, closed);
  if (finding?.finding !== 'forgotten') return finding;
  // It is signalled when one of its batches ends.
  if (layout && (await isTargetFull(deps, target, lock, layout))) return undefined;
  // Its operation knows of it: it is signalled when its turn comes.
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
  // A handler that crashed leaves its message hidden for that long.
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

/** Slots that are looked at together. */
const AT_ONCE = 20;

/** @param onWaiting and `onEventualRead` as of {@link lookAtTarget}. */
export const lookAtTargets = (
  deps: BatchDeps,
  targets: readonly Target[],
  onWaiting?: (since: Millis) => void,
  onEventualRead?: (target: Target, readEventually: LockView) => void,
): Promise<Looked> =>
  lookAtEach(targets, (target) => lookAtTarget(deps, target, deps.machine.now(), GRACE, onWaiting, onEventualRead));

interface BatchesLookedAt extends Looked {
  /** How many, with those that were skipped. */
  readonly batches: number;
  /** As of a page. */
  readonly cursor?: string;
}

/**
 * Looks at a page of a Target's sealed batches, finished ones too: a read unit for each 4 KB of one. While a pause holds them
 * up none is overdue, and one message more for each would come back every minute until its end.
 */
export const lookAtBatches = async (
  deps: BatchDeps,
  target: Target,
  limit: number,
  cursor?: string,
): Promise<BatchesLookedAt> => {
  const { batches, config, machine } = deps;
  const { items: ids, ...page } = await batches.ofTarget(target, limit, cursor);
  // A handler that crashed leaves its message hidden for that long.
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

/** What was done about a finding: a message was sent that has somebody see to it, or a lock was given back. */
export type Remedy = 'elect-message' | 'batch-message' | 'lock-released' | 'slot-freed';

/** A finding, and what was done about it, or why nothing could be. */
export type Treated = { readonly finding: Finding } & (
  | {
      /** Undefined where nothing was to be done any more. */
      readonly remedy: Remedy | undefined;
    }
  | { readonly cause: unknown }
);

/** Repairs each on its own: one that cannot be repaired keeps no other from it. */
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
 * @returns what was done; undefined where nothing was, since somebody else had been faster.
 * @throws UnknownOperation where whoever gets the message could only throw.
 */
export const repair = async (deps: BatchDeps, finding: Finding): Promise<Remedy | undefined> => {
  const { target, since } = finding;
  const remedy = await putRight(deps, finding);
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

const putRight = async (deps: BatchDeps, finding: Finding): Promise<Remedy | undefined> => {
  const { target } = finding;
  switch (finding.finding) {
    case 'stranded':
    case 'leaderless-batch':
      return askForLeader(deps, target);
    case 'expired-lock':
      // It may have waited for room.
      return finding.hasWork ? askForLeader(deps, target, finding.holder.fence) : release(deps, target, finding.holder);
    case 'forgotten':
      return askForLeader(deps, target, finding.fence);
    case 'stuck-slot':
      // Where its place is, is not known: the lock is looked at first.
      return landStuck(deps, target, finding.batchId);
    case 'overdue-batch':
      operationFor(deps.config, operationOf(target));
      await deps.queues.batch({ kind: 'due', batchId: finding.batchId }, 0);
      return 'batch-message';
  }
};

const landStuck = async (deps: BatchDeps, target: Target, batchId: BatchId): Promise<Remedy> => {
  const left = await releaseTargetSlot(deps, { id: batchId, target, targetPage: 0 });
  // A Target that is blocked waits for no plain message.
  if (left?.blocked !== undefined) return askForLeader(deps, target, left.fence);
  return (await deps.waiting.first(target, 1)).length > 0 ? askForLeader(deps, target) : 'slot-freed';
};

/** @param fence that of a Target that waits for room: a plain message does not end that. */
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
 * As its leader would have (G3): whoever registered a task in between may have seen a lock that was held. So a task that
 * waits is told of, whoever gave the lock back.
 */
const release = async (deps: BatchDeps, target: Target, holder: Mine): Promise<Remedy | undefined> => {
  const released = await deps.locks.release(target, holder);
  const [first] = await deps.waiting.first(target, 1);
  if (first) return askForLeader(deps, target);
  return released ? 'lock-released' : undefined;
};
