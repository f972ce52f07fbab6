/** The TypeScript on the pages compiles against the package's entries. */
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { NODE, ROOT } from '../cli/groupage.ts';
import { type Block, blocksOf, pages } from './blocks.ts';

/** Within the repository, so that packages are found; ignored by Git. */
const FOLDER = join(ROOT, '.cache', `docs-typescript-${process.pid}`);
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

const ENTRIES = {
  groupage: 'lib/index.ts',
  'groupage/client': 'src/client/client.ts',
  'groupage/config': 'src/config/index.ts',
  'groupage/fleet': 'src/fleet/run-fleet.ts',
  'groupage/testing': 'src/testing/index.ts',
};

/** Each page has its own folder, which stands for the repository's root: `./src/…` is found from there. */
const folderOf = (page: string): string => join(FOLDER, page.replaceAll(/[/.]/g, '-'));

const write = (page: string, { title, text, given, at }: Block): void => {
  const file = join(folderOf(page), title ?? `line-${at.split(':')[1]}.ts`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${given ? `${given}\n` : ''}${text}`);
};

const tsconfig = (all: readonly string[]) => ({
  extends: join(ROOT, 'tsconfig.json'),
  compilerOptions: {
    noUnusedLocals: false,
    exactOptionalPropertyTypes: false,
    rootDirs: [ROOT, ...all.map(folderOf)],
    paths: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, [join(ROOT, file)]])),
  },
  include: ['**/*.ts'],
  exclude: [],
});

it('every TypeScript block on the pages compiles', async () => {
  const blocks = pages().flatMap((page) =>
    blocksOf(page).flatMap((block) => (block.language === 'ts' ? [{ page, block }] : [])),
  );
  expect(blocks.length).toBeGreaterThan(30);
  for (const { page, block } of blocks) write(page, block);
  writeFileSync(join(FOLDER, 'tsconfig.json'), JSON.stringify(tsconfig([...new Set(blocks.map(({ page }) => page))])));
  const said = await new Promise<string>((resolve) => {
    const args = [join(ROOT, 'node_modules/typescript/bin/tsc'), '--pretty', 'false', '-p', FOLDER];
    execFile(NODE, args, { cwd: FOLDER, maxBuffer: 2 ** 24 }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
  expect(said).toBe('');
});
