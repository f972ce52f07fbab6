/**
 * Look for what is stuck: the patrol does, a piece each minute, and `groupage doctor` when asked. What cannot be looked
 * at is named, and keeps nothing else from its turn.
 */
import pLimit from 'p-limit';
import { type Finding, findingOf, overdue, stuckSlot } from '../../domain/batches/findings.ts';
import { isClosed, type Lock } from '../../domain/batches/lock.ts';
import { batchVisibility, operationNamed } from '../../domain/config/resolved.ts';
import { type BatchId, type Millis, operationOf, type Target } from '../../domain/ids.ts';
import type { Layout } from '../../domain/operations/slot-pages.ts';
import { batchOfSlot } from '../../domain/operations/slots.ts';
import { GRACE } from '../../domain/timings.ts';
import type { Glance } from '../../ports/locks.ts';
import { pauseNow } from '../call/circuit.ts';
import type { Deps } from '../deps.ts';
import { isSlotOver } from '../slots/slot-over.ts';
import { furtherPagesOf, isTargetFull, pagesOfTarget } from '../slots/target-room.ts';

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

type LookDeps = Pick<Deps, 'config' | 'locks' | 'batches' | 'operations'>;

/**
 * Looks at a Target's lock and its first waiting row: half a read unit, and one for each batch that counts as under way.
 *
 * @param onWaiting is told since when the task waits whose turn is next, if one does.
 * @param onGlance is given the lock row as it was read, which may be a moment behind.
 */
export const lookAtTarget = async (
  deps: LookDeps,
  target: Target,
  now: Millis,
  grace: Millis = GRACE,
  onWaiting: (since: Millis) => void = () => {},
  onGlance: (target: Target, glance: Glance) => void = () => {},
): Promise<Finding | undefined> => {
  const glance = await deps.locks.glance(target);
  const { lock, first } = glance;
  onGlance(target, glance);
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
  deps: LookDeps,
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

/** @param onWaiting and `onGlance` as of {@link lookAtTarget}. */
export const lookAtTargets = (
  deps: LookDeps & Pick<Deps, 'machine'>,
  targets: readonly Target[],
  onWaiting?: (since: Millis) => void,
  onGlance?: (target: Target, glance: Glance) => void,
): Promise<Looked> =>
  lookAtEach(targets, (target) => lookAtTarget(deps, target, deps.machine.now(), GRACE, onWaiting, onGlance));

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
  { batches, config, machine, ...rows }: LookDeps & Pick<Deps, 'machine'>,
  target: Target,
  limit: number,
  cursor?: string,
): Promise<BatchesLookedAt> => {
  const { items: ids, ...page } = await batches.ofTarget(target, limit, cursor);
  // A handler that crashed leaves its message hidden for that long.
  const grace = batchVisibility(config) + GRACE;
  const isPaused = await isHeldUp(rows, target, machine.now());
  const looked = await lookAtEach(ids, async (id) => {
    const batch = await batches.get(id);
    return batch && !isPaused ? overdue(batch, machine.now(), grace) : undefined;
  });
  return { ...page, ...looked, batches: ids.length };
};

const isHeldUp = async (
  { operations, locks }: Pick<Deps, 'operations' | 'locks'>,
  target: Target,
  now: Millis,
): Promise<boolean> => {
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
