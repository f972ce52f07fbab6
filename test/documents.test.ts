import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { anchorsOf, linksOf, pagesOfRepository } from './factories/markdown.ts';

const ROOT = join(import.meta.dirname, '..');
const everyPage = (): string[] => pagesOfRepository().map((page) => join(ROOT, page));

it('every link of a document leads to an existing file and heading', () => {
  const all = everyPage();
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

it('every picture exists, and has a text alternative', () => {
  const shown = everyPage().flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/!\[([^\]]*)\]\(([^()\s]+)\)/g)].map(([, words = '', file = '']) => ({
      page: relative(ROOT, page),
      words,
      path: join(dirname(page), file),
    })),
  );
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.filter(({ words, path }) => words.split(' ').length < 3 || !existsSync(path))).toEqual([]);
  const drawn = readdirSync(join(ROOT, 'docs/images')).map((file) => join(ROOT, 'docs/images', file));
  expect(drawn.filter((file) => !shown.some(({ path }) => path === file))).toEqual([]);
  const drawings = drawn.filter((file) => file.endsWith('.svg'));
  // With a white card, so that they are readable on a dark page, and with a text for readers who cannot see them.
  expect(
    drawings.filter(
      (file) =>
        !/<svg[^>]* role="img" aria-label="[^"]{20,}"[\s\S]*<rect[^>]* fill="#ffffff"/.test(readFileSync(file, 'utf8')),
    ),
  ).toEqual([]);
});

it('every address in a document is complete, and uses TLS outside of this machine', () => {
  const wrong = everyPage().flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\(([a-z]+:[^()\s]*)\)/g)]
      .map(([, address = '']) => address)
      .filter((address) => {
        const { protocol, hostname } = URL.parse(address) ?? {};
        return !(protocol === 'https:' || (protocol === 'http:' && hostname === '127.0.0.1'));
      })
      .map((address) => `${relative(ROOT, page)}: ${address}`),
  );
  expect(wrong).toEqual([]);
});

it('no diagram has a semicolon, which ends a statement in Mermaid', () => {
  const diagrams = everyPage().flatMap((page) => [...readFileSync(page, 'utf8').matchAll(/```mermaid\n(.*?)```/gs)]);
  expect(diagrams).toHaveLength(3);
  expect(diagrams.filter(([, diagram = '']) => diagram.includes(';'))).toEqual([]);
});

it('anchors are computed as on GitHub', () => {
  const text = '# A b: c, `d`!\n## Is it?\n## Is it?\n```sh\n# no heading\n```\n### x_y-z (1)\n';
  expect([...anchorsOf(text)]).toEqual(['a-b-c-d', 'is-it', 'is-it-1', 'x_y-z-1']);
});
