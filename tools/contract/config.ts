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
  'limits.concurrency': { description: 'How much may be in progress at once' },
  'auth.kind': { description: 'How a call proves who sends it' },
  'auth.token': { description: 'The token' },
  'auth.user': { description: 'The user name' },
  'auth.password': { description: 'The password' },
  'auth.key': { description: 'The key' },
  'auth.header': { description: 'The header with the key' },
  'auth.query': { description: 'The query parameter with the key' },
  'auth.service': { description: "The service's name in the signature" },
  'auth.region': { description: 'The region in the signature. Without it, the region of the stack' },
  'auth.action': { description: "The one action that the batch handler's role may do" },
  'auth.resource': { description: 'The one resource on which it may do this' },
  'auth.tokenUrl': { description: 'The URL that issues tokens' },
  'auth.clientId': { description: "The client's id" },
  'auth.clientSecret': { description: "The client's secret" },
  'auth.with': { description: 'Further parameters of the token request' },
  'auth.sendIn': { description: "Whether the client's id and secret are in the header or in the body" },
  'test.from': { description: 'The value is a number from this one on' },
  'test.to': { description: 'The value is a number up to this one' },
  'operation.batch': { description: 'When a batch is sealed, and its limits' },
  'operation.concurrency': { description: 'How many batches may be in progress at once' },
  'operation.retry': { description: 'How failed calls are repeated' },
  'operation.callbacks': { description: "The destinations of events about the operation's ended tasks" },
  'operation.producers': { description: 'What the senders of register messages may do' },
};

/**
 * Sections whose keys are documented under another name, by their key or the last part of it. The value of a header may
 * be a secret.
 */
const SECTION_OF: Readonly<Record<string, string>> = {
  operations: 'operation',
  headers: 'secret',
  'limits.concurrency': 'limits.concurrency',
  'response.succeeded': 'test',
  'response.failed': 'test',
  'response.throttled': 'test',
  'response.retry': 'test',
  'auth.token': 'secret',
  'auth.password': 'secret',
  'auth.key': 'secret',
  'auth.clientSecret': 'secret',
};

/**
 * The rows of the tables of the pages, by key. Keys of an operation itself begin with
 * `operation.`, because some of them are also keys of the file. @param text the text of the pages
 */
const rowsOf = (text: string): ReadonlyMap<string, Row> =>
  new Map(
    text.split(/^## /m).flatMap((section) => {
      const before = section.startsWith('An operation\n') ? 'operation.' : '';
      return rowsIn(section).map(([key, row]) => [key.includes('.') ? key : `${before}${key}`, row] as const);
    }),
  );

const rowsIn = (section: string): (readonly [string, Row])[] =>
  section
    .split('\n')
    .filter((line) => /^\| `[\w.]+` \|/.test(line))
    .map((line) => line.slice(2, -2).split(' | '))
    .filter((cells) => cells.length === 5)
    .map(([key = '', , usual = '', meaning = '', example = '']) => [
      key.replaceAll('`', ''),
      { description: plain(meaning), ...defaultIn(usual), ...examplesIn(example) },
    ]);

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

const keysOf = (properties: Json, rows: ReadonlyMap<string, Row>, section: string): Json =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const key = section === '' ? name : `${section}.${name}`;
      const row = rows.get(key) ?? SECTIONS[key];
      if (row === undefined)
        throw new Error(`neither docs/reference/configuration.md nor http-apis.md has a row for ${key}`);
      return [name, withRow(documented(schema, rows, SECTION_OF[key] ?? SECTION_OF[name] ?? name) as Json, row)];
    }),
  );

/** Adds the texts of a row to a schema. Values that the schema already has are kept. */
const withRow = ({ description: own, ...schema }: Json, { description, ...row }: Row): Json => ({
  description: own === undefined ? description : `${description} (${own})`,
  ...row,
  ...schema,
});

const PAGES = ['configuration.md', 'http-apis.md'].map(
  (name) => new URL(`../../docs/reference/${name}`, import.meta.url),
);

const documentation = (): string => PAGES.map((page) => readFileSync(page, 'utf8')).join('\n## ');

export const configFileSchema = (): Json => ({
  title: 'Configuration of Groupage',
  description:
    'groupage.config.json. `groupage check` also checks what this schema cannot: ranges of durations, URLs, names of headers, and combinations of values.',
  ...(documented(jsonSchema(configSchema), rowsOf(documentation()), '') as Json),
});
