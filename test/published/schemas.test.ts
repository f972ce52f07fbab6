import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import asyncApiSchema from '@asyncapi/specs/schemas/3.0.0-without-$id.json' with { type: 'json' };
import { describe, expect, it } from 'vitest';
import { contractFiles, printed } from '../../tools/contract/files.ts';
import type { Json } from '../../tools/contract/json-schema.ts';
import { committed, draft7Validator, faultsOf, validator } from './ajv.ts';

const FOLDER = join(import.meta.dirname, '../../contract');
const SCHEMAS = readdirSync(FOLDER).filter((name) => name.endsWith('.schema.json'));

it('the committed contract matches the schemas; `npm run contract` writes it', () => {
  const made = Object.entries(contractFiles()).map(([name, document]) => [name, printed(document)]);
  const there = readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')]);
  expect(Object.fromEntries(there)).toEqual(Object.fromEntries(made));
});

describe.each(SCHEMAS)('%s', (name) => {
  const schema = committed(name);

  it('is JSON Schema 2020-12 without unknown keywords, and accepts its examples', () => {
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    const validate = validator(schema);
    const examples = schema.examples as readonly Json[];
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(faultsOf(validate, example)).toEqual([]);
  });

  it('describes itself and each of its fields', () => {
    expect([schema.title, schema.description]).toEqual([expect.any(String), expect.any(String)]);
    expect(undescribed(schema, '')).toEqual([]);
  });
});

/** The fields without a description. A constant, an enumeration or a reference needs none. */
const undescribed = (schema: unknown, path: string): readonly string[] => {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = Object.entries((schema as { properties?: Json }).properties ?? {}).flatMap(([name, field]) => {
    const { description, const: only, $ref, enum: words, not } = field as Json;
    return (description ?? only ?? $ref ?? words ?? not) === undefined ? [`${path}/${name}`] : [];
  });
  return [...own, ...Object.entries(schema).flatMap(([name, each]) => undescribed(each, `${path}/${name}`))];
};

describe('asyncapi.json', () => {
  const document = committed('asyncapi.json');

  it('is AsyncAPI 3.0', () => {
    expect(faultsOf(draft7Validator(asyncApiSchema as Json, false), document)).toEqual([]);
  });

  it('has no broken reference', () => {
    expect(brokenReferences(document)).toEqual([]);
  });

  it('has examples that match its messages', () => {
    const { schemas, messages } = document.components as { schemas: Json; messages: Record<string, Json> };
    const names = Object.keys(messages);
    expect(names).toHaveLength(12);
    for (const name of names) {
      const { payload, examples } = messages[name] as { payload: Json; examples: readonly { payload: Json }[] };
      const validate = draft7Validator({ ...payload, components: { schemas } }, false);
      for (const example of examples) expect([name, faultsOf(validate, example.payload)]).toEqual([name, []]);
      expect([name, validate({ nothing: 'of this' })]).toEqual([name, false]);
    }
  });
});

/** References of a document that lead nowhere in it. */
const brokenReferences = (document: Json): readonly string[] => {
  const all = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = '']) => ref);
  expect(all.length).toBeGreaterThan(10);
  return all.filter((ref) => {
    const [root, ...path] = ref.split('/');
    const there = path.reduce<unknown>((at, name) => (at as Json | undefined)?.[name], document);
    return root !== '#' || there === undefined;
  });
};
