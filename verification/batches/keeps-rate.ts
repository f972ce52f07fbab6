/** What must hold of calls under a rate, where nothing goes wrong: never more than it allows, and no fewer than there are batches for. */
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

/** By how much a call may come after its moment. */
const LATE: Millis = 3_000;
/** What a batch may wait besides the calls before it: for moments that nobody uses, for its next look, and for queues. */
const SLACK: Millis = MOST_AHEAD + MINUTE + 10_000;

/** @throws Violation */
export const checkRates = (evidence: Evidence): void => {
  for (const [name, calls] of Map.groupBy(evidence.log.calls, ({ call }) => call.operation)) {
    const { circuit } = operationFor(evidence.config, name);
    const hasSlots = evidence.configs.all.some(({ config }) => (totalOf(name)(config) ?? null) !== null);
    const rates = ratesOf(evidence.configs, name);
    const moments = calls.map(({ at }) => at).toSorted((a, b) => a - b);
    checkNotExceeded(rates, momentsUnder(rates, calls));
    // With these it may wait for others.
    if (circuit || hasSlots) continue;
    const firsts = new Map(calls.toReversed().map(({ call, at }) => [call.batchId, at]));
    const batches = [...evidence.tables.batches.values()].filter(({ operation }) => operation === name);
    for (const batch of batches) checkNotLate(evidence, rates, { batches, moments, firsts }, batch);
  }
};

/** Calls a second, from a moment on. */
interface RateChange {
  readonly at: Millis;
  readonly rateLimit: number | null;
}

/** The rate that each configuration allows; none where the operation is not in it. */
const ratesOf = ({ all }: Configurations, operation: Operation['operation']): readonly RateChange[] =>
  all.map(({ from, config }) => ({ at: from, rateLimit: operationNamed(config, operation)?.rateLimit ?? null }));

/** How long before its first call an attempt's function may have begun, with the configuration of then: it may sleep in between. */
const BEFORE_CALL: Millis = NAP + 1_000;

/** When calls were made, but for those that an attempt made which had begun under an earlier rate: it has its moment already. */
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
 * However many batches there are: no more calls in any span than the rates had room for, and what one may be late. A span
 * without a rate has room for any.
 */
const checkNotExceeded = (rates: readonly RateChange[], moments: readonly Millis[]): void => {
  if (rates.every(({ rateLimit }) => rateLimit === null)) return;
  for (const [index, at] of moments.entries())
    for (const [further, later] of moments.slice(index).entries()) {
      const room = freeSlotBetween(rates, at, later);
      demand(further <= room, 'calls keep the rate', { at, further, later, room, rates });
    }
};

/** Calls that there is room for from `from` to `to`, were all of them late. */
const freeSlotBetween = (rates: readonly RateChange[], from: Millis, to: Millis): number => {
  let [room, highest] = [0, 0];
  for (const [index, { at, rateLimit }] of rates.entries()) {
    const until = rates[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    // A function that began before a change goes on with what it has.
    if (until + LATE < from || at > to) continue;
    if (rateLimit === null) return Number.POSITIVE_INFINITY;
    room += (Math.max(0, Math.min(until, to) - Math.max(at, from)) * rateLimit) / 1_000;
    // The first call of a new line does not wait for a gap of it.
    if (at >= from) room += 1;
    highest = Math.max(highest, rateLimit);
  }
  return room + (highest * LATE) / 1_000;
};

interface Calls {
  readonly batches: readonly Batch[];
  readonly moments: readonly Millis[];
  /** Of each batch. */
  readonly firsts: ReadonlyMap<Batch['id'], Millis>;
}

/** Counted from when nothing holds the batch up but the calls before it. */
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
  // What is cancelled, or done already, lets its moment pass.
  const unused = batches.length - firsts.size;
  const others = moments.filter((at) => at > from && at < first).length + unused;
  const needed = rateLimit === null ? 0 : (others * 1_000) / rateLimit;
  demand(first <= from + needed + SLACK, 'a batch waits for its rate no longer than the calls before it need', {
    id,
    from,
    first,
    others,
    rateLimit,
  });
};
