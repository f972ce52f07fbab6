import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../src/util/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '..');

/** Its pages by their names. */
const pagesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .sort()
      .map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
  );

it('docs/reference says what the docstrings say, and names nothing that is not exported (npm run reference)', async () => {
  const made = join(temporaryFolder('reference'), 'reference');
  await promisify(execFile)(process.execPath, ['scripts/reference.ts', made], { cwd: ROOT });
  const pages = pagesIn(made);
  expect(Object.keys(pages)).toContain('groupage.md');
  expect(pagesIn(join(ROOT, 'docs/reference'))).toEqual(pages);
});
