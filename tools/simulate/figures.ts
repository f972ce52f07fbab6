/** The few figures by which simulated policies are compared. */
import type { Millis } from '../../src/domain/ids.ts';
import { costOf } from './cost.ts';
import type { OperationOutcome, Outcome } from './outcome.ts';
import type { Surroundings } from './surroundings.ts';

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
export const figuresOf = (outcome: Outcome, operation: string, surroundings: Surroundings): Figures => {
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
