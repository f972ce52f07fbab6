/** Judges what an attempt shows about the downstream, about its Target, and about the batch itself (O3, O4, H8). */

import type { Batch } from '../../domain/batches/batch.ts';
import type { Lock } from '../../domain/batches/lock.ts';
import { isAtFault, proofsAgainst, type Suspicion } from '../../domain/batches/suspicion.ts';
import { type Pause, parseSlot, slotOfBatch } from '../../domain/operations/slots.ts';
import type { CallDeps } from '../deps.ts';
import { countFailure, countSuccess } from './circuit.ts';
import type { Attempt, Rest } from './tally.ts';

export interface Judgement {
  /** The operation's pause, if every call of the attempt failed. */
  readonly pause?: Pause;
  readonly suspicion?: Suspicion;
}

/**
 * Counts the attempt for the circuit. The failure of a batch at fault does not count, because other calls succeeded
 * after its earlier failures (H8).
 */
export const judgeDownstream = async (deps: CallDeps, run: Attempt, rest: Rest): Promise<Judgement> => {
  const { batch, state } = run;
  const { failure, wasAnswered, parts } = rest;
  const { circuit } = run.operation;
  if (circuit) await noteForTarget(deps, run, rest);
  const proofs = proofsAgainst(batch, state);
  if (failure?.is === 'failed' && isAtFault(batch, state))
    return { suspicion: { recoveries: state.recoveries, proofs } };
  if (failure) {
    const { recoveries, pause } = await countFailure(deps, batch.operation, circuit, failure, state);
    const suspicion = failure.is === 'failed' ? { recoveries, proofs } : batch.suspicion;
    return { ...(pause ? { pause } : {}), ...(suspicion ? { suspicion } : {}) };
  }
  if (wasAnswered) await countSuccess(deps, batch.operation, circuit, state);
  // The attempt's own success before the failed part is no proof.
  const recoveries = state.recoveries + (state.failures > 0 || state.throttledSince !== undefined ? 1 : 0);
  return parts ? { suspicion: { recoveries, proofs } } : {};
};

/**
 * O4. Notes in the Target's lock whether its last call worked, for the choice of the next test. While all calls work, it
 * writes nothing.
 */
const noteForTarget = async (
  { locks, machine }: CallDeps,
  { batch, state, lock }: Attempt,
  { failure, wasAnswered }: Rest,
): Promise<void> => {
  if (failure?.is === 'failed')
    return locks.noteCall(batch.target, 'failed', machine.now(), hasWorkedBefore(batch, lock));
  const isNews = lock.failedAt !== undefined || (state.failures > 0 && !lock.workedAt);
  if (wasAnswered && isNews) await locks.noteCall(batch.target, 'worked', machine.now());
};

/** Whether earlier batches of the Target succeeded: it has had some, and no failure was noted. */
const hasWorkedBefore = (batch: Batch, { failedAt }: Lock): boolean =>
  failedAt === undefined && parseSlot(slotOfBatch(batch)).round > 1;
