/**
 * Look for what is stuck, and put it right: the patrol does, a piece each minute, and `groupage doctor` when asked.
 *
 * Every repair is a hint, or a conditional write: harmless when it is made twice, or where nothing was wrong.
 */
import { batchVisibility } from '../config/resolved.ts';
import type { Machine, Page } from '../ports.ts';
import type { Deps } from './deps.ts';
import { type Finding, findingOf, GRACE, overdue } from './findings.ts';
import { type Millis, operationOf, type Target } from './ids.ts';

/** Looks at a Target's lock and its first waiting row: half a read unit. */
export const lookAtTarget = async (
  { locks, machine }: Pick<Deps, 'locks'> & { readonly machine: Pick<Machine, 'now'> },
  target: Target,
  grace: Millis = GRACE,
): Promise<Finding | undefined> => {
  const { lock, first } = await locks.glance(target);
  return findingOf(target, lock, first, machine.now(), grace);
};

/** What was looked at, and what is stuck of it. */
interface BatchesLookedAt extends Page<Finding> {
  readonly looked: number;
}

/** Looks at a page of a Target's sealed batches, finished ones too: a read unit for each 4 KB of one. */
export const lookAtBatches = async (
  { batches, config, machine }: Pick<Deps, 'batches' | 'config' | 'machine'>,
  target: Target,
  limit: number,
  cursor?: string,
): Promise<BatchesLookedAt> => {
  const { items: ids, ...page } = await batches.ofTarget(target, limit, cursor);
  const found = await Promise.all(ids.map((id) => batches.get(id)));
  // A handler that crashed leaves its message hidden for that long.
  const grace = batchVisibility(config) + GRACE;
  const items = found.flatMap((batch) => (batch && overdue(batch, machine.now(), grace)) ?? []);
  return { ...page, items, looked: ids.length };
};

type RepairDeps = Pick<Deps, 'locks' | 'waiting' | 'queues' | 'report'>;

/** @returns false where that was not as it was found any more: somebody else was faster. */
export const repair = async (deps: RepairDeps, finding: Finding): Promise<boolean> => {
  const { target, since } = finding;
  if (!(await putRight(deps, finding))) return false;
  deps.report({
    event: 'repaired',
    finding: finding.finding,
    operation: operationOf(target),
    target,
    since,
    ...('batchId' in finding ? { batchId: finding.batchId } : {}),
  });
  return true;
};

const putRight = async (deps: RepairDeps, finding: Finding): Promise<boolean> => {
  const { target } = finding;
  switch (finding.finding) {
    case 'stranded':
    case 'leaderless-batch':
      await deps.queues.elect([{ target }]);
      return true;
    case 'expired-lock':
      if (!finding.hasWork) return release(deps, target, finding.holder);
      await deps.queues.elect([{ target }]);
      return true;
    case 'overdue-batch':
      await deps.queues.batch({ batchId: finding.batchId }, 0);
      return true;
  }
};

/** As its leader would have (G3): whoever registered a task in between may have seen a lock that was held. */
const release = async (
  { locks, waiting, queues }: RepairDeps,
  target: Target,
  holder: Parameters<Deps['locks']['release']>[1],
): Promise<boolean> => {
  const released = await locks.release(target, holder);
  const [first] = await waiting.first(target, 1);
  if (first) await queues.elect([{ target }]);
  return released;
};
