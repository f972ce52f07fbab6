/** The errors that the testbed itself throws. The steps and the API have errors of their own. */
import { describeProblems, type Problem } from '../util/problems.ts';

/** A call to the testbed is invalid. The message says what to do. */
export class TestbedMisused extends Error {
  override readonly name = 'TestbedMisused';
}

/** The configuration is invalid. The message has a line for each problem, with its path. */
export class UnusableConfig extends Error {
  override readonly name = 'UnusableConfig';
  readonly problems: readonly Problem[];
  constructor(problems: readonly Problem[]) {
    super(`the configuration is invalid:\n${describeProblems(problems).replaceAll(/^/gm, '  ')}`);
    this.problems = problems;
  }
}

/** Tasks or messages that have not ended. */
export interface Unsettled {
  /** The Target of the tasks, or the queue of the messages. */
  readonly of: string;
  /** Number of tasks or messages. */
  readonly count: number;
  /** Ids of the first few tasks or messages. */
  readonly first: readonly string[];
  /** What the first task or message waits for, and what the test can do about it. */
  readonly waitsFor: string;
}

/** Some tasks or messages have not ended: no planned event would end them, or none within the time limit. */
export class NotSettled extends Error {
  override readonly name = 'NotSettled';
  readonly unsettled: readonly Unsettled[];
  constructor(why: string, unsettled: readonly Unsettled[]) {
    const lines = unsettled.map(({ of, count, first, waitsFor }) => {
      const more = count > first.length ? ', …' : '';
      return `  ${of}: ${count} (${first.join(', ')}${more})\n    waits for: ${waitsFor}`;
    });
    super([why, ...lines].join('\n'));
    this.unsettled = unsettled;
  }
}

/**
 * Whether an error is a failed assertion of the test (node:assert, vitest, chai or jest). Does not use `instanceof`,
 * because code in jest has an `Error` class of its own.
 */
export const isTestFailure = (cause: unknown): boolean =>
  typeof cause === 'object' &&
  cause !== null &&
  (('name' in cause && cause.name === 'AssertionError') ||
    ('code' in cause && cause.code === 'ERR_ASSERTION') ||
    'matcherResult' in cause);
