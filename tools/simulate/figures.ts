/** The few figures by which simulated policies are compared, and how reports say them. */
import type { Millis } from '../../src/domain/ids.ts';
import { costOf } from './cost.ts';
import type { OperationOutcome, Outcome } from './outcome.ts';
import type { Platform } from './platform.ts';

export interface Figures {
  /** From when a task was sent until its first call, in ms. */
  readonly wait: {
    readonly mean: number;
    readonly p50: number;
    readonly p95: number;
    readonly p99: number;
    readonly max: number;
  };
  readonly calls: number;
  readonly callsPerHour: number;
  /** 0 to 1. */
  readonly fill: number;
  /** Tasks in a batch, on average. */
  readonly size: number;
  /** In US dollars. */
  readonly perDay: number;
  readonly perMillion: number;
}

const HOUR = 3_600_000;

/**
 * @param operation whose waits, calls and fill they are; costs are of the whole trace
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

/** At the pace of the tasks, or of the calls where those do not keep it. @param sentOver more than 0 */
export const callsPerHour = (
  { calls, calledOver }: Pick<OperationOutcome, 'calls' | 'calledOver'>,
  sentOver: Millis,
): number => (calls * HOUR) / Math.max(sentOver, calledOver);

/** A trace in which nothing was called, or that is of one moment: it has no rates. */
export class NothingToCompare extends Error {
  override readonly name = 'NothingToCompare';
  constructor(operation: string, { rejections }: Outcome) {
    const why = rejections.length > 0 ? `: ${rejections.join('; ')}` : '';
    super(`no two tasks of ${operation} came at different moments and were called about${why}`);
  }
}

/** Three digits, and no more. */
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
