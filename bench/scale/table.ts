/** Formats tables for docs/evidence/scale.md and other pages, and puts them between their markers. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** A table with words in the first column and figures in the others. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), `|---|${'--:|'.repeat(head.length - 1)}`, ...rows.map(row)].join('\n');

/** Formats a number with at most three significant digits. */
export const number = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value >= 100 ? 0 : value >= 10 ? 1 : 2 });

/** Formats a duration. @param millis the duration in milliseconds */
export const span = (millis: number): string => {
  if (millis < 1_000) return `${Math.round(millis)} ms`;
  const seconds = millis / 1_000;
  if (seconds < 120) return `${number(seconds)} s`;
  return seconds < 7_200 ? `${number(seconds / 60)} min` : `${number(seconds / 3_600)} h`;
};

/** Puts the text of a part between its markers. @throws Error if the page has no such markers */
export const writeBetween = (part: string, text: string, page = 'evidence/scale.md'): void => {
  const [from, to] = [`<!-- ${part} -->`, `<!-- /${part} -->`];
  const file = join(DOCS, page);
  const document = readFileSync(file, 'utf8');
  const [begins, ends] = [document.indexOf(from), document.indexOf(to)];
  if (begins === -1 || ends < begins) throw new Error(`docs/${page} has no markers of ${part}`);
  writeFileSync(file, `${document.slice(0, begins)}${from}\n\n${text}\n\n${document.slice(ends)}`);
};
