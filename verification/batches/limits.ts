/** The promise about limits: calls never exceed them, whatever fails. */
import { operationNamed } from '../../src/domain/config/resolved.ts';
import type { Millis } from '../../src/domain/ids.ts';
import type { Allowance } from '../../src/domain/limits/bucket.ts';
import { countedIn, partsOf } from '../../src/domain/limits/limits.ts';
import { latenessOf } from '../../src/domain/limits/line.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { LoggedCall } from './call-log.ts';
import type { Evidence } from './evidence.ts';

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

/** @throws Violation */
export const checkLimits = (evidence: Evidence): void => {
  const { configs, log, skew } = evidence;
  const spare = MOMENT + (skew > 0 ? CLOCKS : 0);
  const starts = log.calls.flatMap((logged) => {
    const { config, from } = configs.all.findLast((each) => each.from <= logged.at) ?? {
      config: evidence.config,
      from: 0,
    };
    const operation = operationNamed(config, logged.call.operation);
    // A function that began before the change may still call.
    if (!operation || (from > 0 && logged.at < from + CHANGING)) return [];
    return countedIn(config, operation, logged.call.target, () => 0)
      .filter(({ allows }) => partsOf(allows) === 1)
      .map(({ bucket, name, allows }) => ({ bucket, name, allows, from, logged }));
  });
  for (const [bucket, all] of Map.groupBy(starts, (start) => `${start.bucket} since ${start.from}`))
    checkStarts(
      bucket,
      (all[0] as (typeof all)[number]).allows,
      all.map(({ logged }) => logged),
      spare,
    );
};

/**
 * Any number of calls one after another takes as long as the limit requires, except for the first of them, and for what
 * two of them may deviate from their moments.
 */
const checkStarts = (bucket: string, allows: Allowance, calls: readonly LoggedCall[], spare: Millis): void => {
  const { calls: most, per, burst } = allows;
  if (most === null) return;
  const moments = calls.map(({ at }) => at).toSorted((a, b) => a - b);
  const deviation = latenessOf(allows) + spare;
  for (const [index, at] of moments.entries())
    for (const [further, later] of moments.slice(index + 1).entries()) {
      const allowed = ((later - at + deviation) * most) / per + burst;
      demand(further + 1 <= allowed, 'calls stay within their limits', {
        bucket,
        at,
        later,
        calls: further + 2,
        allowed,
      });
    }
};
