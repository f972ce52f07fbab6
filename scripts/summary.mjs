/**
 * Prints "N passed, N failed" from vitest's JSON reports; exits with 1 if anything failed, was skipped or did not run.
 *
 *   node scripts/summary.mjs REPORT=STATUS…
 *
 * STATUS is the exit status of the run that writes the report. Failures without a failed test count too: a run that failed
 * although no test did (an error between tests or in a clean-up), and a report that is missing, invalid or empty.
 */
import { readFileSync } from 'node:fs';

/** @returns the tests of a report, and other failures as texts. */
const read = (path, status) => {
  try {
    return judged(JSON.parse(readFileSync(path, 'utf8')).testResults, path, status);
  } catch (cause) {
    return { tests: [], wrong: [`${path} cannot be read (${cause.message}): its test run did not finish`] };
  }
};

/** @param results vitest's results, by file */
const judged = (results, path, status) => {
  const tests = results.flatMap(({ assertionResults }) => assertionResults);
  const failedTests = tests.some((test) => test.status === 'failed');
  const broken = results.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  const wrong = broken.map(({ name, message }) => `${name}: ${message || 'failed outside its tests'}`);
  if (tests.length === 0) wrong.push(`${path} contains no test`);
  if (status !== '0' && !failedTests && wrong.length === 0)
    wrong.push(`the run of ${path} exited with status ${status} although no test failed, see above`);
  return { tests, wrong };
};

/** The error message without its stack trace. */
const firstLines = (message) => {
  const [said = ''] = message.split(/\n\s+at /);
  return `  ${said.slice(0, 1_000).replaceAll('\n', '\n  ')}`;
};

const reports = process.argv.slice(2).map((each) => {
  const [, path = each, status = ''] = /^(.*)=([^=]*)$/.exec(each) ?? [];
  return read(path, status);
});
const tests = reports.flatMap((report) => report.tests);
const wrong = reports.flatMap((report) => report.wrong);
for (const { status, fullName, failureMessages } of tests)
  if (status !== 'passed')
    console.log([`${status}: ${fullName}`, ...(failureMessages ?? []).map(firstLines)].join('\n'));
for (const line of wrong) console.log(`failed: ${line}`);

const passed = tests.filter(({ status }) => status === 'passed').length;
const failed = tests.length - passed + wrong.length;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
