/**
 * Put right what a look found: the patrol does, and `groupage doctor` when asked.
 *
 * Every repair is a hint, or a conditional write: harmless when it is made twice, or where nothing was wrong.
 */

import type { Finding } from '../../domain/batches/findings.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import { type BatchId, operationOf, type Target } from '../../domain/ids.ts';
import type { Mine } from '../../ports/locks.ts';
import type { Machine } from '../../ports/machine.ts';
import type { Deps } from '../deps.ts';
import { landBatch } from '../slots/target-room.ts';

type RepairDeps = Pick<Deps, 'config' | 'locks' | 'waiting' | 'queues' | 'report'> & {
  readonly machine: Pick<Machine, 'now'>;
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
export const repairAll = (deps: RepairDeps, findings: readonly Finding[]): Promise<readonly Treated[]> =>
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
      // It may have waited for room.
      return finding.hasWork ? askForLeader(deps, target, finding.holder.fence) : release(deps, target, finding.holder);
    case 'forgotten':
      return askForLeader(deps, target, finding.fence);
    case 'stuck-slot':
      // Where its place is, is not known: the lock is looked at first.
      return landStuck(deps, target, finding.batchId);
    case 'overdue-batch':
      operationFor(deps.config, operationOf(target));
      await deps.queues.batch({ batchId: finding.batchId }, 0);
      return 'batch-message';
  }
};

const landStuck = async (deps: RepairDeps, target: Target, batchId: BatchId): Promise<Remedy> => {
  const left = await landBatch(deps, { id: batchId, target, targetPage: 0 });
  // A Target that is blocked waits for no plain message.
  if (left?.blocked !== undefined) return askForLeader(deps, target, left.fence);
  return (await deps.waiting.first(target, 1)).length > 0 ? askForLeader(deps, target) : 'slot-freed';
};

/** @param fence that of a Target that waits for room: a plain message does not end that. */
const askForLeader = async (
  { config, queues }: RepairDeps,
  target: Target,
  fence?: number,
): Promise<'elect-message'> => {
  operationFor(config, operationOf(target));
  await queues.elect([{ target, ...(fence === undefined ? {} : { wake: fence }) }]);
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
