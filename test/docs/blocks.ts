/** The code blocks of a page. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../cli/groupage.ts';
import { pagesOfRepository } from '../factories/markdown.ts';

export interface Block {
  readonly language: string;
  /** The name of a file, or of the terminal for the commands. */
  readonly title?: string | undefined;
  readonly text: string;
  /** Declarations that the block leaves to its reader, from a comment before it: `<!-- given: declare const … -->`. */
  readonly given?: string | undefined;
  /** The terminal in which a program ends first, from `<!-- Ctrl-C: terminal 1 -->`. */
  readonly interrupts?: string | undefined;
  /** The block's place for error messages: `docs/explanation/deferred-lists.md:12`. */
  readonly at: string;
}

const BLOCK =
  /^(?:<!-- given: (?<given>.*?) -->\n\s*)?(?:<!-- Ctrl-C: (?<interrupts>.*?) -->\n\s*)?```(?<language>\w+)(?: title="(?<title>[^"]+)")?\n(?<text>.*?)^```$/gms;

export const blocksOf = (page: string): readonly Block[] => {
  const markdown = readFileSync(join(ROOT, page), 'utf8');
  return [...markdown.matchAll(BLOCK)].map(({ 0: all, groups = {}, index }) => ({
    ...(groups as Omit<Block, 'at'>),
    at: `${page}:${markdown.slice(0, index + all.indexOf('```')).split('\n').length}`,
  }));
};

/** All pages written by hand. The generated API pages contain signatures. */
export const pages = (): readonly string[] =>
  pagesOfRepository().filter((page) => !page.startsWith('docs/reference/api/'));
