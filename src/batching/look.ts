/**
 * Look for what is stuck: the patrol does, a piece each minute, and `groupage doctor` when asked. What cannot be looked
 * at is named, and keeps nothing else from its turn.
 */
import { batchVisibility } from '../config/resolved.ts';
import type { Deps } from './deps.ts';
import { type Finding, findingOf, GRACE, overdue } from './findings.ts';
import type { BatchId, Millis, Target } from './ids.ts';

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

/** Looks at a Target's lock and its first waiting row: half a read unit. */
export const lookAtTarget = async (
  { locks }: Pick<Deps, 'locks'>,
  target: Target,
  now: Millis,
  grace: Millis = GRACE,
): Promise<Finding | undefined> => {
  const { lock, first } = await locks.glance(target);
  return findingOf(target, lock, first, now, grace);
};

export const lookAtTargets = (deps: Pick<Deps, 'locks' | 'machine'>, targets: readonly Target[]): Promise<Looked> =>
  lookAtEach(targets, (target) => lookAtTarget(deps, target, deps.machine.now()));

interface BatchesLookedAt extends Looked {
  /** How many, with those that were skipped. */
  readonly batches: number;
  /** As of a page. */
  readonly cursor?: string;
}

/** Looks at a page of a Target's sealed batches, finished ones too: a read unit for each 4 KB of one. */
export const lookAtBatches = async (
  { batches, config, machine }: Pick<Deps, 'batches' | 'config' | 'machine'>,
  target: Target,
  limit: number,
  cursor?: string,
): Promise<BatchesLookedAt> => {
  const { items: ids, ...page } = await batches.ofTarget(target, limit, cursor);
  // A handler that crashed leaves its message hidden for that long.
  const grace = batchVisibility(config) + GRACE;
  const looked = await lookAtEach(ids, async (id) => {
    const batch = await batches.get(id);
    return batch && overdue(batch, machine.now(), grace);
  });
  return { ...page, ...looked, batches: ids.length };
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
