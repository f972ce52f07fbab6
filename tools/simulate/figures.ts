/** Figures that compare simulated policies, and their formats in reports. */
import type { Millis } from '../../src/domain/ids.ts';
import { costOf } from './cost.ts';
import type { OperationOutcome, Outcome } from './outcome.ts';
import type { Platform } from './platform.ts';

export interface Figures {
  /** Time from a task's send to its first call, in ms. */
  readonly wait: {
    readonly mean: number;
    readonly p50: number;
    readonly p95: number;
    readonly p99: number;
    readonly max: number;
  };
  readonly calls: number;
  readonly callsPerHour: number;
  /** Average fill of batches, 0 to 1. */
  readonly fill: number;
  /** Average number of tasks in a batch. */
  readonly size: number;
  /** Costs per day, in US dollars. */
  readonly perDay: number;
  readonly perMillion: number;
}

const HOUR = 3_600_000;

/**
 * @param operation operation of the waits, calls and fill; the costs are for the whole trace
 * @throws NothingToCompare
 */
export const figuresOf = (outcome: Outcome, operation: string, surroundings: Platform): Figures => {
  const found = outcome.operations.find((each) => each.operation === operation);
  const { perDay, perMillion } = costOf(outcome, surroundings);
  if (!found || found.calls === 0 || perDay === null || perMillion === null)
    throw new NothingToCompare(operation, outcome);
  const { mean, p50, p95, p99, max } = found.waits;
  return {
    wait: { mean, p50, p95, p99, max },
    calls: found.calls,
    callsPerHour: callsPerHour(found, outcome.sentOver),
    fill: found.fill,
    size: found.sizes.mean,
    perDay,
    perMillion,
  };
};

/** Calls per hour over the time of the tasks, or over the time of the calls if that is longer. @param sentOver above 0 */
export const callsPerHour = (
  { calls, calledOver }: Pick<OperationOutcome, 'calls' | 'calledOver'>,
  sentOver: Millis,
): number => (calls * HOUR) / Math.max(sentOver, calledOver);

/** A trace without calls, or in which all tasks have the same time, has no rates. */
export class NothingToCompare extends Error {
  override readonly name = 'NothingToCompare';
  constructor(operation: string, { rejections }: Outcome) {
    const why = rejections.length > 0 ? `: ${rejections.join('; ')}` : '';
    super(
      `to compute rates, the simulation needs at least two tasks of ${operation} that are sent at different times and included in a call${why}`,
    );
  }
}

/** Rounds to three digits, but never rounds digits before the decimal point. */
const digits = (value: number): string =>
  value.toLocaleString('en', { maximumSignificantDigits: value < 1_000 ? 3 : Math.ceil(Math.log10(value + 1)) });

const UNITS: readonly (readonly [least: Millis, one: Millis, name: string])[] = [
  [2 * 86_400_000, 86_400_000, 'd'],
  [2 * 3_600_000, 3_600_000, 'h'],
  [120_000, 60_000, 'min'],
  [1_000, 1_000, 's'],
];

/** `250 ms`, `1.2 s`, `45 min`. */
export const span = (millis: Millis): string => {
  const [, one, name] = UNITS.find(([least]) => millis >= least) ?? [0, 1, 'ms'];
  return `${digits(millis / one)} ${name}`;
};

/** `1,234`. */
export const count = (value: number): string => digits(value < 1_000 ? value : Math.round(value));

/** `$0.0123`, `$0.40`, `$12.30`. */
export const dollars = (value: number): string =>
  `$${value.toLocaleString('en', value > 0 && value < 0.1 ? { maximumSignificantDigits: 3 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;

/** `97%`. */
export const percent = (share: number): string => `${Math.round(share * 100)}%`;
