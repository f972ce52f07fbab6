/** Formats what commands print: text by default, JSON on request. */
import { stripVTControlCharacters, styleText } from 'node:util';
import { type DownstreamTarget, serviceName } from '../src/domain/config/endpoints.ts';

/** Characters that could move the cursor, clear the screen, end a line or change the reading direction. */
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** Makes text from outside safe for a terminal: control characters become replacement characters. */
export const printable = (text: string): string => text.replaceAll(UNPRINTABLE, '\ufffd');

/** Makes JSON safe for a terminal by escaping these characters, which does not change its meaning. */
export const printJson = (json: string): string =>
  json.replaceAll(UNPRINTABLE, (character) =>
    /[\t\n\r]/.test(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Origin and path of a URL. The rest may contain passwords or keys. */
export const withoutSecrets = (url: string): string => {
  const { origin, pathname } = new URL(url);
  // A URL may name grouping fields in braces, which `URL` encodes.
  return `${origin}${pathname}`.replaceAll('%7B', '{').replaceAll('%7D', '}');
};

/** Location of a downstream, without secrets. */
export const whereIs = (target: DownstreamTarget): string =>
  target.kind === 'http' ? withoutSecrets(target.url) : serviceName(target);

/** `1 task`, `2 tasks`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** A table with aligned columns; numeric columns are aligned to the right. */
export const table = (headings: readonly string[], rows: readonly (readonly (string | number)[])[]): string => {
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : printable(cell))),
  );
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => (row[column] ?? '').length)),
  );
  const line = (row: readonly string[], isNumber: (column: number) => boolean): string =>
    row
      .map((cell, column) => (isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  const numeric = (column: number): boolean => rows.length > 0 && rows.every((row) => typeof row[column] === 'number');
  return [dim(line(headings, numeric)), ...cells.map((row) => line(row, numeric))].join('\n');
};

export const dim = (text: string): string => styleText('dim', text, { stream: process.stdout });
export const red = (text: string): string => styleText('red', text, { stream: process.stdout });
export const green = (text: string): string => styleText('green', text, { stream: process.stdout });

/** Time since `iso`, such as `3 s`. */
export const ago = (iso: string | undefined, now = Date.now()): string =>
  iso === undefined ? '' : span(Math.max(0, (now - Date.parse(iso)) / 1_000));

/** A past time, and how long ago it was. */
export const moment = (iso: string): string => `${printable(iso)} (${ago(iso)} ago)`;

/** Time until `iso`, such as `3 s`; undefined if it has passed. */
export const ahead = (iso: string, now = Date.now()): string | undefined => {
  const seconds = (Date.parse(iso) - now) / 1_000;
  return seconds > 0 ? span(seconds) : undefined;
};

const span = (seconds: number): string => {
  if (seconds < 100) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 6_000) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
};

/** Maximum number of error lines that are printed. */
const COMPLAINTS_SHOWN = 20;

/** Prints errors about single items to standard error. */
export const complain = (lines: readonly string[]): void => {
  for (const line of lines.slice(0, COMPLAINTS_SHOWN)) console.error(printable(line));
  if (lines.length > COMPLAINTS_SHOWN)
    console.error(`… and ${lines.length - COMPLAINTS_SHOWN} more (--json shows all)`);
};

/** Cuts a line to a width. A cut line loses its colours. */
export const cut = (text: string, width: number): string =>
  stripVTControlCharacters(text).length <= width ? text : stripVTControlCharacters(text).slice(0, width);

/** One line per field of an object. */
export const fields = (entries: readonly (readonly [string, string | undefined])[]): string => {
  const shown = entries.filter(
    (entry): entry is readonly [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${dim(name.padEnd(width))}  ${value}`).join('\n');
};
