/** The recipes for batch APIs, against fakes that answer as the APIs' documentation says. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { HttpTarget } from '../../src/domain/config/endpoints.ts';
import type { Config, Operation } from '../../src/domain/config/resolved.ts';
import type { Call } from '../../src/domain/downstream/downstream.ts';
import { batchIdOf, type Target } from '../../src/domain/ids.ts';
import { targetOf } from '../../src/domain/target.ts';
import { formattedDownstream } from '../../src/downstreams/formatted-http.ts';
import { id, NOW, someSecrets } from '../factories/factories.ts';
import { configsOf } from './configs.ts';

interface Received {
  readonly method: string;
  readonly path: string;
  readonly type: string;
  readonly body: string;
}
type Reply = readonly [status: number, body: unknown];

let received: Received[] = [];
let reply: (request: Received) => Reply = () => [200, {}];
const api = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { method = '', url: path = '', headers } = request;
  if (path === '/token') return void response.end('{"access_token":"T","expires_in":600}');
  const one = { method, path, type: headers['content-type'] ?? '', body };
  received.push(one);
  const [status, said] = reply(one);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
});

let configs: readonly Config[];
beforeAll(async () => {
  configs = await configsOf('docs/how-to/batch-api-recipes.md');
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  api.close();
});

const here = (url: string): string =>
  `http://127.0.0.1:${(api.address() as AddressInfo).port}${url.replace(/^https:\/\/[^/]+/, '')}`;

/** Calls the API of a recipe, on this machine. */
const call = async (name: string, ...payloads: readonly object[]) => {
  received = [];
  const all = configs.flatMap(({ operations }) => Object.values(operations));
  const operation = all.find((each) => each.operation === name) as Operation;
  const downstream = operation.downstream as HttpTarget;
  const { auth } = downstream;
  const target: HttpTarget = {
    ...downstream,
    url: here(downstream.url),
    timeout: 200_000,
    auth: auth?.kind === 'oauth2' ? { ...auth, tokenUrl: here('/token') } : auth,
  };
  const items = payloads.map((payload, n) => ({ id: id(`t${n}`), payload: JSON.stringify(payload) }));
  const [first] = items;
  const where = targetOf(operation, payloads[0] ?? {}, id('t0'), first?.payload ?? '') as Target;
  const sent: Call = {
    batchId: batchIdOf(where, 1, 1),
    operation: operation.operation,
    target: where,
    attempt: 1,
    items,
  };
  const secrets = someSecrets({ '/search/password': 'p', '/hubspot/token': 't', 'salesforce/client': 's' });
  const answer = await formattedDownstream(target, { now: () => NOW, secrets }).call(sent);
  return answer.kind === 'results' ? Object.fromEntries(answer.items) : answer;
};
const failed = (code: string, message: string) => ({ status: 'failed', error: { code, message, retriable: false } });

it('OpenSearch', async () => {
  const document = (name: string) => ({ index: 'shop', document: { name } });
  reply = () => [
    200,
    {
      took: 3,
      errors: true,
      items: [
        { index: { _index: 'shop', _id: 't0', status: 201, result: 'created' } },
        { index: { _id: 't1', status: 400, error: { type: 'mapper_parsing_exception', reason: 'failed to parse' } } },
        { index: { _id: 't2', status: 429, error: { type: 'rejected_execution_exception', reason: 'queue is full' } } },
        { index: { _id: 't3', status: 503, error: { type: 'unavailable_shards_exception', reason: 'no shard' } } },
      ],
    },
  ];
  expect(await call('index-products', ...['a', 'b', 'c', 'd'].map(document))).toMatchObject({
    t0: { status: 'succeeded' },
    t1: failed('mapper_parsing_exception', 'failed to parse'),
    t2: { status: 'throttled', quote: 'queue is full' },
    t3: { status: 'retry', quote: 'no shard' },
  });
  expect(received).toEqual([
    {
      method: 'POST',
      path: '/shop/_bulk',
      type: 'application/x-ndjson',
      body: ['a', 'b', 'c', 'd'].map((name, n) => `{"index":{"_id":"t${n}"}}\n{"name":"${name}"}\n`).join(''),
    },
  ]);
});

it('HubSpot', async () => {
  const contact = (email: string) => ({ contact: { idProperty: 'email', id: email, properties: { email } } });
  const result = (n: number) => ({ id: `${n}01`, new: true, objectWriteTraceId: `t${n}` });
  reply = () => [200, { status: 'COMPLETE', results: [result(1), result(0)] }];
  expect(await call('update-contacts', contact('a@x.org'), contact('b@x.org'))).toEqual({
    t0: { status: 'succeeded', result: '"001"' },
    t1: { status: 'succeeded', result: '"101"' },
  });
  expect(JSON.parse(received[0]?.body ?? '')).toEqual({
    inputs: ['a@x.org', 'b@x.org'].map((email, n) => ({ ...contact(email).contact, objectWriteTraceId: `t${n}` })),
  });
  const context = { objectWriteTraceId: ['t1'] };
  const error = { status: 'error', category: 'VALIDATION_ERROR', message: 'Property values were not valid', context };
  reply = () => [207, { status: 'COMPLETE', results: [result(0)], numErrors: 1, errors: [error] }];
  expect(await call('update-contacts', contact('a@x.org'), contact('?'))).toEqual({
    t0: { status: 'succeeded', result: '"001"' },
    t1: failed('VALIDATION_ERROR', 'Property values were not valid'),
  });
});

it('Salesforce', async () => {
  const record = (n: number) => ({ record: { attributes: { type: 'Account' }, id: `00150${n}`, Rating: 'Hot' } });
  const failure = (statusCode: string, message: string) => ({
    success: false,
    errors: [{ statusCode, message, fields: [] }],
  });
  reply = () => [
    200,
    [
      { id: '001500', success: true, errors: [] },
      failure('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id'),
      failure('UNABLE_TO_LOCK_ROW', 'unable to obtain exclusive access'),
    ],
  ];
  expect(await call('update-accounts', record(0), record(1), record(2))).toMatchObject({
    t0: { status: 'succeeded', result: '"001500"' },
    t1: failed('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id'),
    t2: { status: 'retry', quote: 'unable to obtain exclusive access' },
  });
  expect(received[0]?.method).toBe('PATCH');
  expect(JSON.parse(received[0]?.body ?? '')).toEqual({
    allOrNone: false,
    records: [0, 1, 2].map((n) => record(n).record),
  });
});

it('BigQuery', async () => {
  const kind = 'bigquery#tableDataInsertAllResponse';
  const row = (n: number) => ({ table: 'clicks', row: { n } });
  reply = () => [200, { kind }];
  expect(await call('insert-rows', row(1), row(2))).toEqual({ kind: 'all-succeeded' });
  expect(received[0]?.path).toBe('/bigquery/v2/projects/shop/datasets/events/tables/clicks/insertAll');
  expect(JSON.parse(received[0]?.body ?? '')).toEqual({
    skipInvalidRows: true,
    rows: [1, 2].map((n, at) => ({ json: { n }, insertId: `t${at}` })),
  });
  reply = () => [
    200,
    { kind, insertErrors: [{ index: 1, errors: [{ reason: 'invalid', message: 'no such field' }] }] },
  ];
  expect(await call('insert-rows', row(1), row(2))).toEqual({
    t0: { status: 'succeeded' },
    t1: failed('invalid', 'no such field'),
  });
  reply = () => [200, {}];
  expect(await call('insert-rows', row(1))).toMatchObject({ kind: 'unavailable', misread: true });
});
