/**
 * Promises about limits, including that of `rateLimit`: calls never exceed them, whatever fails, and no call waits much
 * longer than the calls before it require.
 */
import type { Batch } from '../../src/domain/batches/batch.ts';
import { type Config, longestWait, type Operation, operationNamed } from '../../src/domain/config/resolved.ts';
import type { Millis, Target } from '../../src/domain/ids.ts';
import { type Allowance, hasLeases } from '../../src/domain/limits/bucket.ts';
import { bucketsOf, type Counted } from '../../src/domain/limits/limits.ts';
import { gapOf, latenessOf } from '../../src/domain/limits/line.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { LoggedCall } from './call-log.ts';
import type { Configurations } from './configurations.ts';
import type { Evidence } from './evidence.ts';
import { LED_WITHIN } from './led-in-time.ts';

/**
 * By how much the moments of two calls may be apart from their starts, beyond the lateness that a limit allows, in ms. A
 * process whose clock is wrong knows the store's time only to within a second, and each process of a schedule is new.
 */
const CLOCKS: Millis = 2_300;
/** The time between the last look at the clock and the call, in ms. */
const MOMENT: Millis = 50;
/**
 * How long a function may still use the configuration from before a change: its timeout, and the time for which a line
 * keeps its pace.
 */
const CHANGING: Millis = 3 * MINUTE;

/** A call that counts in a bucket. */
interface Start extends Counted {
  /** Since when the configuration applies. */
  readonly from: Millis;
  readonly logged: LoggedCall;
}

/** @throws Violation */
export const checkLimits = (evidence: Evidence): void => {
  const { log, skew } = evidence;
  const spare = MOMENT + (skew > 0 ? CLOCKS : 0);
  const starts = log.calls.flatMap((logged) => startsOf(evidence, logged));
  // A function that began before the change may still call.
  const settled = starts.filter(({ from, logged }) => from === 0 || logged.at >= from + CHANGING);
  for (const [bucket, all] of Map.groupBy(settled, (start) => `${start.bucket} since ${start.from}`)) {
    const { allows } = all[0] as Start;
    const calls = all.map(({ logged }) => logged).toSorted((a, b) => a.at - b.at);
    checkStarts(bucket, allows, calls, spare);
    checkWeight(evidence, bucket, allows, calls, spare);
    if (!evidence.mayOverlap) checkInProgress(bucket, allows, calls);
  }
};

/** The buckets in which a call counts. The parts of a divided limit are one. */
const wholeBuckets = (config: Config, operation: Operation, target: Target): readonly Counted[] =>
  [...Map.groupBy(bucketsOf(config, operation, target), ({ name }) => name).values()].map((parts) => {
    const [first] = parts as [Counted];
    const burst = parts.reduce((sum, { allows }) => sum + allows.burst, 0);
    const calls = first.allows.calls === null ? null : first.allows.calls * parts.length;
    const inProgress = parts.reduce((sum, { allows }) => sum + (allows.concurrency.calls ?? 0), 0);
    const concurrency = {
      ...first.allows.concurrency,
      ...(first.allows.concurrency.calls === null ? {} : { calls: inProgress }),
    };
    return { ...first, allows: { ...first.allows, calls, burst, concurrency } };
  });

const startsOf = ({ config: first, configs }: Evidence, logged: LoggedCall): readonly Start[] => {
  const { config, from } = inEffectAt(configs, logged.at) ?? { config: first, from: 0 };
  const operation = operationNamed(config, logged.call.operation);
  return operation
    ? wholeBuckets(config, operation, logged.call.target).map((counted) => ({ ...counted, from, logged }))
    : [];
};

const inEffectAt = ({ all }: Configurations, at: Millis) => all.findLast(({ from }) => from <= at);

/**
 * Any number of calls one after another takes as long as the limit requires, except for those that may start at once,
 * and for what two of them may deviate from their moments.
 */
const checkStarts = (bucket: string, allows: Allowance, calls: readonly LoggedCall[], spare: Millis): void => {
  const { calls: most, per, burst } = allows;
  if (most === null) return;
  const moments = calls.map(({ at }) => at);
  const deviation = latenessOf(allows) + spare;
  for (const [index, at] of moments.entries())
    for (const [further, later] of moments.slice(index + 1).entries()) {
      const allowed = ((later - at + deviation) * most) / per + burst - 1;
      demand(further + 1 <= allowed, 'calls stay within their limits', {
        bucket,
        at,
        later,
        calls: further + 2,
        allowed,
      });
    }
};

/** The weight of the calls in any span is within the limit. A call that is heavier than the limit has a span alone. */
const checkWeight = (
  { tables }: Evidence,
  bucket: string,
  allows: Allowance,
  calls: readonly LoggedCall[],
  spare: Millis,
): void => {
  const { weight: most, per } = allows;
  if (most === null) return;
  const span = per - latenessOf(allows) - spare;
  const weighed = calls.map(({ at, call }) => {
    const weight = call.items.reduce((sum, { id }) => sum + (tables.tasks.get(id)?.weight ?? 1), 0);
    return { at, weight: Math.min(weight, most) };
  });
  for (const [index, { at }] of weighed.entries()) {
    const within = weighed.slice(index).filter((each) => each.at < at + span);
    const weight = within.reduce((sum, each) => sum + each.weight, 0);
    demand(weight <= most, 'the weight of calls stays within their limits', { bucket, at, within, most });
  }
};

/** No more calls are in progress than the limit allows. */
const checkInProgress = (bucket: string, { concurrency }: Allowance, calls: readonly LoggedCall[]): void => {
  if (concurrency.calls === null) return;
  for (const { at } of calls) {
    const inProgress = calls.filter((each) => each.at <= at && (each.answered?.at ?? each.at) > at);
    demand(inProgress.length <= concurrency.calls, 'calls in progress stay within their limits', {
      bucket,
      at,
      inProgress: inProgress.map(({ call }) => call.batchId),
    });
  }
};

/**
 * The time that a call may wait in addition to the wait for earlier calls, in ms, without faults: moments that are not
 * used, a change of the limit, which the granter notices within a minute, moments that were granted before it up to a
 * minute ahead, and queues.
 */
const SLACK: Millis = 3 * MINUTE;

/**
 * A batch waits for its limits no longer than the calls before it require, plus {@link SLACK}, or {@link LED_WITHIN}
 * after the last fault.
 * @throws Violation
 */
export const checkWaits = (evidence: Evidence): void => {
  if (evidence.repairedAt === undefined) return;
  const firsts = new Map(evidence.log.calls.toReversed().map((logged) => [logged.call.batchId, logged]));
  const starts = evidence.log.calls.flatMap((logged) => startsOf(evidence, logged));
  const byBucket = Map.groupBy(starts, ({ bucket }) => bucket);
  for (const batch of evidence.tables.batches.values()) {
    const first = firsts.get(batch.id);
    if (first) checkBatch(evidence, byBucket, batch, first);
  }
};

/** The wait counts from the moment when nothing but earlier calls keeps the batch waiting. */
const checkBatch = (
  { configs, pauseEnds, isCalm, repairedAt = 0 }: Evidence,
  starts: ReadonlyMap<string, readonly Start[]>,
  { id, operation: name, target, oldestAt }: Batch,
  { at: first }: LoggedCall,
): void => {
  const inEffect = inEffectAt(configs, first);
  const operation = inEffect && operationNamed(inEffect.config, name);
  if (!inEffect || !operation || !canTell(operation)) return;
  const counted = wholeBuckets(inEffect.config, operation, target);
  if (counted.length === 0 || counted.some(({ allows }) => !isByCalls(allows))) return;
  const from = Math.max(
    oldestAt + longestWait(operation),
    inEffect.from,
    ...pauseEnds.filter((at) => at <= first),
    isCalm ? 0 : repairedAt,
  );
  const needed = counted.map(({ bucket, allows }) => {
    const others = starts.get(bucket)?.filter(({ logged: { at } }) => at > from && at < first) ?? [];
    return (others.length + 1) * gapOf(allows);
  });
  const waited = first - from;
  const most = needed.reduce((sum, each) => sum + each, isCalm ? SLACK : LED_WITHIN);
  demand(waited <= most, 'a call waits for its limits no longer than the calls before it need', { id, waited, most });
};

/**
 * The longest time between two calls under the limits of the schedule, in ms. A Target that was woken for a slot takes it
 * only when it has a moment, and others wait for the slot meanwhile. Infinite under limits of weight or calls in progress.
 */
export const longestGap = ({ configs }: Pick<Evidence, 'configs'>): Millis =>
  Math.max(
    0,
    ...configs.all.flatMap(({ config }) =>
      Object.values(config.operations).flatMap((operation) =>
        wholeBuckets(config, operation, operation.operation as unknown as Target).map(({ allows }) =>
          isByCalls(allows) ? gapOf(allows) : Number.POSITIVE_INFINITY,
        ),
      ),
    ),
  );

/** With a circuit or slots, a batch may wait for other reasons. */
const canTell = ({ circuit, concurrency }: Operation): boolean =>
  circuit === null && concurrency.total === null && concurrency.perTarget === null;

/** Whether the time that calls need follows from their number. */
const isByCalls = (allows: Allowance): boolean => allows.calls !== null && allows.weight === null && !hasLeases(allows);
