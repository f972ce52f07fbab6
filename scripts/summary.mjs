/**
 * Prints "N passed, N failed" from vitest's JSON reports; exits with 1 if anything failed, was skipped or did not run.
 *
 *   node scripts/summary.mjs REPORT…
 */
import { existsSync, readFileSync } from 'node:fs';

/** What one report says. A report that is missing, and a file that could not be run, is a failure without a test. */
const read = (path) => {
  if (!existsSync(path)) {
    console.log(`there is no ${path}: that run of the tests did not end`);
    return { tests: [], broken: 1 };
  }
  const { testResults } = JSON.parse(readFileSync(path, 'utf8'));
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  for (const { name, message } of broken) console.log(`could not be run: ${name} ${message}`);
  return { tests: testResults.flatMap(({ assertionResults }) => assertionResults), broken: broken.length };
};

const paths = process.argv.slice(2);
const reports = paths.map(read);
const tests = reports.flatMap((report) => report.tests);
for (const { status, fullName } of tests) if (status !== 'passed') console.log(`${status}: ${fullName}`);

const passed = tests.filter(({ status }) => status === 'passed').length;
const failed = tests.length - passed + reports.reduce((sum, { broken }) => sum + broken, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
