/** Runs the tests for deployed stacks in the account. Their downstream listens on this machine, behind the relay. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../lib/temporary-folder.ts';
import type { Millis } from '../../../src/domain/ids.ts';
import { MINUTE } from '../../../src/domain/timings.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { runChild } from '../../run-child.ts';

const ROOT = join(import.meta.dirname, '../../..');

export interface SuiteResult {
  readonly outcome: 'passed' | 'failed' | 'not run';
  /** In a sentence. */
  readonly summary: string;
  /** Names of the failed tests. */
  readonly failures: readonly string[];
}

export interface SuiteRun {
  /** Names the stages of the tests. */
  readonly id: string;
  readonly account: string;
  readonly region: string;
  /** URL at which functions reach the tests' downstream, and its port on this machine. */
  readonly downstreamUrl: string;
  readonly downstreamPort: number;
  /** Files of tests. Empty: all. */
  readonly files: readonly string[];
}

/** Longest duration of the tests. */
const PATIENCE: Millis = 90 * MINUTE;

/** @param interrupted ends the tests, which then remove their stages. */
export const runSuite = async (run: SuiteRun, interrupted: AbortSignal): Promise<SuiteResult> => {
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(PATIENCE)]);
  const report = join(temporaryFolder('suite'), 'report.json');
  const args = ['run', ...run.files, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const program = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const status = await runChild([program, ...args], { cwd: ROOT, env: environmentOf(run), signal });
  if (interrupted.aborted) return notRun('the run was interrupted');
  if (signal.aborted)
    return { outcome: 'failed', summary: `The tests did not end within ${PATIENCE / MINUTE} minutes.`, failures: [] };
  return resultOf(report, status);
};

const environmentOf = ({ id, account, region, downstreamUrl, downstreamPort }: SuiteRun): Record<string, string> => ({
  GROUPAGE_BACKEND: 'aws',
  GROUPAGE_AWS_RUN: id,
  GROUPAGE_AWS_ACCOUNT: account,
  AWS_REGION: region,
  GROUPAGE_AWS_DOWNSTREAM_URL: downstreamUrl,
  GROUPAGE_AWS_DOWNSTREAM_PORT: String(downstreamPort),
});

export const notRun = (why: string): SuiteResult => ({ outcome: 'not run', summary: `Not run: ${why}.`, failures: [] });

/** The parts of the report of Vitest that are used. */
interface Reported {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly success: boolean;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

const resultOf = (file: string, status: number | null): SuiteResult => {
  let reported: Reported;
  try {
    reported = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    return {
      outcome: 'failed',
      summary: `The tests ended with status ${status} and without a report: ${reasonOf(cause)}`,
      failures: [],
    };
  }
  const { numPassedTests, numFailedTests, success, testResults } = reported;
  const failures = testResults.flatMap(({ name, status: ofFile, assertionResults }) => {
    const failed = assertionResults.filter((each) => each.status === 'failed').map(({ fullName }) => fullName);
    // A file whose set-up failed has no failed test.
    return failed.length === 0 && ofFile === 'failed' ? [name.slice(name.indexOf('/test/') + 1)] : failed;
  });
  return {
    outcome: success && status === 0 ? 'passed' : 'failed',
    summary: `${numPassedTests} tests passed, ${numFailedTests} failed.`,
    failures,
  };
};
