/** The size and the imports of the functions' bundles. */
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sizeOf } from '../../bench/cold-start/sizes.ts';
import { type BundleFiles, bundleHandlers } from '../../lib/handler-bundles.ts';
import { HANDLERS } from '../../lib/handler-names.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { ROOT } from '../cli/groupage.ts';

const folder = temporaryFolder('bundles-test');
const bundles = bundleHandlers(folder);
/** The content of each file by its path. */
const filesIn = (root: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [relative(root, path), readFileSync(path, 'utf8')]),
  );
const importsIn = (files: BundleFiles) => Object.values(files).flatMap(({ imports }) => imports);

describe.each(HANDLERS)('the bundle of %s', (name) => {
  const files = bundles.get(name) ?? {};
  const inputs = new Set(Object.values(files).flatMap((file) => Object.keys(file.inputs)));

  it('loads less than 430 KB at start', () => {
    const { atStart } = sizeOf(files);
    expect(atStart).toBeGreaterThan(100_000);
    // The SDK and the logger are most of it; the batch handler also needs all rules of retries, slots and fan-outs at each event.
    expect(atStart).toBeLessThan(430_000);
  });

  it("contains all imports but Node.js's own and one for browsers", () => {
    const outside = importsIn(files).flatMap(({ path, external }) => (external ? [path.replace('node:', '')] : []));
    expect(outside.filter((path) => !builtinModules.includes(path) && path !== 'bowser')).toEqual([]);
    for (const { path, external } of importsIn(files)) if (!external) expect(Object.keys(files)).toContain(path);
  });

  it('reads credentials from the environment alone', () => {
    expect([...inputs]).toContain('lambdas/credentials.ts');
    const chain = /credential-provider-|nested-clients|token-providers/;
    expect([...inputs].filter((input) => chain.test(input))).toEqual([]);
  });

  it('has a source map for each of its files', () => {
    const written = readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' });
    const code = written.filter((file) => file.endsWith('.mjs'));
    expect(code.length).toBeGreaterThan(0);
    for (const file of code) {
      expect(written).toContain(`${file}.map`);
      expect(readFileSync(join(folder, name, file), 'utf8')).toMatch(/\/\/# sourceMappingURL=\S+\.mjs\.map\n$/);
    }
  });
});

it('the same sources give the same bundles', () => {
  const again = temporaryFolder('bundles-again');
  bundleHandlers(again);
  expect(filesIn(again)).toEqual(filesIn(folder));
});

it('a file loaded at start and later counts once, at start', () => {
  const file = (bytes: number, imports: readonly [string, 'import-statement' | 'dynamic-import'][]) => ({
    bytes,
    imports: imports.map(([path, kind]) => ({ path, kind })),
    exports: [],
    inputs: {},
  });
  const files: BundleFiles = {
    'x/index.mjs': file(1, [
      ['x/a.mjs', 'import-statement'],
      ['x/late.mjs', 'dynamic-import'],
    ]),
    'x/a.mjs': file(10, [['x/b.mjs', 'import-statement']]),
    'x/b.mjs': file(100, [['x/a.mjs', 'import-statement']]),
    'x/late.mjs': file(1_000, [['x/b.mjs', 'import-statement']]),
    'x/index.mjs.map': file(10_000, []),
  };
  expect(sizeOf(files)).toEqual({ atStart: 111, later: 1_000 });
});

it('the sizes in docs/evidence/cold-starts.md are at most a tenth off', () => {
  const page = readFileSync(join(ROOT, 'docs/evidence/cold-starts.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(.+?)` \| (\d+) \|/gm)].map(
    ([, name, at]) => [name, Number(at) * 1_000] as const,
  );
  expect(rows.map(([name]) => name)).toEqual([...HANDLERS]);
  for (const [name, told] of rows) {
    const { atStart } = sizeOf(bundles.get(name as (typeof HANDLERS)[number]) ?? {});
    expect(Math.abs(told / atStart - 1), name).toBeLessThan(0.1);
  }
});
