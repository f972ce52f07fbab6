import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** What decides, without asking the world. */
const PURE = [
  'src/at-once',
  'src/byte-lines',
  'src/group-by',
  'src/waves',
  'src/sending',
  'src/resolvers',
  'src/release',
  ...[
    'ids',
    'json-text',
    'limits',
    'target',
    'problems',
    'timings',
    'policy',
    'delay',
    'expiry',
    'lock',
    'page',
    'messages',
    'rejection',
    'findings',
    'task',
    'batch',
    'slots',
    'slot-pages',
    'bisect',
    'call-rate',
    'register-message',
    'age',
    'events',
  ].map((name) => `src/batching/${name}`),
  ...['resolved', 'endpoints', 'duration', 'hints', 'unknown-keys', 'schema'].map((name) => `src/config/${name}`),
  'src/config/sections/',
  ...['callback', 'event', 'places', 'share', 'store', 'way'].map((name) => `src/callbacks/${name}`),
  ...[
    'downstream',
    'execution-event',
    'aws-failure',
    'http-answer',
    'lambda-answer',
    'no-answer',
    'retry',
    'secret',
    'signature',
    'trace',
    'verdict',
  ].map((name) => `src/downstream/${name}`),
  ...['inputs', 'jobs', 'merge', 'answers'].map((name) => `src/merging/${name}`),
  ...['event', 'fan-out', 'ids', 'store', 'tree'].map((name) => `src/fan-out/${name}`),
  ...['ids', 'list', 'store', 'trigger-message'].map((name) => `src/deferred/${name}`),
  ...['ids', 'fleet', 'timings', 'silence', 'balance', 'decide', 'store', 'events', 'view'].map(
    (name) => `src/fleet/${name}`,
  ),
];
const FAN_OUT = 'src/fan-out/';
const DEFERRED = 'src/deferred/';
const FLEET = 'src/fleet/';
const FLEET_RUNTIME = 'src/fleet/runtime/';
const STEPS = 'src/batching/';

/** What the page says and draws, without a browser. */
const PAGE_PURE = ['console/src/model/', 'console/src/format', 'console/src/router'];
/** The shapes of what the page is told. */
const TOLD_TO_PAGE = ['src/console/shapes', 'src/cli/shapes', 'src/metrics'];

/** Who may import what, the most particular first: each file is held to the first rule that fits it. */
const RULES: readonly { readonly files: readonly string[]; readonly may: readonly string[] }[] = [
  { files: PURE, may: PURE },
  {
    files: ['environment', 'outputs', 'failure', 'metrics', 'measure', 'temporary-folder', 'ports', 'within'].map(
      (name) => `src/${name}`,
    ),
    may: [...PURE, 'src/metrics', 'src/ports'],
  },
  { files: [FAN_OUT], may: [...PURE, FAN_OUT, 'src/ports'] },
  { files: [DEFERRED], may: [...PURE, FAN_OUT, DEFERRED, 'src/ports'] },
  { files: [FLEET_RUNTIME], may: [...PURE, FLEET, 'src/aws/'] },
  {
    files: [FLEET],
    may: [...PURE, ...['member', 'heart', 'hands', 'life', 'belonging'].map((name) => `${FLEET}${name}`)],
  },
  { files: [STEPS], may: [...PURE, FAN_OUT, DEFERRED, STEPS, 'src/ports'] },
  {
    files: ['src/callbacks/'],
    may: [...PURE, STEPS, 'src/ports', 'src/callbacks/', 'src/downstream/http-headers'],
  },
  { files: ['src/downstream/', 'src/config/'], may: [...PURE, 'src/config/', 'src/downstream/'] },
  { files: ['src/merging/'], may: [...PURE, 'src/merging/', 'src/ports'] },
  { files: ['src/aws/'], may: [...PURE, 'src/ports', 'src/within', 'src/aws/', 'src/callbacks/deliver'] },
  {
    files: ['src/simulation/'],
    may: [
      ...PURE,
      FAN_OUT,
      DEFERRED,
      FLEET,
      STEPS,
      // What rows there are, and how large: no client.
      ...['item-size', 'batch-rows'].map((name) => `src/aws/${name}`),
      'src/merging/',
      'src/callbacks/',
      'src/ports',
      'src/simulation/',
    ],
  },
  {
    files: ['src/simulate/'],
    may: [
      ...PURE,
      STEPS,
      // What rows there are, and how large: no client.
      ...['item-size', 'task-rows', 'batch-rows'].map((name) => `src/aws/${name}`),
      'src/ports',
      'src/simulation/',
      'src/simulate/',
    ],
  },
  // What is published of all of them, by a script; none of them knows of it.
  { files: ['src/contract/'], may: ['src/'] },
  {
    files: ['src/testing/'],
    may: [
      ...PURE,
      STEPS,
      'src/api/',
      'src/callbacks/deliver',
      'src/callbacks/sharing',
      ...[
        'api-answer',
        'ask',
        'fan-out-calls',
        'fan-out-client',
        'list-client',
        'not-all-sent',
        'send-tasks',
        'sent-tasks',
      ].map((name) => `src/client/${name}`),
      'src/downstream/event',
      'src/ports',
      'src/simulation/',
      'src/testing/',
    ],
  },
  { files: ['src/api/'], may: [...PURE, FAN_OUT, DEFERRED, STEPS, 'src/ports', 'src/api/'] },
  { files: ['src/client/'], may: [...PURE, 'src/aws/', 'src/client/'] },
  {
    files: ['lambdas/'],
    may: [
      ...PURE,
      FAN_OUT,
      STEPS,
      'src/ports',
      'src/aws/',
      'src/api/',
      'src/callbacks/',
      'src/downstream/',
      'src/merging/',
      'src/environment',
      'src/metrics',
      'src/measure',
      'src/within',
      'lambdas/',
    ],
  },
  {
    files: ['lib/'],
    may: [
      'lib/',
      'src/environment',
      'src/outputs',
      'src/metrics',
      'src/temporary-folder',
      'src/config/',
      'src/batching/timings',
      'src/batching/policy',
      'src/batching/problems',
      'src/callbacks/callback',
      'src/callbacks/share',
    ],
  },
  { files: PAGE_PURE, may: [...PAGE_PURE, ...TOLD_TO_PAGE] },
  { files: ['console/'], may: ['console/', ...TOLD_TO_PAGE, 'src/batching/json-text'] },
  {
    files: ['shapes', 'interval', 'totals', 'asked-paths', 'outbox', 'cloudwatch-queries'].map(
      (name) => `src/console/${name}`,
    ),
    may: [...PURE, 'src/metrics', 'src/console/shapes'],
  },
  {
    files: [
      'src/local/',
      'src/console/',
      'src/doctor/',
      'src/cli/',
      'src/account/',
      'src/deploy/',
      'bin/',
      'examples/',
      'bench/',
      'scripts/',
    ],
    may: ['src/', 'lib/', 'lambdas/', 'bench/', 'examples/', 'test/factories/', 'test/simulation/known-bugs/'],
  },
];

const sources = (): string[] =>
  ['bin', 'console', 'lib', 'lambdas', 'src', 'bench', 'examples'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file)),
  );

/** The files of this repository that a file imports, static or not. */
const importsOf = (file: string): string[] =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(/(?:from|import\()\s*'(\.{1,2}\/[^']+)'/g)].map(([, path = '']) =>
    relative(ROOT, resolve(ROOT, dirname(file), path)),
  );

const fits = (file: string, names: readonly string[]): boolean =>
  names.some((name) => (name.endsWith('/') ? file.startsWith(name) : file === `${name}.ts`));

it('imports point one way: pure files → steps and ports → adapters → whoever composes them', () => {
  const wrong = sources().flatMap((file) => {
    const rule = RULES.find(({ files }) => fits(file, files));
    if (!rule) return [`${file}: no rule says what it may import`];
    return importsOf(file)
      .filter((imported) => !fits(imported, rule.may))
      .map((imported) => `${file} must not import ${imported}`);
  });
  expect(wrong).toEqual([]);
});

it('the rules see the imports that there are', () => {
  expect(importsOf('src/batching/group.ts')).toContain('src/batching/lock.ts');
  expect(importsOf('src/local/main.ts')).toContain('examples/flights/downstream.ts');
  expect(sources().length).toBeGreaterThan(80);
});
