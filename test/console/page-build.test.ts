import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltPage, builtPage, FROM_ELSEWHERE } from '../../src/console/page-build.ts';

const ROOT = join(import.meta.dirname, '../..');

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
    for (const file of FROM_ELSEWHERE) write(file, 'export const from = "elsewhere";');
    write('console/index.html', '<!doctype html><title>one</title><script type="module" src="./main.ts"></script>');
    write('console/main.ts', 'document.title = "two";');
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it('is built once, however many want it', async () => {
    const folders = (await Promise.all([builtPage(root), builtPage(root)])).map(folderOf);
    expect(new Set(folders).size).toBe(1);
    expect(readFileSync(join(folders[0] ?? '', 'index.html'), 'utf8')).toContain('<title>one</title>');
    expect(folderOf(await builtPage(root))).toBe(folders[0]);
    expect(built()).toHaveLength(1);
  });

  it.each(['console/main.ts', 'src/metrics.ts'])('is built again when %s has changed', async (file) => {
    const before = folderOf(await builtPage(root));
    write(file, 'document.title = "three";');
    const after = folderOf(await builtPage(root));
    expect(after).not.toBe(before);
    expect(existsSync(join(after, 'index.html'))).toBe(true);
  });

  it('is not there where it cannot be built, and what is wrong is said in a line', async () => {
    write('console/main.ts', 'import "./nowhere.ts";');
    const [page, ready] = [await builtPage(root), built().filter((name) => name.startsWith('making-'))];
    expect(page).toEqual({
      ok: false,
      reason: expect.stringMatching(/^the console's page could not be built \(.*nowhere/),
    });
    expect(ready).toEqual([]);
  });

  it('is made of nothing from elsewhere but what it is built anew for', () => {
    const files = readdirSync(join(ROOT, 'console'), { recursive: true, encoding: 'utf8' });
    const imported = files
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) =>
        [
          ...readFileSync(join(ROOT, 'console', file), 'utf8').matchAll(
            /^(?:import|export) (?!type )[^;]*?'(\.[^']+)'/gm,
          ),
        ].map(([, path = '']) => join('console', dirname(file), path)),
      )
      .filter((path) => !path.startsWith('console/'));
    expect(imported.filter((path) => !FROM_ELSEWHERE.includes(path))).toEqual([]);
  });
});
