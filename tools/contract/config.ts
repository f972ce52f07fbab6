/**
 * The JSON Schema of a configuration file, for editors. It is made from the schema that checks the file, and from
 * descriptions in the documentation.
 */
import { readFileSync } from 'node:fs';
import { configSchema } from '../../src/domain/config/schema/config.ts';
import { type Json, jsonSchema } from './json-schema.ts';

/** The documentation of a configuration key. */
interface Row {
  readonly description: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

/** Descriptions of the sections that have a heading but no table row in the documentation. */
const SECTIONS: Readonly<Record<string, Row>> = {
  $schema: { description: 'The JSON Schema that editors use to complete and check this file' },
  batch: { description: 'When a batch is sealed, and its limits' },
  concurrency: { description: 'How many batches may be in progress at once' },
  retry: { description: 'How failed calls are repeated' },
  callbacks: { description: "The destinations of events about the operation's ended tasks" },
  producers: { description: 'What the senders of register messages may do' },
};

/**
 * Sections whose keys are documented under another name. Operations have names that the user chooses, and the value of
 * a header may be a secret.
 */
const SECTION_OF: Readonly<Record<string, string>> = { operations: '', headers: 'secret' };

/** The rows of the tables in `docs/reference/configuration.md`, by key. @param page the text of that page */
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

/** Removes the links from Markdown and keeps their texts. */
const plain = (markdown: string): string => markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');

const examplesIn = (cell: string): Pick<Row, 'examples'> =>
  cell.includes('…') ? {} : { examples: [JSON.parse(cell.slice(1, -1))] };

/** The default value in a table cell. A default that depends on other keys is left out. */
const defaultIn = (cell: string): Pick<Row, 'default'> => {
  const [, json] = /^`([^`]+)`(?!, (?:for|with) )/.exec(cell) ?? [];
  return json === undefined ? {} : { default: JSON.parse(json) };
};

/** Adds descriptions to the keys of a schema. @throws Error if a key has no row */
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

const isSection = (schema: unknown): boolean => typeof schema === 'object' && schema !== null && 'properties' in schema;

const keysOf = (properties: Json, rows: ReadonlyMap<string, Row>, section: string): Json =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const key = section === '' ? name : `${section}.${name}`;
      // At the top level `producers` has names that the user chooses, and in an operation it is a section.
      const row = isSection(schema) ? (SECTIONS[key] ?? rows.get(key)) : (rows.get(key) ?? SECTIONS[key]);
      if (row === undefined) throw new Error(`docs/reference/configuration.md has no row for ${key}`);
      return [name, withRow(documented(schema, rows, SECTION_OF[name] ?? name) as Json, row)];
    }),
  );

/** Adds the texts of a row to a schema. Values that the schema already has are kept. */
const withRow = ({ description: own, ...schema }: Json, { description, ...row }: Row): Json => ({
  description: own === undefined ? description : `${description} (${own})`,
  ...row,
  ...schema,
});

const PAGE = new URL('../../docs/reference/configuration.md', import.meta.url);

export const configFileSchema = (): Json => ({
  title: 'Configuration of Groupage',
  description:
    'groupage.config.json. `groupage check` also checks what this schema cannot: ranges of durations, URLs, names of headers, and combinations of values.',
  ...(documented(jsonSchema(configSchema), rowsOf(readFileSync(PAGE, 'utf8')), '') as Json),
});
