/**
 * Promises about `rateLimit` in schedules without faults: calls never exceed the rate, and a batch does not wait longer
 * than the calls before it require.
 */
import type { Batch } from '../../src/domain/batches/batch.ts';
import { type Operation, operationFor, operationNamed } from '../../src/domain/config/resolved.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { MOST_AHEAD, NAP } from '../../src/domain/operations/call-rate.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { LoggedCall } from './call-log.ts';
import { totalOf } from './caps.ts';
import type { Configurations } from './configurations.ts';
import type { Evidence } from './evidence.ts';

/** The most by which a call may come after its reserved moment, in ms. */
const LATE: Millis = 3_000;
/**
 * The time that a batch may wait in addition to the wait for earlier calls, in ms: reserved moments that are not used,
 * the batch's next check, and queues.
 */
const SLACK: Millis = MOST_AHEAD + MINUTE + 10_000;

/** @throws Violation */
export const checkRates = (evidence: Evidence): void => {
  for (const [name, calls] of Map.groupBy(evidence.log.calls, ({ call }) => call.operation)) {
    const { circuit } = operationFor(evidence.config, name);
    const hasSlots = evidence.configs.all.some(({ config }) => (totalOf(name)(config) ?? null) !== null);
    const rates = ratesOf(evidence.configs, name);
    const moments = calls.map(({ at }) => at).toSorted((a, b) => a - b);
    checkNotExceeded(rates, momentsUnder(rates, calls));
    // With a circuit or slots, a batch may wait for other reasons.
    if (circuit || hasSlots) continue;
    const firsts = new Map(calls.toReversed().map(({ call, at }) => [call.batchId, at]));
    const batches = [...evidence.tables.batches.values()].filter(({ operation }) => operation === name);
    for (const batch of batches) checkNotLate(evidence, rates, { batches, moments, firsts }, batch);
  }
};

/** A rate that applies from a moment on, in calls per second. */
interface RateChange {
  readonly at: Millis;
  readonly rateLimit: number | null;
}

/** The rate in each configuration; null if the configuration does not contain the operation. */
const ratesOf = ({ all }: Configurations, operation: Operation['operation']): readonly RateChange[] =>
  all.map(({ from, config }) => ({ at: from, rateLimit: operationNamed(config, operation)?.rateLimit ?? null }));

/**
 * The longest time from the start of an attempt's function to the attempt's first call, in ms. The function keeps the
 * configuration that it started with, and may sleep before the call.
 */
const BEFORE_CALL: Millis = NAP + 1_000;

/**
 * The moments of calls. Calls of an attempt that began under an earlier rate are left out, because their moments were
 * reserved under that rate.
 */
const momentsUnder = (rates: readonly RateChange[], calls: readonly LoggedCall[]): readonly Millis[] => {
  const began = new Map<string, Millis>();
  const attemptOf = ({ call: { batchId, attempt } }: LoggedCall): string => `${batchId}#${attempt}`;
  for (const each of calls)
    began.set(attemptOf(each), Math.min(each.at, began.get(attemptOf(each)) ?? Number.POSITIVE_INFINITY));
  const isUnder = (at: Millis) => rates.findLastIndex((rate) => rate.at <= at);
  return calls
    .filter((each) => isUnder(each.at) === isUnder((began.get(attemptOf(each)) ?? each.at) - BEFORE_CALL))
    .map(({ at }) => at)
    .toSorted((a, b) => a - b);
};

/**
 * In any span the number of calls is at most what the rates allow, plus what a late call may add. A span without a rate
 * allows any number.
 */
const checkNotExceeded = (rates: readonly RateChange[], moments: readonly Millis[]): void => {
  if (rates.every(({ rateLimit }) => rateLimit === null)) return;
  for (const [index, at] of moments.entries())
    for (const [further, later] of moments.slice(index).entries()) {
      const allowed = callsAllowedBetween(rates, at, later);
      demand(further <= allowed, 'calls stay within rateLimit', { at, further, later, allowed, rates });
    }
};

/** The most calls that the rates allow from `from` to `to`, assuming that any call may be late. */
const callsAllowedBetween = (rates: readonly RateChange[], from: Millis, to: Millis): number => {
  let [allowed, highest] = [0, 0];
  for (const [index, { at, rateLimit }] of rates.entries()) {
    const until = rates[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    // A function that began before the change still uses the configuration from before the change.
    if (until + LATE < from || at > to) continue;
    if (rateLimit === null) return Number.POSITIVE_INFINITY;
    allowed += (Math.max(0, Math.min(until, to) - Math.max(at, from)) * rateLimit) / 1_000;
    // The first call of a new series of reservations does not wait.
    if (at >= from) allowed += 1;
    highest = Math.max(highest, rateLimit);
  }
  return allowed + (highest * LATE) / 1_000;
};

interface Calls {
  readonly batches: readonly Batch[];
  readonly moments: readonly Millis[];
  /** The first call of each batch. */
  readonly firsts: ReadonlyMap<Batch['id'], Millis>;
}

/** The wait of a batch counts from the moment when nothing but earlier calls keeps it waiting. */
const checkNotLate = (
  { pauseEnds }: Evidence,
  rates: readonly RateChange[],
  { batches, moments, firsts }: Calls,
  { id, sealedAt }: Batch,
): void => {
  const first = firsts.get(id);
  if (first === undefined || sealedAt === undefined) return;
  const before = (at: Millis): boolean => at <= first;
  const { at: changedAt, rateLimit } = rates.findLast(({ at }) => before(at)) as RateChange;
  const from = Math.max(sealedAt, changedAt, ...pauseEnds.filter(before));
  // A batch that was cancelled or was already done does not use its reserved moment.
  const unused = batches.length - firsts.size;
  const others = moments.filter((at) => at > from && at < first).length + unused;
  const needed = rateLimit === null ? 0 : (others * 1_000) / rateLimit;
  demand(first <= from + needed + SLACK, 'a batch waits for rateLimit no longer than the calls before it need', {
    id,
    from,
    first,
    others,
    rateLimit,
  });
};
