import { describe, expect, it } from 'vitest';
import type { ResponseFormat } from '../../src/domain/config/http-format.ts';
import type { Answer } from '../../src/domain/downstream/downstream.ts';
import { readCall } from '../../src/domain/downstream/http-request.ts';
import { id } from '../factories/factories.ts';

const NONE: ResponseFormat = {
  results: null,
  failures: null,
  id: null,
  failureId: null,
  index: null,
  succeeded: null,
  failed: null,
  throttled: null,
  retry: null,
  error: null,
  code: null,
  result: null,
  usage: null,
};
const items = ['a', 'b', 'c'].map((name) => ({ id: id(name), payload: '{}' }));

const read = (format: Partial<ResponseFormat>, body: unknown, status = 200, unfit = new Map()): Answer =>
  readCall(
    { response: { ...NONE, ...format }, requireResults: null },
    { items, unfit },
    {
      status,
      contentType: 'application/json',
      retryAfter: 7_000,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    },
  );
const statuses = (answer: Answer) =>
  answer.kind === 'results' ? Object.fromEntries([...answer.items].map(([key, { status }]) => [key, status])) : answer;
const misread = (reason: string) => ({
  kind: 'unavailable',
  misread: true,
  mayRetryAtOnce: false,
  reason: expect.stringContaining(reason),
});

describe('an answer in the format of a batch API', () => {
  it('without any test is a success by its status alone', () => {
    for (const body of ['', 'OK', '{"errors":true}']) expect(read({}, body)).toEqual({ kind: 'all-succeeded' });
    expect(read({}, '', 500)).toMatchObject({ kind: 'unavailable', reason: 'answered 500' });
  });

  it('names results in the order of the items', () => {
    const expo: Partial<ResponseFormat> = {
      results: '/data',
      succeeded: { at: '/status', is: 'ok' },
      throttled: { at: '/details/error', is: 'MessageRateExceeded' },
      error: '/message',
      code: '/details/error',
      result: '/id',
    };
    const answer = read(expo, {
      data: [
        { status: 'ok', id: 'T-1' },
        { status: 'error', message: 'slow down', details: { error: 'MessageRateExceeded' } },
        { status: 'error', message: 'not registered', details: { error: 'DeviceNotRegistered' } },
      ],
    });
    expect(answer).toMatchObject({ kind: 'results', foreign: 0 });
    expect(answer.kind === 'results' && [...answer.items]).toEqual([
      ['a', { status: 'succeeded', result: '"T-1"' }],
      ['b', { status: 'throttled', reason: 'throttled this task', quote: 'slow down' }],
      ['c', { status: 'failed', error: { code: 'DeviceNotRegistered', message: 'not registered', retriable: false } }],
    ]);
    // With another number of results, none can be assigned.
    for (const data of [[], [{ status: 'ok' }], Array.from({ length: 4 }, () => ({ status: 'ok' }))])
      expect(read(expo, { data })).toMatchObject(misread(`with ${data.length} results for 3 tasks`));
    for (const body of [{}, { data: null }, { data: {} }, [], 'null', '5', ''])
      expect(read(expo, body), JSON.stringify(body)).toMatchObject({ kind: 'unavailable', misread: true });
    // A result without the tested value is neither a success nor a failure.
    expect(statuses(read(expo, { data: [{}, { status: null }, { status: 'ok' }] }))).toEqual({
      a: 'retry',
      b: 'failed',
      c: 'succeeded',
    });
  });

  it('that names results in another order is not assigned by order', () => {
    const ordered: Partial<ResponseFormat> = { results: '', succeeded: { at: '/ok', is: true } };
    const say = (...refs: readonly string[]) => refs.map((ref) => ({ ok: true, meta: { ref } }));
    expect(read(ordered, say('c', 'b', 'a'))).toMatchObject(misread('another order'));
    expect(statuses(read(ordered, say('a', 'b', 'c')))).toEqual({ a: 'succeeded', b: 'succeeded', c: 'succeeded' });
    expect(statuses(read(ordered, say('x', 'y', 'z')))).toEqual({ a: 'succeeded', b: 'succeeded', c: 'succeeded' });
  });

  it('names results by id, in any order', () => {
    const bulk: Partial<ResponseFormat> = { results: '', id: '/key', succeeded: { at: '/code', from: 200, to: 299 } };
    const answer = read(bulk, [
      { key: 'c', code: 201 },
      { key: 'a', code: 409 },
      { key: 'a', code: 200 },
      { key: 'elsewhere', code: 200 },
      { code: 200 },
    ]);
    expect(statuses(answer)).toEqual({ a: 'failed', c: 'succeeded' });
    expect(answer).toMatchObject({ foreign: 2, foreignIds: ['elsewhere'] });
  });

  it('names only failures, by id or by number', () => {
    const byId: Partial<ResponseFormat> = { failures: '/Failed', id: '/Id', throttled: { at: '/Code', is: 'Busy' } };
    expect(statuses(read(byId, { Failed: [{ Id: 'b' }, { Id: 'c', Code: 'Busy' }] }))).toEqual({
      a: 'succeeded',
      b: 'failed',
      c: 'throttled',
    });
    for (const none of [[], null])
      expect(statuses(read(byId, { Failed: none }))).toEqual({ a: 'succeeded', b: 'succeeded', c: 'succeeded' });
    expect(read(byId, {})).toMatchObject(misread('without a list at /Failed'));
    for (const odd of [{ Id: 'z' }, {}, 'b', { Id: 5 }])
      expect(read(byId, { Failed: [odd] })).toMatchObject(misread('names no task'));
    const byNumber: Partial<ResponseFormat> = { failures: '/errors', index: '/index' };
    expect(statuses(read(byNumber, { errors: [{ index: 2 }] }))).toEqual({
      a: 'succeeded',
      b: 'succeeded',
      c: 'failed',
    });
    for (const index of [3, -1, '2', 0.5, null])
      expect(read(byNumber, { errors: [{ index }] })).toMatchObject(misread('names no task'));
  });

  it('names successes and failures in two lists', () => {
    const two: Partial<ResponseFormat> = {
      results: '/done',
      failures: '/failed',
      id: '/ref',
      failureId: '/context/refs',
      result: '/key',
      error: '/message',
    };
    const done = (...refs: readonly string[]) => refs.map((ref) => ({ ref, key: 1 }));
    const failed = (...refs: readonly string[]) => [{ message: 'bad', context: { refs } }];
    expect(statuses(read(two, { done: done('a', 'b', 'c') }))).toEqual({
      a: 'succeeded',
      b: 'succeeded',
      c: 'succeeded',
    });
    expect(statuses(read(two, { done: done('b'), failed: failed('a', 'c') }))).toEqual({
      a: 'failed',
      b: 'succeeded',
      c: 'failed',
    });
    // A failure stands, whatever else is said about its item. An item in neither list is retried.
    expect(statuses(read(two, { done: done('a', 'b'), failed: failed('a') }))).toEqual({ a: 'failed', b: 'succeeded' });
    expect(read(two, { done: [], failed: failed('z') })).toMatchObject({ foreign: 1, foreignIds: ['z'] });
    expect(statuses(read(two, { failed: failed('a', 'b', 'c') }))).toEqual({ a: 'failed', b: 'failed', c: 'failed' });
    expect(read(two, {})).toMatchObject(misread('without a list at /done'));
  });

  it('may leave out an empty list of failures, if the body passes a test', () => {
    const insert: Partial<ResponseFormat> = {
      failures: '/errors',
      index: '/index',
      succeeded: { at: '/kind', is: 'inserted' },
    };
    expect(read(insert, { kind: 'inserted' })).toEqual({ kind: 'all-succeeded' });
    expect(statuses(read(insert, { kind: 'inserted', errors: [{ index: 1 }] }))).toEqual({
      a: 'succeeded',
      b: 'failed',
      c: 'succeeded',
    });
    for (const body of [{}, { kind: 'other' }]) expect(read(insert, body)).toMatchObject(misread('a list at /errors'));
  });

  it('says for all items at once how the call ended', () => {
    const slack: Partial<ResponseFormat> = {
      succeeded: { at: '/ok', is: true },
      throttled: { at: '/error', is: ['ratelimited', 'busy'] },
      retry: { at: '/error', is: 'locked' },
      error: '/error',
    };
    expect(read(slack, { ok: true })).toEqual({ kind: 'all-succeeded' });
    expect(read(slack, { ok: false, error: 'invalid' })).toEqual({
      kind: 'refused',
      suspect: 'an-item',
      reason: 'answered 200 with a failure',
      quote: 'invalid',
    });
    expect(read(slack, { ok: false, error: 'busy' })).toMatchObject({ throttled: true, retryAfter: 7_000 });
    const locked = read(slack, { ok: false, error: 'locked' });
    expect(locked).toMatchObject({ kind: 'unavailable', mayRetryAtOnce: false });
    expect(locked).not.toHaveProperty('misread');
    for (const body of [{}, [], 'true', { OK: true }])
      expect(read(slack, body)).toMatchObject(misread('has nothing at /ok'));
  });

  it('may mark failures only', () => {
    const marked: Partial<ResponseFormat> = { results: '', failed: { at: '/error', present: true } };
    expect(statuses(read(marked, [{ error: null }, {}, { error: { code: 1 } }]))).toEqual({
      a: 'succeeded',
      b: 'succeeded',
      c: 'failed',
    });
  });

  it('is no success if it is no object, and only failures are marked', () => {
    const marked: Partial<ResponseFormat> = { failed: { at: '/error', present: true } };
    for (const body of ['"Service Unavailable"', 'null', '[{"error":1}]', '5'])
      expect(read(marked, body)).toMatchObject(misread('passes no test'));
    expect(statuses(read({ ...marked, results: '' }, [null, 'error', {}]))).toEqual({
      a: 'retry',
      b: 'retry',
      c: 'succeeded',
    });
    expect(read({ succeeded: { at: '', present: true } }, ' null\n')).toMatchObject({ kind: 'refused' });
  });

  it('may name the weight that the call used', () => {
    expect(read({ usage: '/usage/tokens' }, { usage: { tokens: 90 } })).toEqual({ kind: 'all-succeeded', usage: 90 });
    for (const other of [{ usage: { tokens: '90' } }, {}, '', 'OK'])
      expect(read({ usage: '/usage/tokens' }, other)).toEqual({ kind: 'all-succeeded' });
  });

  it('fails the items that were not sent, whatever it says about the others', () => {
    const error = { code: 'payload-unfit', message: 'odd', retriable: false };
    const unfit = new Map([[id('z'), error]]);
    const failed = { status: 'failed', error };
    expect(statuses(read({}, '', 200, unfit))).toEqual({ a: 'succeeded', b: 'succeeded', c: 'succeeded', z: 'failed' });
    for (const status of [429, 500, 400, 404])
      expect(read({}, '', status, unfit)).toMatchObject({ settled: new Map([['z', failed]]) });
  });

  it('is quoted apart from its reason, and shortened', () => {
    const long = 'x'.repeat(5_000);
    const answer = read({ results: '', succeeded: { at: '/s', is: 1 } }, [long, { s: long }, { s: 1 }]);
    const [a, b] = answer.kind === 'results' ? [...answer.items.values()] : [];
    expect(JSON.stringify(a).length + JSON.stringify(b).length).toBeLessThan(4_000);
  });
});
