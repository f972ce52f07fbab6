/**
 * Look for what is stuck, and put it right: the patrol does, a piece each minute, and `groupage doctor` when asked.
 *
 * Every repair is a hint, or a conditional write: harmless when it is made twice, or where nothing was wrong.
 */
import { batchVisibility } from '../config/resolved.ts';
import type { Mine, Page } from '../ports.ts';
import type { Deps } from './deps.ts';
import { type Finding, findingOf, GRACE, overdue } from './findings.ts';
import { type Millis, operationOf, type Target } from './ids.ts';

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

/** What was done about a finding: a message was sent that has somebody see to it, or a lock was given back. */
export type Remedy = 'elect-message' | 'batch-message' | 'lock-released';

/** @returns what was done; undefined where nothing was, since somebody else had been faster. */
export const repair = async (deps: RepairDeps, finding: Finding): Promise<Remedy | undefined> => {
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

const putRight = async (deps: RepairDeps, finding: Finding): Promise<Remedy | undefined> => {
  const { target } = finding;
  switch (finding.finding) {
    case 'stranded':
    case 'leaderless-batch':
      return askForLeader(deps, target);
    case 'expired-lock':
      return finding.hasWork ? askForLeader(deps, target) : release(deps, target, finding.holder);
    case 'overdue-batch':
      await deps.queues.batch({ batchId: finding.batchId }, 0);
      return 'batch-message';
  }
};

const askForLeader = async ({ queues }: RepairDeps, target: Target): Promise<'elect-message'> => {
  await queues.elect([{ target }]);
  return 'elect-message';
};

/**
 * As its leader would have (G3): whoever registered a task in between may have seen a lock that was held. So a task that
 * waits is told of, whoever gave the lock back.
 */
const release = async (deps: RepairDeps, target: Target, holder: Mine): Promise<Remedy | undefined> => {
  const released = await deps.locks.release(target, holder);
  const [first] = await deps.waiting.first(target, 1);
  if (first) return askForLeader(deps, target);
  return released ? 'lock-released' : undefined;
};
