/** Which batch tests the downstream while a circuit is half-open (O4). Pure. */

import type { CircuitPolicy } from '../config/policies.ts';
import type { Millis } from '../ids.ts';
import { isHalfOpen, type OperationState, type WaitingTarget } from '../operations/slots.ts';
import type { Batch } from './batch.ts';
import type { Lock } from './lock.ts';

/**
 * Waiting Targets and batches, the most promising first: those whose last call succeeded, those that have had batches
 * and no failure, and those that failed after earlier successes. Then come those of which nothing is known, the one that
 * has begun to wait last first: those before it may be the cause. Those that have only failed come last. Of those that
 * failed, the one goes first whose failure is the longest ago, so that all take turns.
 */
export const mostPromising = (waiting: readonly WaitingTarget[]): readonly WaitingTarget[] =>
  waiting.toSorted((a, b) => rankOf(a) - rankOf(b) || orderOf(a) - orderOf(b));

const rankOf = ({ workedAt, failedAt, batches = 0 }: WaitingTarget): number => {
  const hasWorked = workedAt !== undefined;
  if (failedAt !== undefined) return hasWorked ? 2 : 4;
  if (hasWorked) return 0;
  return batches > 0 ? 1 : 3;
};

const orderOf = ({ workedAt, failedAt, at }: WaitingTarget): number => failedAt ?? -(workedAt ?? at);

/** Whether a batch may test the downstream: it has not failed, or calls for its Target have succeeded. */
export const isPromising = ({ attempt }: Pick<Batch, 'attempt'>, { workedAt }: Pick<Lock, 'workedAt'>): boolean =>
  attempt === 0 || workedAt !== undefined;

/**
 * Until when a batch leaves the test of a half-open circuit to others: to the batch that was woken for it, and to those
 * that were sealed after the pause. Otherwise many batches that failed before would fail first and open the circuit
 * again, so that no other batch would ever be called.
 */
export const yieldsUntil = (
  batch: Pick<Batch, 'attempt' | 'sealedAt'>,
  lock: Pick<Lock, 'workedAt'>,
  isWoken: boolean,
  state: Pick<OperationState, 'failures' | 'paused' | 'resumedAt'>,
  circuit: CircuitPolicy | null,
): Millis => {
  // The row may still contain a pause whose time is over.
  const since = state.paused?.until ?? state.resumedAt;
  if (circuit === null || since === undefined || !isHalfOpen(state, circuit)) return Number.NEGATIVE_INFINITY;
  const isTest = isWoken ? isPromising(batch, lock) : batch.attempt === 0 && (batch.sealedAt ?? 0) >= since;
  return isTest ? Number.NEGATIVE_INFINITY : since + circuit.coolDown / 2;
};
