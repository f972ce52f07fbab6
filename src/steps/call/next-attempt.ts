/** When a batch's next attempt is due, whether its last one counts, and the parts in which it calls (H5, H8). */

import { halvesOf } from '../../domain/batches/bisect.ts';
import { isProven, mostInVain, proofsAgainst } from '../../domain/batches/suspicion.ts';
import type { RetryPolicy } from '../../domain/config/policies.ts';
import { attemptTime } from '../../domain/config/resolved.ts';
import { delayCeiling, retryDelay } from '../../domain/downstream/retry.ts';
import type { Millis } from '../../domain/ids.ts';
import type { Pause } from '../../domain/operations/slots.ts';
import type { Postponed } from '../../ports/batches.ts';
import type { Machine } from '../../ports/machine.ts';
import { lookAgain } from './hold.ts';
import type { Attempt, Rest, Tally } from './tally.ts';

/** When the next attempt is due, how many attempts count so far, and its parts. */
export type When = Pick<Postponed, 'retryAt' | 'countedAttempts' | 'split' | 'parts'> & {
  readonly isExtended?: boolean;
  readonly inVain?: number;
};

/**
 * When the batch is due next. Undefined if no task is open or no attempt is left.
 *
 * @param run `countedAttempts` is the most that an open item has used
 * @param pause the operation's pause, if every call of the attempt failed.
 */
export const nextAttempt = (
  machine: Pick<Machine, 'now' | 'random'>,
  run: Attempt,
  rest: Rest,
  pause: Pause | undefined,
  tally: Tally,
): When | undefined => {
  const { batch, operation, state, countedAttempts } = run;
  const { retry } = operation;
  const now = machine.now();
  const delay = (after = countedAttempts): Millis => retryDelay(retry, after, machine.random(), pauseAsked(run));
  // A batch that is called whole in between keeps its count. Otherwise it could change between both for ever.
  const isVain = !hasEnded(run, rest, tally);
  const inVain = isVain ? (batch.suspicion?.inVain ?? 0) : 0;
  const next = { ...splitAfter(run, rest), ...(rest.parts ? { parts: rest.parts } : {}), inVain };
  if (rest.cut && hasProgressed(run, rest, tally))
    return {
      retryAt: rest.cut.isLate ? now - 1 : now + delay(),
      countedAttempts: Math.max(0, countedAttempts - 1),
      ...next,
    };
  if (rest.left.length === 0) return undefined;
  // O5. Every item that is left was throttled alone, so the attempt does not count for any of them.
  if (rest.left.every(({ items, throttled }) => throttled?.size === items.length))
    return { retryAt: now + delay(run.attempt), countedAttempts, ...next };
  // While the circuit is open or half-open, an attempt counts only if other calls have succeeded since the batch's earlier
  // failure, or if its answer could not be read, because then the call may have had its effects. A throttled attempt
  // never counts, because the tasks are not at fault (O5).
  const is = rest.failure?.is;
  const isCounted = is !== 'throttled' && (is === 'misread' || isProven(batch, state));
  const countedThen = isCounted ? countedAttempts : countedAttempts - 1;
  const isOneLeft = countedThen < retry.maxAttempts;
  if (pause?.until !== undefined && isOneLeft)
    return {
      retryAt: Math.max(lookAgain(operation, pause.until, now, machine.random()), now + pauseAsked(run)),
      countedAttempts: countedThen,
      ...next,
    };
  // The delay grows with each attempt, so that fewer calls are made.
  if (is === 'throttled') return { retryAt: now + delay(run.attempt), countedAttempts: countedThen, ...next };
  // Another batch has closed the circuit since this attempt began. The attempt called too early.
  if (run.isTest && rest.failure && isOneLeft) return { retryAt: now + delay(), countedAttempts: countedThen, ...next };
  if (rest.parts && hasEvidence(run, tally, 2)) {
    const more = isVain ? inVain + 1 : 0;
    if (more >= mostInVain(retry, openIn(rest))) return undefined;
    return { retryAt: now + afterFault(run, machine, more), countedAttempts: firstOf(retry), ...next, inVain: more };
  }
  const mayCrash = retry.isolate && is === 'failed' && openIn(rest) > 1;
  if (countedAttempts < retry.maxAttempts)
    return {
      retryAt: now + (mayCrash ? afterFault(run, machine, countedAttempts - FIRST) : delay()),
      countedAttempts,
      ...next,
    };
  if (!mayExtend(run, rest)) return undefined;
  const parts = rest.parts ?? halvesOf(rest.left.flatMap(({ items }) => items)).map(({ items }) => items.length);
  return {
    retryAt: now + afterFault(run, machine, 0),
    countedAttempts: firstOf(retry),
    ...next,
    parts,
    isExtended: true,
  };
};

/** H8. The counted attempts while tasks at fault are isolated: that of the whole batch, which each of them has failed. */
export const FIRST = 1;

/** The attempts that are counted then. With only one attempt, the next one must still be left. */
const firstOf = ({ maxAttempts }: Pick<RetryPolicy, 'maxAttempts'>): number => Math.min(FIRST, maxAttempts - 1);

/**
 * H8. The delay after a failed part. Unlike other delays it is never close to 0, because the call may have crashed the
 * downstream.
 */
const afterFault = (run: Attempt, { random }: Pick<Machine, 'random'>, inVain: number): Millis =>
  retryDelay(run.operation.retry, FIRST + inVain, (1 + random()) / 2, pauseAsked(run));

const openIn = ({ left }: Rest): number => left.reduce((sum, { items }) => sum + items.length, 0);

/**
 * H8. Whether a batch without attempts left gets further ones in parts, because other calls succeeded after an earlier
 * failure. This happens once.
 */
const mayExtend = ({ batch, operation: { retry }, state }: Attempt, rest: Rest): boolean =>
  retry.isolate &&
  rest.failure?.is === 'failed' &&
  !batch.suspicion?.isExtended &&
  proofsAgainst(batch, state) > 0 &&
  openIn(rest) > 1;

/** H8. Whether the tasks of a batch that gives up may be at fault. */
export const isSuspected = (run: Attempt, { failure, parts }: Rest, tally: Tally): boolean =>
  run.operation.retry.isolate && (failure?.is === 'failed' || parts !== undefined) && hasEvidence(run, tally, 1);

/**
 * Whether the downstream worked although the batch failed: some members have results, or other calls succeeded after at
 * least `proofs` failures of the batch.
 */
export const hasEvidence = ({ batch, state }: Attempt, { counts }: Tally, proofs: number): boolean =>
  counts.succeeded + counts.failed > 0 || proofsAgainst(batch, state) >= proofs;

/**
 * The size of the parts of the next attempt. Parts never grow again: if the answer for the whole batch was too large,
 * another call for the whole batch would only repeat its effects.
 */
export const splitAfter = ({ batch }: Attempt, { cut, split }: Rest): Pick<Postponed, 'split'> => {
  const sizes = [cut?.split, split, batch.split].filter((size) => size !== undefined);
  return sizes.length === 0 ? {} : { split: Math.min(...sizes) };
};

/**
 * Whether an attempt that was cut short made progress. An attempt without progress counts, so that a batch cannot be
 * cut short endlessly.
 */
const hasProgressed = (run: Attempt, rest: Rest, tally: Tally): boolean =>
  hasEnded(run, rest, tally) || rest.hasTaken || (rest.cut?.split ?? 0) < (run.batch.split ?? run.members.open.length);

/** Whether members ended in this attempt, or were taken over by a job for the first time. */
const hasEnded = ({ batch, members }: Attempt, { pending }: Rest, { counts }: Tally): boolean => {
  const before = members.counts.succeeded + members.counts.failed;
  const known = batch.open || batch.pending ? (batch.counts?.succeeded ?? 0) + (batch.counts?.failed ?? 0) : 0;
  const taken = new Set(batch.pending?.ids);
  return counts.succeeded + counts.failed - before - known > 0 || pending.some((id) => !taken.has(id));
};

/**
 * The pause that the downstream asked for, in ms, up to a limit. Without the limit, the results of a batch's first
 * attempts could be deleted before the batch ends.
 */
export const pauseAsked = ({
  operation,
  countedAttempts,
  asked,
}: Pick<Attempt, 'operation' | 'countedAttempts' | 'asked'>): Millis => {
  const { keepTasks, retry, downstream } = operation;
  const share = keepTasks / retry.maxAttempts;
  const longest = share - attemptTime(downstream.timeout, retry.immediate) - delayCeiling(retry, countedAttempts);
  return Math.min(asked.pause, Math.max(0, longest));
};
