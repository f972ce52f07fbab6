import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The cells of each row of the table with this head in a document. */
export const tableUnder = (head: string, document = 'docs/how-to/test-groupage.md'): string[][] => {
  const lines = readFileSync(join(import.meta.dirname, '../..', document), 'utf8').split('\n');
  const from = lines.indexOf(head);
  if (from === -1) throw new Error(`${document} has no table with the head ${head}`);
  const rows = lines.slice(from + 2);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith('|')),
    )
    .map((line) => line.split(' | ').map(cell));
};

const cell = (text: string): string => text.replace(/^\| | \|$/g, '');
