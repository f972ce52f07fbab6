/** What a testbed throws by itself, beside what the steps and the API do. */
import { describeProblems, type Problem } from '../util/problems.ts';

/** The testbed was asked for something that cannot be meant. The message says what to do. */
export class TestbedMisused extends Error {
  override readonly name = 'TestbedMisused';
}

/** The configuration cannot be used: a line for each problem, with its path. */
export class UnusableConfig extends Error {
  override readonly name = 'UnusableConfig';
  readonly problems: readonly Problem[];
  constructor(problems: readonly Problem[]) {
    super(`the configuration cannot be used:\n${describeProblems(problems).replaceAll(/^/gm, '  ')}`);
    this.problems = problems;
  }
}

/** Something that has not ended. */
export interface Unsettled {
  /** The Target whose tasks they are, or the queue whose messages. */
  readonly of: string;
  /** How many tasks, or messages. */
  readonly count: number;
  /** Ids of the first of them. */
  readonly first: readonly string[];
  /** What the first of them waits for, and what the test can do about it. */
  readonly waitsFor: string;
}

/** Not everything has ended, and nothing that is to come would end it, or not within the time that was given. */
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

/** Whether a test's own assertion failed: of node:assert, vitest, chai or jest. What jest runs has an `Error` of its own. */
export const isTestFailure = (cause: unknown): boolean =>
  typeof cause === 'object' &&
  cause !== null &&
  (('name' in cause && cause.name === 'AssertionError') ||
    ('code' in cause && cause.code === 'ERR_ASSERTION') ||
    'matcherResult' in cause);
