import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltPage, builtPage } from '../../tools/console/server/page-build.ts';

describe("the console's page", () => {
  let root: string;
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  const folderOf = (page: BuiltPage): string => {
    if (!page.ok) throw new Error(page.reason);
    return page.folder;
  };
  const built = () => readdirSync(join(root, '.cache/console'));
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'groupage-page-'));
    write('package-lock.json', '{}');
    write('src/domain/events/words.ts', 'export const words = "two";');
    write('src/domain/events/metrics.ts', "export { words } from './words.ts';");
    write(
      'tools/console/page/index.html',
      '<!doctype html><title>one</title><script type="module" src="./src/main.ts"></script>',
    );
    write(
      'tools/console/page/src/main.ts',
      "import { words } from '../../../../src/domain/events/metrics.ts';\ndocument.title = words;",
    );
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it('is built only once for concurrent requests', async () => {
    const folders = (await Promise.all([builtPage(root), builtPage(root)])).map(folderOf);
    expect(new Set(folders).size).toBe(1);
    expect(readFileSync(join(folders[0] ?? '', 'index.html'), 'utf8')).toContain('<title>one</title>');
    expect(folderOf(await builtPage(root))).toBe(folders[0]);
    expect(built()).toHaveLength(1);
  });

  it.each([
    ['tools/console/page/index.html', '<!doctype html><script type="module" src="./src/main.ts"></script>'],
    ['src/domain/events/words.ts', 'export const words = "three";'],
    ['package-lock.json', '{"a": 1}'],
  ])('is built again when %s has changed', async (file, text) => {
    const before = folderOf(await builtPage(root));
    write(file, text);
    const after = folderOf(await builtPage(root));
    expect(after).not.toBe(before);
    expect(existsSync(join(after, 'index.html'))).toBe(true);
  });

  it('gives the reason in one line if it cannot be built', async () => {
    write('tools/console/page/src/main.ts', "import './nowhere.ts';");
    const [page, ready] = [await builtPage(root), built().filter((name) => name.startsWith('making-'))];
    expect(page).toEqual({
      ok: false,
      reason: expect.stringMatching(/^the console's page could not be built \(.*nowhere/),
    });
    expect(ready).toEqual([]);
  });
});
