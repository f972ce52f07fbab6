import { join } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { temporaryFolder } from './lib/temporary-folder.ts';
import { NOTHING_MAY_BE_MISSING } from './test/backends/missing.ts';

// What tests leave goes with this process: those that run them are ended before they could tidy up.
process.env.TMPDIR = temporaryFolder('tests');
// The templates of this run, which test/cfn-lint checks.
process.env.GROUPAGE_TEMPLATES = temporaryFolder('templates');
// Processes that tests start, the command line most of all, are compiled once for all of them.
process.env.NODE_COMPILE_CACHE ??= join(process.env.TMPDIR, 'compiled');

const backend = process.env.GROUPAGE_BACKEND ?? 'embedded';
const deployed = backend === 'ministack' || backend === 'aws';

/** What runs on any backend: a file asks for one and cannot tell which it got. */
const SUITE = ['ports', 'steps', 'aws', 'end-to-end'].map((folder) => `test/${folder}/**/*.test.ts`);
/** What makes stages of its own in the cloud. */
const DEPLOYMENT = ['test/deployment/**/*.test.ts'];
/** What changes nothing about its own process, and so can share it: no mocks of modules, no environment left behind. */
const SHARING = [
  'api',
  'callbacks',
  'cli',
  'client',
  'config',
  'docs',
  'doctor',
  'domain',
  'downstream',
  'fan-out',
  'fuzz',
  'infrastructure',
  'lists',
  'merging',
  'published',
  'security',
  'simulate',
  'verify-aws',
]
  .map((folder) => `test/${folder}/**/*.test.ts`)
  .concat('test/verification/!(judges).test.ts');
/**
 * Tests that take long, and that either repeat at full size what others test small or test what seldom changes:
 * benchmarks, cfn-lint, a burst, advice from a real load, merging and every size in schedules, the bundles, the packed
 * package in an app, the reference, Schemathesis, whole examples, the tutorial, figures of simulations in the docs,
 * hostile texts, how local engines start and end, data of earlier releases, workers in other languages. They run before
 * a release (`.ci/run all`), and whenever a file or folder is named. Long tests in other files use test/at-length.ts.
 */
const AT_LENGTH = [
  'test/bench/**/*.test.ts',
  'test/cfn-lint/*.test.ts',
  'test/console/advice/advise.test.ts',
  'test/docs/{simulating,tutorial}.test.ts',
  'test/examples/{catalog,downsampling,fleet,python-producer}.test.ts',
  'test/fleet/processes.test.ts',
  'test/local/{bundles,burst,dynamodb-engine,killed,killed-caps,killed-folders,sent-at-length,sqs-engine,windows}.test.ts',
  'test/package/**/*.test.ts',
  'test/reference.test.ts',
  'test/schemathesis/**/*.test.ts',
  'test/security/{long-texts,secrets}.test.ts',
  'test/simulate/agreement.test.ts',
  'test/upgrades/**/*.test.ts',
  'test/verification/{merging,sizes}.test.ts',
  'test/workers/*.test.ts',
];
const isAtLength = process.argv.some((argument) => argument.startsWith('test/'));
process.env.GROUPAGE_AT_LENGTH = isAtLength ? '1' : '0';
/** What reads records that other tests of the run left. */
const AFTERWARDS = ['test/permissions/permissions.test.ts', 'test/cfn-lint/*.test.ts'];

/** What a backend is not asked. */
const NOT_ASKED: Readonly<Record<string, readonly string[]>> = {
  // The ports are tried there, and the flows that depend on an engine's queues. The others run embedded and deployed. It
  // counts the units of a transaction twice, unlike AWS.
  containers: [
    'test/end-to-end/{bisect,callbacks,doctor,failures,fan-out-tasks,list-triggers,lists,on-call,pauses}.test.ts',
    'test/steps/**/*.test.ts',
    'test/aws/list-cost.test.ts',
  ],
  // A hundred tasks are looked up at once, again and again: there that takes a hundred processes. And single steps, which
  // run on the other engines: there they run in functions, end to end. And it reports one read unit for any query, and none
  // for reads of many keys.
  ministack: [
    'test/end-to-end/bisect.test.ts',
    'test/steps/**/*.test.ts',
    'test/aws/{fleet,eventual-read}-cost.test.ts',
  ],
  // A queue that was deleted may take messages for another minute, and is not made again before.
  aws: ['test/end-to-end/callbacks.test.ts'],
};

const suite: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: backend,
    include: deployed ? [...SUITE, ...DEPLOYMENT] : SUITE,
    exclude: [...(NOT_ASKED[backend] ?? [])],
    globalSetup: 'test/backends/setup.ts',
    // Half of what most files take is loading the SDK and the CDK: once for each worker. Files share no engine for that:
    // each has its own, or names of its own.
    isolate: false,
    // A deployed stack has one downstream, for one file at a time.
    fileParallelism: !deployed,
  },
};
/** Everything else needs no backend, and runs with the default one. */
const parts: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'parts',
    include: ['test/**/*.test.ts'],
    exclude: [...SUITE, ...DEPLOYMENT, ...SHARING, ...AFTERWARDS, ...(isAtLength ? [] : AT_LENGTH)],
  },
};
/** The SDK and the CDK are loaded once for each worker here too; templates, with their bundles, are made once. */
const sharing: TestProjectInlineConfiguration = {
  extends: true,
  test: { name: 'parts that share', include: SHARING, exclude: isAtLength ? [] : AT_LENGTH, isolate: false },
};
const afterwards: TestProjectInlineConfiguration = {
  extends: true,
  test: { name: 'afterwards', include: AFTERWARDS, exclude: isAtLength ? [] : AT_LENGTH, sequence: { groupOrder: 1 } },
};

/** `--mode faults`: real faults in full; `npm test` has a handful of kills. */
const faults: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'faults',
    include: ['test/faults/**/*.test.ts'],
    env: { GROUPAGE_FAULT_KILLS: process.env.GROUPAGE_FAULT_KILLS ?? '50' },
  },
};
const usual = backend === 'embedded' ? [suite, sharing, parts, afterwards] : [suite];

export default defineConfig(({ mode }) => ({
  test: {
    // Not what a test should take: what none takes that goes on, on a machine with other work to do.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    // More than cores: a test waits for its engines, its handlers and the clock for most of its time. CI runs other
    // tests beside these.
    maxWorkers: NOTHING_MAY_BE_MISSING ? 3 : 4,
    projects: mode === 'faults' ? [faults] : usual,
  },
}));
