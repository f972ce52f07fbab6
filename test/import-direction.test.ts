import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** Importable everywhere: pure code without I/O. */
const DOMAIN = ['src/util', 'src/domain'];
const STEPS = [...DOMAIN, 'src/ports', 'src/steps'];
/** The virtual machine: its clock and random numbers, the stores in memory, and the functions as processes on it. */
const VIRTUAL = ['src/virtual', 'src/memory', 'src/processes'];
/** Code that runs in the user's account, and code that users import. */
const PRODUCT = ['src/', 'lib', 'lambdas'];

/** The answers of the HTTP API. */
const ANSWERS = [
  ...[
    'audit',
    'batches',
    'doctor',
    'fan-outs',
    'fleets',
    'limits',
    'lists',
    'operations',
    'queues',
    'targets',
    'tasks',
  ].map((resource) => `src/api/${resource}/responses`),
  'src/api/shared/answer-schemas',
];
/** What the console's page receives, and how to show it. */
const TOLD_TO_PAGE = [
  ...ANSWERS,
  'tools/task-options',
  'tools/limit-words',
  'tools/lower-bounds',
  'tools/work-left',
  'tools/console/server/shapes',
  'src/domain/events/metrics',
  'src/domain/operations/notices',
];
const PAGE = 'tools/console/page/src';

/**
 * The folders from which a folder's files may import beside their own, the most specific first. A folder includes its
 * subfolders. In the package, only `bin` and `tools` import tools. Only benchmarks and tests import verification.
 */
const RULES: Readonly<Record<string, readonly string[]>> = {
  // Code that runs in the user's account.
  'src/util': [],
  'src/domain': ['src/util'],
  'src/ports': DOMAIN,
  'src/steps': STEPS,
  'src/rows': [...DOMAIN, 'src/ports'],
  'src/aws': [...DOMAIN, 'src/ports', 'src/rows'],
  'src/downstreams': DOMAIN,
  'src/destinations': [...DOMAIN, 'src/ports', 'src/aws', 'src/downstreams'],
  'src/api': STEPS,
  lambdas: [...STEPS, 'src/aws', 'src/downstreams', 'src/destinations', 'src/api'],
  lib: [...DOMAIN, 'src/node'],
  // Code that users import.
  'src/node': [],
  'src/config': [...DOMAIN, 'src/node'],
  'src/client': [...DOMAIN, 'src/aws', 'src/node'],
  'src/fleet': [...DOMAIN, 'src/ports', 'src/aws', 'src/node'],
  'src/virtual': [...DOMAIN, 'src/ports'],
  'src/memory': [...DOMAIN, 'src/ports', 'src/virtual'],
  'src/processes': [...STEPS, 'src/rows', 'src/virtual', 'src/memory'],
  'src/testing': [...STEPS, ...VIRTUAL, 'src/api', 'src/client', 'src/node'],
  // Code that a person runs.
  [`${PAGE}/model`]: [`${PAGE}/base/format`, `${PAGE}/base/router`, ...TOLD_TO_PAGE],
  'tools/console/page': [...TOLD_TO_PAGE, 'src/util/json-text', 'src/util/percent'],
  'tools/simulate': [...STEPS, ...VIRTUAL, 'src/rows'],
  'tools/contract': ['src/', 'tools/'],
  tools: [...PRODUCT, 'tools/', 'examples'],
  bin: [...PRODUCT, 'tools/'],
  // Code for verification.
  verification: [...STEPS, ...VIRTUAL, 'src/fleet'],
  bench: [...PRODUCT, 'tools/', 'verification', 'examples', 'test/factories'],
  examples: [...PRODUCT, 'tools/', 'bench'],
  scripts: [...PRODUCT, 'tools/'],
};

const sources = (): string[] =>
  ['bin', 'lib', 'lambdas', 'src', 'tools', 'verification', 'bench', 'examples', 'scripts'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.[cm]?ts$/.test(file) && !file.includes('node_modules'))
      .map((file) => join(folder, file)),
  );

const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
/** The files of this repository that a file imports, statically or dynamically, with or without names. */
const importsOf = (
  file: string,
  pattern = /(?:from|import)\s*\(?\s*['"`](\.{1,2}\/[^'"`]+)['"`]|URL\(\s*['"`](\.{1,2}\/[^'"`]+\.[cm]?[jt]s)['"`]/g,
): string[] =>
  [...textOf(file).matchAll(pattern)].map(([, path, ofUrl]) =>
    relative(ROOT, resolve(ROOT, dirname(file), path ?? ofUrl ?? '')),
  );
/** Imports of more than types. */
const loadedBy = (file: string): string[] => [
  ...importsOf(file, /^(?:import|export) (?!type )[^;'=]*'(\.{1,2}\/[^']+)'/gm),
  ...importsOf(file, /import\(\s*'(\.{1,2}\/[^']+)'/g),
];
/** The packages from which a file imports more than types. */
const packagesOf = (file: string): string[] =>
  [...textOf(file).matchAll(/^(?:import|export) (?!type )[^;'=]*\bfrom '([a-z@][^']*)'/gm)].map(
    ([, name = '']) => name,
  );

const isIn = (file: string, name: string): boolean =>
  file.startsWith(name.endsWith('/') ? name : `${name}/`) || file === `${name}.ts`;

it('a folder imports only from the folders that its rule names', () => {
  const wrong = sources().flatMap((file) => {
    const [folder, may] = Object.entries(RULES).find(([name]) => isIn(file, name)) ?? [];
    if (!folder || !may) return [`${file}: no rule says what it may import`];
    return importsOf(file)
      .filter((imported) => ![folder, ...may].some((name) => isIn(imported, name)))
      .map((imported) => `${file} must not import ${imported}`);
  });
  expect(wrong).toEqual([]);
});

it("the functions and the page import the API's answers as types only", () => {
  const isOfAnswers = (file: string): boolean => /^src\/api\/(?:[\w-]+\/responses|shared\/described)\.ts$/.test(file);
  const wrong = sources()
    .filter((file) => (isIn(file, PAGE) || isIn(file, 'src')) && !isOfAnswers(file))
    .filter((file) => loadedBy(file).some(isOfAnswers));
  expect(wrong).toEqual([]);
  expect(loadedBy('tools/cli/shared/answers.ts').filter(isOfAnswers)).toHaveLength(11);
});

it('the domain is pure: no clock, randomness, environment, or package with I/O', () => {
  const files = sources().filter((file) => isIn(file, 'src/domain') || isIn(file, 'src/util'));
  expect(files.length).toBeGreaterThan(80);
  const allowed = ['zod', 'zod/mini', 'node:crypto', 'p-limit'];
  const asking =
    /Date\.now|new Date\(\)|Math\.random|performance\.now|setTimeout|setInterval|\bfetch\(|\bprocess\.|\bimport\(|randomUUID|randomBytes/;
  const wrong = files.flatMap((file) => [
    ...packagesOf(file).filter((name) => !allowed.includes(name)),
    ...(
      textOf(file)
        .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
        .match(asking) ?? []
    ).map((found) => `${file}: ${found}`),
  ]);
  expect(wrong).toEqual([]);
});

it('test kits and workers load no AWS SDK without need', () => {
  const reached = (file: string, seen = new Set<string>([file])): Set<string> => {
    for (const next of loadedBy(file)) if (!seen.has(next)) reached(next, seen.add(next));
    return seen;
  };
  const packages = (file: string) => [...reached(file)].flatMap(packagesOf).filter((name) => /^@aws|^aws-/.test(name));
  expect(packages('src/testing/index.ts')).toEqual([]);
  expect(packages('src/processes/process.ts')).toEqual([]);
  expect(packages('src/client/client.ts')).not.toEqual([]);
});

/** Code of the product and of verification; examples and benchmarks import it like other users. */
const isOurs = (file: string): boolean => !/^(?:bench|examples|scripts)\//.test(file);
const isWithin = (folder: string, outer: string): boolean => `${folder}/`.startsWith(`${outer}/`);

it('no folder imports itself through another, except a folder and its subfolder', () => {
  const imports = new Map<string, Set<string>>();
  for (const file of sources().filter(isOurs))
    for (const imported of importsOf(file).filter(isOurs))
      if (!isWithin(dirname(file), dirname(imported)) && !isWithin(dirname(imported), dirname(file)))
        imports.set(dirname(file), (imports.get(dirname(file)) ?? new Set()).add(dirname(imported)));
  const reached = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next of imports.get(from) ?? []) if (!seen.has(next)) reached(next, seen.add(next));
    return seen;
  };
  const isAlone = (folder: string) => !reached(folder).has(folder);
  const circles = [...imports.keys()].filter((folder) => !isAlone(folder));
  expect(circles).toEqual([]);
});

it('the import rules see existing imports', () => {
  expect(importsOf('src/steps/lead/group.ts')).toContain('src/domain/batches/lock.ts');
  expect(importsOf('tools/local/example.ts')).toContain('examples/flights/downstream.ts');
  expect(sources().length).toBeGreaterThan(80);
});
