/** Runs the examples of the guide, as a user of the package would. */
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { NODE, ROOT } from '../cli/groupage.ts';
import { type Block, blocksOf } from '../docs/blocks.ts';

/** Within the repository, so that packages are found; ignored by Git. */
const FOLDER = join(ROOT, '.cache', `guide-${process.pid}`);
const BLOCKS = blocksOf('docs/how-to/test-your-operations.md').filter(
  (block): block is Block & { readonly title: string } => block.language === 'ts' && block.title !== undefined,
);

const write = (file: string, text: string): void => {
  mkdirSync(dirname(join(FOLDER, file)), { recursive: true });
  writeFileSync(join(FOLDER, file), text);
};

/** The output of a command, and whether it succeeded. */
const run = (...args: string[]): Promise<{ readonly isContent: boolean; readonly said: string }> =>
  new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: '1', VITEST: '', NODE_OPTIONS: '' };
    execFile(NODE, args, { cwd: FOLDER, env, maxBuffer: 2 ** 24 }, (error, stdout, stderr) =>
      resolve({ isContent: error === null, said: stdout + stderr }),
    );
  });

beforeAll(() => {
  for (const { title, text } of BLOCKS) write(title, text);
  write('package.json', '{"type":"module"}');
  write('vitest.config.ts', 'export default {};');
  const exports = { './testing': './src/testing/index.ts', './config': './src/config/index.ts' };
  write('node_modules/groupage/package.json', JSON.stringify({ name: 'groupage', type: 'module', exports }));
  symlinkSync(join(ROOT, 'src'), join(FOLDER, 'node_modules/groupage/src'));
});
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

it("the guide's examples pass with vitest", async () => {
  const files = BLOCKS.filter(({ title }) => title.startsWith('test/'));
  expect(files).toHaveLength(2);
  const { isContent, said } = await run(join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', FOLDER, 'test/');
  expect(said).toContain(`${files.length} passed (${files.length})`);
  expect(isContent).toBe(true);
});

it("the guide's examples pass with node:test", async () => {
  const files = BLOCKS.flatMap(({ title }) => (title.startsWith('node/') ? [title] : []));
  expect(files).toHaveLength(1);
  const { isContent, said } = await run('--test', ...files);
  expect(said).toMatch(/(#|ℹ) pass 1/);
  expect(isContent).toBe(true);
});

it('the flights example passes', async () => {
  const { isContent, said } = await run('--test', join(ROOT, 'examples/flights/flights.test.ts'));
  expect(said).toMatch(/(#|ℹ) pass 3/);
  expect(isContent).toBe(true);
});
