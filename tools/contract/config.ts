/** The schema of a configuration file, for editors: what checks it, with what the documentation says of each key. */
import { readFileSync } from 'node:fs';
import { configSchema } from '../../src/domain/config/schema/config.ts';
import { type Json, jsonSchema } from './json-schema.ts';

/** What the documentation says of a key. */
interface Row {
  readonly description: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

/** Of the sections, which have a heading there and no row. */
const SECTIONS: Readonly<Record<string, Row>> = {
  $schema: { description: 'where an editor finds how to complete this file' },
  batch: { description: 'when a batch is sealed, and what it holds' },
  concurrency: { description: 'how many batches may be under way at once' },
  retry: { description: 'how often, and when, a call is repeated' },
  callbacks: { description: "who is told how the operation's tasks ended" },
};

/** The keys that stand below another name there: of whoever has a name of its own, or of wherever a secret may be. */
const SECTION_OF: Readonly<Record<string, string>> = { operations: '', headers: 'secret' };

/** Of `docs/reference/configuration.md`: the rows of its tables, by key. @param page its text */
const rowsOf = (page: string): ReadonlyMap<string, Row> => {
  const rows = page
    .split('\n')
    .filter((line) => /^\| `[\w.]+` \|/.test(line))
    .map((line) => line.slice(2, -2).split(' | '))
    .filter((cells) => cells.length === 5);
  return new Map(
    rows.map(([key = '', , usual = '', meaning = '', example = '']) => [
      key.replaceAll('`', ''),
      { description: plain(meaning), ...defaultIn(usual), ...examplesIn(example) },
    ]),
  );
};

/** Markdown without its links. */
const plain = (markdown: string): string => markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');

const examplesIn = (cell: string): Pick<Row, 'examples'> =>
  cell.includes('…') ? {} : { examples: [JSON.parse(cell.slice(1, -1))] };

/** Unless it depends on something. */
const defaultIn = (cell: string): Pick<Row, 'default'> => {
  const [, json] = /^`([^`]+)`(?!, (?:for|with) )/.exec(cell) ?? [];
  return json === undefined ? {} : { default: JSON.parse(json) };
};

/** A schema with what the rows say of its keys. @throws Error for a key without a row. */
const documented = (schema: unknown, rows: ReadonlyMap<string, Row>, section: string): unknown => {
  if (Array.isArray(schema)) return schema.map((each) => documented(each, rows, section));
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([word, value]): [string, unknown] => {
      if (word === 'properties') return [word, keysOf(value as Json, rows, section)];
      const isOfSchemas = word === 'additionalProperties' || word === 'anyOf' || word === 'oneOf';
      return [word, isOfSchemas ? documented(value, rows, section) : value];
    }),
  );
};

const keysOf = (properties: Json, rows: ReadonlyMap<string, Row>, section: string): Json =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const key = section === '' ? name : `${section}.${name}`;
      const row = rows.get(key) ?? SECTIONS[key];
      if (row === undefined) throw new Error(`docs/reference/configuration.md says nothing of ${key}`);
      return [name, withRow(documented(schema, rows, SECTION_OF[name] ?? name) as Json, row)];
    }),
  );

/** What checks it says by itself stands. */
const withRow = ({ description: own, ...schema }: Json, { description, ...row }: Row): Json => ({
  description: own === undefined ? description : `${description} (${own})`,
  ...row,
  ...schema,
});

const PAGE = new URL('../../docs/reference/configuration.md', import.meta.url);

export const configFileSchema = (): Json => ({
  title: 'Configuration of Groupage',
  description:
    'groupage.config.json. Spans of durations, URLs, names of headers and how values go together are checked by `groupage check`, which names the path, the cause and the way out.',
  ...(documented(jsonSchema(configSchema), rowsOf(readFileSync(PAGE, 'utf8')), '') as Json),
});
