/**
 * Runs the suite on a backend that a machine may lack: `npm run test:containers`, `npm run test:deploy`. If the
 * backend is missing, a message says so; that is a failure only if nothing may be missing.
 *
 * node scripts/run.mjs test/run.ts BACKEND [ARGUMENT OF VITEST…]
 */
import { javaProblem } from '../tools/local/dynamodb-local.ts';
import { NOTHING_MAY_BE_MISSING } from './backends/missing.ts';

/** The reason why a backend cannot run here. */
const PROBLEMS: Readonly<Record<string, () => Promise<string | undefined>>> = {
  'local-processes': async () => {
    const { localStackProblem } = await import('./backends/engines/localstack.ts');
    return (await javaProblem()) ?? (await localStackProblem());
  },
  containers: async () => (await import('./backends/engines/containers.ts')).containersProblem(),
  ministack: async () => (await import('./backends/engines/python-interpreters.ts')).pythonProblem('3.10+'),
};

const [backend = '', ...args] = process.argv.slice(2);
const problemOf = PROBLEMS[backend];
if (!problemOf) {
  console.error(`usage: node scripts/run.mjs test/run.ts ${Object.keys(PROBLEMS).join('|')} [ARGUMENT…]`);
  process.exit(2);
}
const problem = await problemOf();
if (problem) {
  console.error(`The suite on ${backend} was ${NOTHING_MAY_BE_MISSING ? 'not run' : 'skipped'}: ${problem}`);
  process.exit(NOTHING_MAY_BE_MISSING ? 1 : 0);
}
// From here on this process is Vitest's, which reads its arguments and ends it.
process.env.GROUPAGE_BACKEND = backend;
process.argv = [process.execPath, 'vitest', 'run', ...args];
await import(new URL('../node_modules/vitest/vitest.mjs', import.meta.url).href);
