import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { anchorsOf, linksOf } from './factories/markdown.ts';

const ROOT = join(import.meta.dirname, '..');
const pages = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
    .map((file) => join(ROOT, folder, file));

it('every link of a document leads to a file and to a heading that there are', () => {
  const all = [join(ROOT, 'README.md'), ...pages('docs'), ...pages('examples')];
  expect(all.length).toBeGreaterThan(20);
  const wrong = all.flatMap((page) =>
    linksOf(readFileSync(page, 'utf8'))
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        const file = path === '' ? page : join(dirname(page), path);
        if (!existsSync(file)) return true;
        return anchor !== undefined && file.endsWith('.md') && !anchorsOf(readFileSync(file, 'utf8')).has(anchor);
      })
      .map((link) => `${relative(ROOT, page)}: ${link}`),
  );
  expect(wrong).toEqual([]);
});

it('anchors are those that GitHub makes', () => {
  const text = '# A b: c, `d`!\n## Is it?\n## Is it?\n```sh\n# no heading\n```\n### x_y-z (1)\n';
  expect([...anchorsOf(text)]).toEqual(['a-b-c-d', 'is-it', 'is-it-1', 'x_y-z-1']);
});
