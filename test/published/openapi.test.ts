import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import type { Json } from '../../tools/contract/json-schema.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';
import { committed, faultsOf, validator } from './ajv.ts';
import { describedRoutes } from './documented-api.ts';

const document = committed('openapi.json');

describe('openapi.json', () => {
  it('is OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect([errors, valid]).toEqual([undefined, true]);
  });

  it('has schemas of JSON Schema 2020-12 with valid examples', () => {
    const { components } = document as { components: Json };
    let examples = 0;
    for (const { schema, example } of mediaTypesIn(document.paths)) {
      const validate = validator({ ...schema, components });
      if (example === undefined) continue;
      examples += 1;
      expect(faultsOf(validate, example)).toEqual([]);
    }
    expect(examples).toBeGreaterThan(25);
  });

  it('describes each tag that it uses, and no other', () => {
    const { tags, paths } = document as {
      tags: readonly { name: string }[];
      paths: Record<string, Record<string, Json>>;
    };
    const used = Object.values(paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ tags: of }) => of as string[]),
    );
    expect(new Set(used)).toEqual(new Set(tags.map(({ name }) => name)));
  });

  it('has each route of the API, and no other', () => {
    const app = api({ ...stepKit(memoryStores()), newId: () => 'new', onError: () => {} });
    const there = app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(
        ({ method, path }) =>
          `${method} ${path.replaceAll(/:(\w+)(?:\{\S+?\}(?=\/|$))?/g, '{$1}').replace(/(?<=.)\/$/, '')}`,
      );
    expect([...new Set(there)].toSorted()).toEqual([...describedRoutes()].toSorted());
  });

  it('states the form of each id in a path, with an example', () => {
    const { paths } = document as { paths: Record<string, Record<string, { parameters?: readonly Json[] }>> };
    const parameters = Object.values(paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ parameters: its = [] }) => its.filter((each) => each.in === 'path')),
    );
    expect(parameters.length).toBeGreaterThan(30);
    for (const { schema, example, examples = { only: { value: example } } } of parameters) {
      expect(schema).not.toEqual({ type: 'string' });
      for (const { value } of Object.values(examples as Record<string, { value: unknown }>))
        expect(faultsOf(validator(schema as Json), value)).toEqual([]);
    }
  });

  it('documents only methods that the API returns in Allow', async () => {
    const app = api({ ...stepKit(memoryStores()), newId: () => 'new', onError: () => {} });
    const { paths } = document as { paths: Record<string, Json> };
    for (const [path, methods] of Object.entries(paths)) {
      const { status, headers } = await app.request(`/v1${path.replaceAll(/[{}]/g, '')}`, { method: 'PATCH' });
      const allowed = (headers.get('allow') ?? '').split(', ');
      expect([path, status]).toEqual([path, 405]);
      // A path with a name allows more methods: `redrive` could be the id of a task.
      expect([path, allowed]).toEqual([
        path,
        expect.arrayContaining(Object.keys(methods).map((method) => method.toUpperCase())),
      ]);
    }
  });
});

/** All objects that have a schema, and maybe an example. */
const mediaTypesIn = (value: unknown): readonly { readonly schema: Json; readonly example?: unknown }[] => {
  if (typeof value !== 'object' || value === null) return [];
  const here = 'schema' in value ? [value as { schema: Json; example?: unknown }] : [];
  return [...here, ...Object.values(value).flatMap(mediaTypesIn)];
};
