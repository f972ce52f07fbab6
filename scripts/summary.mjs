/**
 * Prints "N passed, N failed" from vitest's JSON reports; exits with 1 if anything failed, was skipped or did not run.
 *
 *   node scripts/summary.mjs REPORT=STATUS…
 *
 * STATUS is how the run ended that had to leave the report. What has no test to be counted by is a failure all the same:
 * a run that failed though none of its tests did (an error between tests, or while tidying up), a report that is missing,
 * broken or empty.
 */
import { readFileSync } from 'node:fs';

/** @returns the tests of a report, and what else went wrong, in words. */
const read = (path, status) => {
  try {
    return judged(JSON.parse(readFileSync(path, 'utf8')).testResults, path, status);
  } catch (cause) {
    return { tests: [], wrong: [`${path} cannot be read (${cause.message}): that run of the tests did not end`] };
  }
};

/** @param results what vitest says of each file */
const judged = (results, path, status) => {
  const tests = results.flatMap(({ assertionResults }) => assertionResults);
  const failedTests = tests.some((test) => test.status === 'failed');
  const broken = results.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  const wrong = broken.map(({ name, message }) => `${name}: ${message || 'failed beside its tests'}`);
  if (tests.length === 0) wrong.push(`${path} has no test in it`);
  if (status !== '0' && !failedTests && wrong.length === 0)
    wrong.push(`the run of ${path} ended with ${status}, though no test failed: see above`);
  return { tests, wrong };
};

/** What went wrong, without the way there. */
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
