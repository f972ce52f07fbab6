/** Pages as GitHub shows them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

const pagesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
    .map((file) => join(folder, file));

/** All pages of the documentation, by their paths in the repository. */
export const pagesOfRepository = (): readonly string[] => ['README.md', ...pagesIn('docs'), ...pagesIn('examples')];

/** The text without code blocks, which contain no headings and links. */
const withoutCode = (markdown: string): string => markdown.replace(/^```[\s\S]*?^```$/gm, '');

/** The anchors of a page's headings, as GitHub makes them. */
export const anchorsOf = (markdown: string): ReadonlySet<string> => {
  const seen = new Map<string, number>();
  // Table rows with explicit anchors.
  const given = [...markdown.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id = '']) => id);
  const headings = withoutCode(markdown).match(/^#{1,6} .+$/gm) ?? [];
  return new Set([
    ...given,
    ...headings.map((heading) => {
      const words = heading.replace(/^#+ /, '').toLowerCase();
      const anchor = words.replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
      const before = seen.get(anchor) ?? 0;
      seen.set(anchor, before + 1);
      return before === 0 ? anchor : `${anchor}-${before}`;
    }),
  ]);
};

/** The links of a page within the repository: `page.md`, `page.md#anchor` or `#anchor`. */
export const linksOf = (markdown: string): readonly string[] =>
  [...withoutCode(markdown).matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
