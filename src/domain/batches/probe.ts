/** Which batch tests the downstream while a circuit is half-open (O4). Pure. */

import type { CircuitPolicy } from '../config/policies.ts';
import type { Millis } from '../ids.ts';
import { isHalfOpen, type OperationState, type WaitingTarget } from '../operations/slots.ts';
import { MINUTE } from '../timings.ts';
import type { Batch } from './batch.ts';

/**
 * Waiting Targets and batches, the most promising first: those whose last call succeeded, those that have had batches
 * and no failure, and those that failed after earlier successes. Then come those of which nothing is known, in turns the
 * newest and the oldest: the oldest may be the cause, but must not wait for ever. Those that have only failed come last.
 * Of those that failed, sealed batches go first, so that an outage does not seal more and more small batches. Among them
 * the one goes first whose failure is the longest ago, so that all take turns.
 */
export const mostPromising = (waiting: readonly WaitingTarget[]): readonly WaitingTarget[] => {
  const ranked = Map.groupBy(
    waiting.toSorted((a, b) => orderOf(a) - orderOf(b)),
    rankOf,
  );
  return [...ranked.keys()]
    .toSorted((a, b) => a - b)
    .flatMap((rank) => {
      const same = ranked.get(rank) ?? [];
      return rank === UNKNOWN ? inTurns(same) : same;
    });
};

/** The first, the last, the second, the one before the last, … */
const inTurns = <T>(all: readonly T[]): readonly T[] =>
  all.map((_, index) => all[index % 2 === 0 ? index / 2 : all.length - (index + 1) / 2] as T);

/**
 * The Target or batch that tests the downstream: the most promising one. If it may fail again, any of the waiting ones
 * every fourth time, so that none waits for ever.
 *
 * @param random uniform in [0, 1).
 */
export const probeAmong = (waiting: readonly WaitingTarget[], random: number): WaitingTarget | undefined => {
  const ranked = mostPromising(waiting);
  const [first] = ranked;
  if (!first || rankOf(first) <= UNFAILED || random >= ANY) return first;
  return ranked[Math.floor((random / ANY) * ranked.length)];
};

/** The share of tests that are made by any of the waiting ones. */
const ANY = 1 / 4;
/** The last rank of Targets that have worked and not failed. */
const UNFAILED = 1;
const UNKNOWN = 4;

const rankOf = ({ workedAt, failedAt, batch, batches = 0 }: WaitingTarget): number => {
  const hasWorked = workedAt !== undefined;
  if (failedAt !== undefined) return (hasWorked ? 2 : 5) + (batch === undefined ? 1 : 0);
  if (hasWorked) return 0;
  return batches > 0 ? 1 : UNKNOWN;
};

const orderOf = ({ workedAt, failedAt, at }: WaitingTarget): number => failedAt ?? -(workedAt ?? at);

/** The time, in ms, for which batches leave the test to others. */
export const timeForTest = ({ coolDown }: Pick<CircuitPolicy, 'coolDown'>): Millis => Math.min(coolDown, MINUTE) / 2;

/**
 * The time until which a batch leaves the test of a half-open circuit to the batch that was woken for it, and to those
 * that were sealed after the pause. Otherwise many batches that failed before would fail first and open the circuit
 * again, so that no other batch would ever be called.
 */
export const yieldsUntil = (
  { attempt, sealedAt = 0 }: Pick<Batch, 'attempt' | 'sealedAt'>,
  isWoken: boolean,
  state: Pick<OperationState, 'failures' | 'paused' | 'resumedAt'>,
  circuit: CircuitPolicy | null,
): Millis => {
  // The row may still contain a pause whose time is over.
  const since = state.paused?.until ?? state.resumedAt;
  if (circuit === null || since === undefined || !isHalfOpen(state, circuit)) return Number.NEGATIVE_INFINITY;
  const isTest = isWoken || (attempt === 0 && sealedAt >= since);
  return isTest ? Number.NEGATIVE_INFINITY : since + timeForTest(circuit);
};
