/** Prints "N passed, N failed" from vitest's JSON report; exits with 1 if anything failed, was skipped or did not run. */
import { existsSync, readFileSync } from 'node:fs';

const [path = ''] = process.argv.slice(2);
const report = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
const tests = report?.testResults.flatMap(({ assertionResults }) => assertionResults) ?? [];
const passed = tests.filter(({ status }) => status === 'passed').length;
// A file that could not be run has no tests to count, and is a failure all the same.
const broken =
  report?.testResults.filter(({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0)
    .length ?? 1;
const failed = tests.length - passed + broken;

for (const { status, fullName } of tests) if (status !== 'passed') console.log(`${status}: ${fullName}`);
if (!report) console.log('the test runner left no report');
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
