import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../lib/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '..');
const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: Record<string, string> };

/** The exported names of a module, from its source. */
const exportedBy = (file: string): string[] => {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) => names.split(','));
  const declared = [...source.matchAll(/^export (?:const|class|interface|type|function) (\w+)/gm)].map(
    ([, name]) => name,
  );
  return [...lists, ...declared].flatMap(
    (name = '') =>
      name
        .trim()
        .match(/(\w+)$/)
        ?.slice(1) ?? [],
  );
};

it('the API reference documents every export of each package entry', async () => {
  const made = join(temporaryFolder('reference'), 'reference');
  // Fails if a link is broken, or a docstring names something that is not exported.
  await promisify(execFile)(process.execPath, ['scripts/reference.ts', made], { cwd: ROOT });
  const pages = readdirSync(made, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));
  const entries = Object.entries(exports).filter(([, file]) => file.endsWith('.ts'));
  const pageOf = (entry: string) => `${join('groupage', entry)}.md`;
  expect(pages.sort()).toEqual(['README.md', ...entries.map(([entry]) => pageOf(entry))].sort());
  const missing = entries.flatMap(([entry, file]) => {
    const page = readFileSync(join(made, pageOf(entry)), 'utf8').replaceAll('\\', '');
    const names = exportedBy(file);
    expect(names).not.toEqual([]);
    return names
      .filter((name) => !new RegExp(`^### (?:\`abstract\` )?${name}\\b`, 'm').test(page))
      .map((name) => `${entry} ${name}`);
  });
  expect(missing).toEqual([]);
});
