import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../lib/temporary-folder.ts';

const SUMMARY = join(import.meta.dirname, '../scripts/summary.mjs');
const folder = temporaryFolder('summary');

const passed = { status: 'passed', fullName: 'a' };
const file = (status: string, assertionResults: readonly object[]) => ({ name: 'a.test.ts', status, assertionResults });

type Run = readonly [report: unknown, status: number];

/** The output for these runs, and the exit status. */
const sayingsOf = async (...runs: readonly Run[]) => {
  const args = runs.map(([report, status], index) => {
    const path = join(folder, `${index}.json`);
    if (report !== undefined) writeFileSync(path, typeof report === 'string' ? report : JSON.stringify(report));
    return `${report === undefined ? join(folder, 'none.json') : path}=${status}`;
  });
  const ended = await promisify(execFile)(process.execPath, [SUMMARY, ...args]).then(
    ({ stdout }) => ({ stdout, code: 0 }),
    ({ stdout, code }: { stdout: string; code: number }) => ({ stdout, code }),
  );
  return { lines: ended.stdout.trim().split('\n'), code: ended.code };
};
/** The last line of the output, and the exit status. */
const summaryOf = async (...runs: readonly Run[]) => {
  const { lines, code } = await sayingsOf(...runs);
  return [lines.at(-1), code];
};

describe('the last line of a CI run', () => {
  it('counts the tests of every run', async () => {
    const report = { testResults: [file('passed', [passed, passed])] };
    expect(await summaryOf([report, 0], [report, 0])).toEqual(['4 passed, 0 failed', 0]);
  });

  it.each([
    ['a test that failed', { testResults: [file('failed', [passed, { ...passed, status: 'failed' }])] }, 1],
    ['a test that was skipped', { testResults: [file('passed', [passed, { ...passed, status: 'skipped' }])] }, 0],
    ['an error in clean-up after passed tests', { testResults: [file('failed', [passed])] }, 1],
    ['a run that failed outside its tests', { testResults: [file('passed', [passed])] }, 1],
  ])('counts %s', async (_, report, status) => {
    expect(await summaryOf([report, status])).toEqual(['1 passed, 1 failed', 1]);
  });

  it.each([
    ['a missing report', undefined],
    ['a truncated report', '{"testResu'],
    ['an empty report', {}],
    ['a file without its tests', { testResults: [{ name: 'a.test.ts', status: 'passed' }] }],
    ['a report without a test', { testResults: [] }],
    ['a file that could not be run', { testResults: [file('failed', [])] }],
  ])('counts %s', async (_, report) => {
    const [line, code] = await summaryOf([{ testResults: [file('passed', [passed])] }, 0], [report, 1]);
    expect(line).toMatch(/^1 passed, [12] failed$/);
    expect(code).toBe(1);
  });

  it('follows the error of each failed test, without its stack', async () => {
    const failureMessages = ['Error: 1 is not 2\n\n- 1\n+ 2\n    at over (here.ts:1:1)\n    at there.ts:2:2'];
    const report = { testResults: [file('failed', [passed, { ...passed, status: 'failed', failureMessages }])] };
    const { lines } = await sayingsOf([report, 1]);
    expect(lines).toEqual(['failed: a', '  Error: 1 is not 2', '  ', '  - 1', '  + 2', '1 passed, 1 failed']);
  });
});
