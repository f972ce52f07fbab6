/**
 * The API accepts a field exactly if its published schema does, up to the last character. The tests use values near
 * the limits.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import type { Json } from '../../tools/contract/json-schema.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';
import { committed, validator } from './ajv.ts';
import { MUC, started } from './asked-api.ts';

const { components, paths } = committed('openapi.json') as {
  readonly components: Json;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Call>>>>;
};

interface Call {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Json }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
}

const callOf = (method: string, path: string): Call => paths[path]?.[method.toLowerCase()] ?? {};
const takenBy = (schema: Json | undefined) => validator({ ...schema, components });

/** Lengths and numbers around every limit. */
const LENGTHS = [0, 1, 63, 64, 128, 200, 256, 512, 516, 4_096].flatMap((limit) => [limit - 1, limit, limit + 1]);
const WHOLE = [0, 1, 9, 100, 500, 1_000, 43_200, 450_000, 1e9, 999_999_999, 999_999_999_999, 1e12, 2 ** 53 - 1];
const numbers = fc.oneof(
  fc.constantFrom(...WHOLE.flatMap((limit) => [limit - 1, limit, limit + 1])),
  fc.constantFrom(0.5, 1.5, 99.9, 100.1, 1e-9, 1e-12, 9.9e-13, 1.1e-12, 1e-130, 9e-131, 5e-324, -1e-12, 1 - 2 ** -53),
);
/** Numbers with only one way to write them. */
const inDigits = numbers.filter((value) => value === 0 || Math.abs(value) >= 0.5);
/** In ASCII: a schema counts characters, but the limits are in bytes. */
const texts = fc.oneof(
  fc
    .tuple(fc.constantFrom('', 'a', 'Z', '0', '_', 'ship/', 'f:0:', 'ship~1/'), fc.constantFrom(...LENGTHS))
    .map(([head, length]) => `${head}${'a'.repeat(Math.max(0, length - head.length))}`),
  fc
    .tuple(fc.constantFrom(1, 63, 64, 65), fc.constantFrom('/', '~', '/x', '.', ' ', ':', '@', '_-'))
    .map(([length, tail]) => `${'a'.repeat(length)}${tail}`),
  fc.integer({ min: 0, max: 17 }).map((length) => '1'.repeat(length)),
  fc.constantFrom('0', '00', '01', '/x', '~', 'f:0:9999', 'f:0:10000', 'f:999999999:0', 'f:1000000000:0', 'f:00:0'),
);
const values = fc.oneof(texts, numbers, fc.constantFrom(null, true, {}, []));

/** Reasons that no schema can express: configured names, the operation of a Target, existing cursors. */
const BEYOND = /^is a Target of |^is unknown: |^the cursor is not one|^is missing; the operation groups/;

const openOne = async () => {
  const { ask, send, kit } = started();
  await send({ id: 'a' });
  await ask('POST /fan-outs', { id: 'f' });
  await ask('POST /lists', { id: 'l', operation: 'ship' });
  await ask('POST /lists/l/jobs', { jobs: [{ payload: { depot: 'MUC' } }] });
  const { claimId } = await ask('POST /lists/l/claims', { count: 1, leaseSeconds: 60 });
  return { kit, ask, claim: String(claimId) };
};

/** Calls with a valid body, of which each field is replaced in turn. */
const BODIES: readonly (readonly [call: string, body: Json, path: string])[] = [
  [
    'POST /tasks',
    { operation: 'ship', payload: { depot: 'MUC' }, id: 'a', correlationId: 'c', priority: 1, weight: 1 },
    '/tasks',
  ],
  [
    'POST /tasks',
    { operation: 'ship', payload: { depot: 'MUC' }, coalesceKey: 'k', version: 1, fanOutItem: 'f:0:1' },
    '/tasks',
  ],
  ['POST /tasks/redrive', { target: MUC, cursor: '0', dryRun: true }, '/tasks/redrive'],
  ['POST /targets/flush', { target: MUC }, '/targets/flush'],
  ['POST /operations/{name}/pause', { target: MUC, reason: 'fog' }, '/operations/ship/pause'],
  ['POST /operations/{name}/resume', { target: MUC }, '/operations/ship/resume'],
  ['POST /dead-letters/{queue}/redrive', { dryRun: true, cursor: '1' }, '/dead-letters/elect/redrive'],
  ['POST /dead-letters/{queue}/discard', { ids: ['x'], dryRun: true }, '/dead-letters/rejected/discard'],
  ['POST /dead-letters/{queue}/discard', { all: true, cursor: '1' }, '/dead-letters/rejected/discard'],
  ['POST /fan-outs', { id: 'f', userKey: 'k', failFast: { count: 1 } }, '/fan-outs'],
  ['POST /fan-outs/{id}/items', { count: 1, token: 't' }, '/fan-outs/f/items'],
  ['POST /fan-outs/acks', { items: ['f:0:0'] }, '/fan-outs/acks'],
  ['POST /lists', { id: 'l', name: 'n', maxDeliveries: 3 }, '/lists'],
  ['POST /lists/{id}/jobs', { jobs: [{ payload: { depot: 'MUC' } }], token: 't' }, '/lists/l/jobs'],
  ['POST /lists/{id}/triggers', { count: 1, token: 't' }, '/lists/l/triggers'],
  ['POST /lists/{id}/triggers', { percent: 1, token: 't' }, '/lists/l/triggers'],
  ['POST /lists/{id}/claims', { count: 1, leaseSeconds: 60, claimId: 'c', holder: 'worker-3' }, '/lists/l/claims'],
  ['PUT /lists/{id}/claims/{claim}', { leaseSeconds: 60 }, '/lists/l/claims/CLAIM'],
];

describe.each(BODIES)('%s %o', (call, body, path) => {
  const [method = '', described = ''] = call.split(' ');
  const { content = {} } = callOf(method, described).requestBody ?? {};
  const isTaken = takenBy(content['application/json']?.schema);

  it.each(Object.keys(body))('accepts the same %s as its schema', async (name) => {
    const { ask, claim } = await openOne();
    const route = `${method} ${path.replace('CLAIM', claim)}`;
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const { status, errors = [] } = await ask(route, { ...body, [name]: value });
        const reasons = (errors as readonly { reason: string }[]).map(({ reason }) => reason);
        if (reasons.some((reason) => BEYOND.test(reason)) && value !== '') return;
        expect([status === 400, reasons]).toEqual([!isTaken({ ...body, [name]: value }), reasons]);
      }),
      { numRuns: 150 },
    );
  });
});

it.each(['count', 'share'])('the API accepts the same failFast.%s as its schema', async (name) => {
  const { ask } = await openOne();
  const isTaken = takenBy(callOf('post', '/fan-outs').requestBody?.content['application/json']?.schema);
  await fc.assert(
    fc.asyncProperty(fc.oneof(numbers, fc.double()), async (value) => {
      const body = { id: 'f', failFast: { [name]: value } };
      const { status } = await ask('POST /fan-outs', body);
      expect([value, status === 400]).toEqual([value, !isTaken(JSON.parse(JSON.stringify(body)))]);
    }),
    { numRuns: 300 },
  );
});

it('the API accepts the same outcomes of jobs as its schema', async () => {
  const { ask, claim } = await openOne();
  const isTaken = takenBy(
    callOf('post', '/lists/{id}/claims/{claim}/complete').requestBody?.content['application/json']?.schema,
  );
  const outcomes = [{}, { status: 'succeeded' }, { status: 'failed' }, { status: 'retry' }];
  const results = [{}, { result: null }];
  const errors = [{}, { error: { code: 'c', message: 'm' } }, { error: { code: 'c' } }, { error: 'm' }];
  for (const job of outcomes.flatMap((a) => results.flatMap((b) => errors.map((c) => ({ ...a, ...b, ...c }))))) {
    const body = { jobs: [{ token: 0, ...job }] };
    const { status } = await ask(`POST /lists/l/claims/${claim}/complete`, body);
    expect([job, status === 400]).toEqual([job, !isTaken(body)]);
  }
});

/** Calls with a valid query. */
const QUERIES: readonly (readonly [described: string, query: Readonly<Record<string, string>>, path: string])[] = [
  ['/tasks', { target: MUC, status: 'failed', limit: '1', cursor: '0' }, '/tasks'],
  ['/failures', { cursor: '0' }, '/failures'],
  ['/batches', { target: MUC, limit: '1', cursor: '0' }, '/batches'],
  ['/targets', { operation: 'ship', prefix: 'depot', limit: '1', cursor: 'ship' }, '/targets'],
  ['/doctor/targets', { limit: '1', cursor: 'ship' }, '/doctor/targets'],
  ['/doctor/batches', { target: MUC, limit: '1', cursor: '0' }, '/doctor/batches'],
  ['/fan-outs', { limit: '1', cursor: '0' }, '/fan-outs'],
  ['/fan-outs/{id}/failed', { cursor: '0' }, '/fan-outs/f/failed'],
  ['/fan-outs/{id}/items', { status: 'pending', limit: '1', cursor: '0' }, '/fan-outs/f/items'],
  ['/lists', { limit: '1', cursor: '0' }, '/lists'],
  ['/lists/{id}/jobs', { from: '0', limit: '1' }, '/lists/l/jobs'],
];

describe.each(QUERIES)('GET %s %o', (described, query, path) => {
  const { parameters = [] } = callOf('get', described);
  it.each(Object.keys(query).filter((name) => name !== 'operation'))(
    'accepts the same %s as its schema',
    async (name) => {
      const { ask } = await openOne();
      const { schema } = parameters.find((each) => each.in === 'query' && each.name === name) ?? {};
      const isTaken = takenBy(schema);
      await fc.assert(
        fc.asyncProperty(schema?.type === 'integer' ? inDigits : texts, async (value) => {
          const text = String(value);
          const { status, errors = [] } = await ask(`GET ${path}?${new URLSearchParams({ ...query, [name]: text })}`);
          const [{ reason = '' } = {}] = errors as readonly { reason: string }[];
          // Only the call that returned a cursor can tell whether the cursor is valid.
          if (schema?.pattern === undefined && value !== '' && /^the cursor/.test(reason)) return;
          expect([value, status === 400, reason]).toEqual([value, !isTaken(value), reason]);
        }),
        { numRuns: 100 },
      );
    },
  );
});

describe('a configured name', () => {
  const names = fc.oneof(texts, fc.stringMatching(/^[A-Za-z0-9_-]{1,3}$/));
  const input = (name: string) => ({
    operations: {
      ship: { target: ['depot'], downstream: { kind: 'http', url: 'https://api.example/' } },
      ...(name === 'ship'
        ? {}
        : { [name]: { target: ['depot'], downstream: { kind: 'http', url: 'https://api.example/' } } }),
    },
    destinations: { [name]: { kind: 'queue', name: 'ops' } },
  });

  it.each([
    ['callback', 'POST /tasks', (name: string) => ({ operation: 'ship', payload: { depot: 'MUC' }, callback: name })],
    ['operation', 'POST /tasks', (name: string) => ({ operation: name, payload: { depot: 'MUC' } })],
    ['callback', 'POST /fan-outs', (name: string) => ({ callback: name })],
    ['callback', 'POST /lists', (name: string) => ({ callback: name })],
    ['operation', 'POST /lists', (name: string) => ({ operation: name })],
    ['operation', 'GET /targets', undefined],
    ['operation', 'GET /doctor/targets', undefined],
    ['operation', 'GET /failures', undefined],
  ] as const)('as %s of %s is accepted by the API and by its schema', async (name, call, bodyOf) => {
    const [method = '', path = ''] = call.split(' ');
    const { parameters = [], requestBody } = callOf(method, path);
    const isTaken = takenBy(
      requestBody?.content['application/json']?.schema ?? parameters.find((each) => each.name === name)?.schema,
    );
    await fc.assert(
      fc.asyncProperty(names, async (value) => {
        const config = parseConfig(input(value));
        const body = bodyOf?.(value);
        // A name that no configuration accepts cannot be in the configuration of an API.
        const taken = config.ok && (await statusOf(config.value, method, path, { [name]: value }, body)) !== 400;
        expect([value, taken]).toEqual([value, isTaken(body ?? value)]);
      }),
      { numRuns: 60 },
    );
  });

  const statusOf = async (
    config: Parameters<typeof stepKit>[1],
    method: string,
    path: string,
    query: Readonly<Record<string, string>>,
    body: object | undefined,
  ): Promise<number> => {
    const kit = stepKit(memoryStores(), config);
    // The items that these tests name have no tokens.
    kit.mode = 'warn';
    const app = api({ ...kit, newId: () => 'new', onError: () => {} });
    const asked = body ? path : `${path}?${new URLSearchParams(query)}`;
    const init = body ? { method, body: JSON.stringify(body) } : { method };
    return (await app.request(`/v1${asked}`, init)).status;
  };
});
