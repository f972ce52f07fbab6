import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** What every room may use: it asks nothing of the world and decides nothing. */
const DOMAIN = ['src/util', 'src/domain'];
const STEPS = [...DOMAIN, 'src/ports', 'src/steps'];
/** The virtual machine: its clock and chances, the stores in memory, and the functions as processes on it. */
const VIRTUAL = ['src/virtual', 'src/memory', 'src/processes'];
/** What runs in the user's account, and what users import. */
const PRODUCT = ['src/', 'lib', 'lambdas'];

/** What the HTTP API answers. */
const ANSWERS = [
  ...['batches', 'fan-outs', 'fleets', 'lists', 'operations', 'queues', 'targets', 'tasks'].map(
    (resource) => `src/api/${resource}/responses`,
  ),
  'src/api/shared/answer-schemas',
];
/** What the page is told, and how it is to be shown. */
const TOLD_TO_PAGE = [...ANSWERS, 'tools/task-options', 'tools/console/server/shapes', 'src/domain/events/metrics'];
const PAGE = 'tools/console/page/src';

/**
 * Which folders a folder's files may import beside their own, the most particular first. A folder stands for all that is in it.
 * Of the package, only `bin` and `tools` import tools. Only benchmarks and tests import verification.
 */
const RULES: Readonly<Record<string, readonly string[]>> = {
  // What runs in the user's account.
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
  lib: DOMAIN,
  // What users import.
  'src/config': DOMAIN,
  'src/client': [...DOMAIN, 'src/aws'],
  'src/fleet': [...DOMAIN, 'src/ports', 'src/aws'],
  'src/virtual': [...DOMAIN, 'src/ports'],
  'src/memory': [...DOMAIN, 'src/ports', 'src/virtual'],
  'src/processes': [...STEPS, 'src/rows', 'src/virtual', 'src/memory'],
  'src/testing': [...STEPS, ...VIRTUAL, 'src/api', 'src/client'],
  // What a person runs.
  [`${PAGE}/model`]: [`${PAGE}/base/format`, `${PAGE}/base/router`, ...TOLD_TO_PAGE],
  'tools/console/page': [...TOLD_TO_PAGE, 'src/util/json-text'],
  'tools/simulate': [...STEPS, ...VIRTUAL, 'src/rows'],
  'tools/contract': ['src/', 'tools/'],
  tools: [...PRODUCT, 'tools/', 'examples'],
  bin: [...PRODUCT, 'tools/'],
  // What verifies.
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
/** The files of this repository that a file imports: static or not, by name or for what they do alone. */
const importsOf = (
  file: string,
  pattern = /(?:from|import)\s*\(?\s*['"`](\.{1,2}\/[^'"`]+)['"`]|URL\(\s*['"`](\.{1,2}\/[^'"`]+\.[cm]?[jt]s)['"`]/g,
): string[] =>
  [...textOf(file).matchAll(pattern)].map(([, path, ofUrl]) =>
    relative(ROOT, resolve(ROOT, dirname(file), path ?? ofUrl ?? '')),
  );
/** Those of which more is imported than types. */
const loadedBy = (file: string): string[] => [
  ...importsOf(file, /^(?:import|export) (?!type )[^;'=]*'(\.{1,2}\/[^']+)'/gm),
  ...importsOf(file, /import\(\s*'(\.{1,2}\/[^']+)'/g),
];
/** The packages of which a file imports more than types. */
const packagesOf = (file: string): string[] =>
  [...textOf(file).matchAll(/^(?:import|export) (?!type )[^;'=]*\bfrom '([a-z@][^']*)'/gm)].map(
    ([, name = '']) => name,
  );

const isIn = (file: string, name: string): boolean =>
  file.startsWith(name.endsWith('/') ? name : `${name}/`) || file === `${name}.ts`;

it('a folder imports from the folders that its rule names, and from no other', () => {
  const wrong = sources().flatMap((file) => {
    const [folder, may] = Object.entries(RULES).find(([name]) => isIn(file, name)) ?? [];
    if (!folder || !may) return [`${file}: no rule says what it may import`];
    return importsOf(file)
      .filter((imported) => ![folder, ...may].some((name) => isIn(imported, name)))
      .map((imported) => `${file} must not import ${imported}`);
  });
  expect(wrong).toEqual([]);
});

it('what the API answers is known to its functions, and to the page, by its types alone', () => {
  const isOfAnswers = (file: string): boolean => /^src\/api\/(?:[\w-]+\/responses|shared\/described)\.ts$/.test(file);
  const wrong = sources()
    .filter((file) => (isIn(file, PAGE) || isIn(file, 'src')) && !isOfAnswers(file))
    .filter((file) => loadedBy(file).some(isOfAnswers));
  expect(wrong).toEqual([]);
  expect(loadedBy('tools/cli/shared/answers.ts').filter(isOfAnswers)).toHaveLength(9);
});

it('the domain asks nothing of the world: no package but those that only compute, no clock, no chance, no environment', () => {
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

it('what test kits and workers load has no SDK in it that they could do without', () => {
  const reached = (file: string, seen = new Set<string>([file])): Set<string> => {
    for (const next of loadedBy(file)) if (!seen.has(next)) reached(next, seen.add(next));
    return seen;
  };
  const packages = (file: string) => [...reached(file)].flatMap(packagesOf).filter((name) => /^@aws|^aws-/.test(name));
  expect(packages('src/testing/index.ts')).toEqual([]);
  expect(packages('src/processes/process.ts')).toEqual([]);
  expect(packages('src/client/client.ts')).not.toEqual([]);
});

/** What runs in the user's account, on a person's machine, or verifies: examples and benchmarks use it as others do. */
const isOurs = (file: string): boolean => !/^(?:bench|examples|scripts)\//.test(file);
const isWithin = (folder: string, outer: string): boolean => `${folder}/`.startsWith(`${outer}/`);

it('no folder reaches itself through another, but for a folder and its own subfolder', () => {
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

it('the rules see the imports that there are', () => {
  expect(importsOf('src/steps/lead/group.ts')).toContain('src/domain/batches/lock.ts');
  expect(importsOf('tools/local/main.ts')).toContain('examples/flights/downstream.ts');
  expect(sources().length).toBeGreaterThan(80);
});
