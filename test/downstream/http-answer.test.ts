import { describe, expect, it } from 'vitest';
import { type Call, inFull, type Reason } from '../../src/domain/downstream/downstream.ts';
import { type HttpAnswer, readAnswer } from '../../src/domain/downstream/http-answer.ts';
import { readPayload } from '../../src/domain/downstream/lambda-answer.ts';
import { parseRetryAfter, RETRY_AFTER_MAX, retryDelay } from '../../src/domain/downstream/retry.ts';
import { verdictOf } from '../../src/domain/downstream/verdict.ts';
import { aRetry, id, NOW } from '../factories/factories.ts';

const items = ['a', 'b', 'c'].map((name) => ({ id: id(name), payload: '{}' }));
const read = (
  status: number,
  body: unknown = '',
  fields: Partial<HttpAnswer> = {},
  requireResults: boolean | null = null,
) =>
  readAnswer(
    {
      status,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      contentType: 'application/json',
      retryAfter: undefined,
      ...fields,
    },
    items,
    requireResults,
  );
const outcomes = (body: unknown) => {
  const { results, open } = verdictOf(read(200, body), items);
  return {
    ...Object.fromEntries(results.map((each) => [each.id, each.outcome.status])),
    open: open.map((each) => each.id),
  };
};

describe('the usage that an answer reports', () => {
  it.each<[number, object]>([
    [200, { results: [{ id: 'a', status: 'succeeded' }] }],
    [200, { inputs: [] }],
    [200, { tokens: 9 }],
    [202, { pending: true }],
  ])('is read from the body of a %i answer %j', (status, body) => {
    expect(read(status, { ...body, usage: 7_340.5 })).toEqual({ ...read(status, body), usage: 7_340.5 });
    expect(read(status, { ...body, usage: 0 })).toMatchObject({ usage: 0 });
    expect(read(status, { ...body, usage: 7 }, { usage: ' 8 ' }), 'the header counts').toMatchObject({ usage: 8 });
    expect(read(status, { ...body, usage: 7 }, { usage: 'many' })).toMatchObject({ usage: 7 });
    for (const usage of [-1, '7', null, 1e13, { total_tokens: 7 }, [7]])
      expect(read(status, { ...body, usage }), String(usage)).toEqual(read(status, body));
  });

  it('is read from a header that is a decimal number', () => {
    for (const status of [200, 202, 422, 503])
      expect(read(status, '', { usage: '12.5' })).toMatchObject({ usage: 12.5 });
    for (const usage of ['', '-1', '1e3', '0x10', '1,5', '9'.repeat(13), 'NaN', null])
      expect(read(200, '', { usage }), String(usage)).not.toHaveProperty('usage');
  });

  it('is read from the answer of a function', () => {
    const call = { items } as unknown as Call;
    expect(readPayload('{"usage":5,"pending":true}', call, null)).toEqual({ kind: 'pending', usage: 5 });
    expect(readPayload('{"usage":5}', call, null)).toMatchObject({ kind: 'all-succeeded', usage: 5 });
  });
});

describe('an answer', () => {
  it('without results means that all items succeeded', () => {
    const succeeded = { kind: 'all-succeeded', withoutResults: true };
    expect(read(200)).toEqual(succeeded);
    expect(read(204)).toEqual(succeeded);
    expect(read(201, { ok: true })).toEqual(succeeded);
    expect(read(201, { ok: true }, {}, false)).toEqual(succeeded);
  });

  it.each<[string, object]>([
    ['batchItemFailures', { batchItemFailures: [{ itemIdentifier: 'a' }] }],
    ['errors', { took: 30, errors: true, items: [{ index: { status: 429 } }] }],
    ['Failed', { Successful: [], Failed: [{ Id: 'a', Code: 'InternalError' }] }],
    ['FailedEntryCount', { FailedEntryCount: 1, Entries: [{ ErrorCode: 'InternalFailure' }] }],
    ['FailedRecordCount', { FailedRecordCount: 2, Records: [] }],
    ['FailedPutCount', { FailedPutCount: 1, RequestResponses: [{ ErrorCode: 'ServiceUnavailableException' }] }],
    ['UnprocessedItems', { UnprocessedItems: { parcels: [{}] } }],
    ['UnprocessedKeys', { Responses: {}, UnprocessedKeys: { parcels: { Keys: [{}] } } }],
    ['Errors', { Deleted: [], Errors: [{ Key: 'a' }] }],
    ['failures', { tasks: [], failures: [{ reason: 'RESOURCE:CPU' }] }],
    ['errors', { data: null, errors: [{ message: 'no such parcel' }] }],
    ['error', { jsonrpc: '2.0', error: { code: -32_000, message: 'busy' }, id: 1 }],
    ['error', { error: 'no such parcel' }],
    ['errorMessage', { errorType: 'Error', errorMessage: 'no such parcel' }],
    ['statusCode', { statusCode: 502, body: '' }],
    ['statusCode', { statusCode: '500' }],
    ['success', { success: false }],
    ['ok', { ok: false, reason: 'busy' }],
    ['statusCode', { statusCode: 200, body: '{"results": [{"id": "a", "status": "failed"}]}' }],
  ])('of another protocol that reports a failure is no success: %s %#', (member, body) => {
    const reason = `answered 200 with \`${member}\`, which Groupage does not read: answer {"results":[…]}, see docs/reference/downstream-call.md`;
    for (const requireResults of [null, true, false])
      expect(read(200, body, {}, requireResults)).toEqual({
        kind: 'unavailable',
        reason,
        quote: expect.any(String),
        mayRetryAtOnce: false,
        misread: true,
      });
    // What Groupage reads counts, whatever stands beside it.
    const { results, open } = verdictOf(read(200, { ...body, results: [{ id: 'a', status: 'succeeded' }] }), items);
    expect([results.length, open.length]).toEqual([1, 2]);
  });

  it.each<[object]>([
    [{ batchItemFailures: [] }],
    [{ batchItemFailures: null }],
    [{ took: 30, errors: false, items: [{ index: { status: 201 } }] }],
    [{ Successful: [{ Id: 'a' }], Failed: [] }],
    [{ FailedEntryCount: 0, Entries: [{ EventId: '1' }] }],
    [{ FailedPutCount: 0, RequestResponses: [{ RecordId: '1' }] }],
    [{ UnprocessedItems: {} }],
    [{ errors: { count: 0 }, failures: { total: 0, list: [] }, Errors: { Quantity: 0 } }],
    [{ success: true, ok: true }],
    [{ data: { parcels: 3 }, errors: [] }],
    [{ jsonrpc: '2.0', result: 3, error: null }],
    [{ statusCode: 200, body: '' }],
  ])('of another protocol that reports no failure is success without results: %j', (body) => {
    expect(read(200, body)).toEqual({ kind: 'all-succeeded', withoutResults: true });
    expect(read(200, body, {}, true)).toMatchObject({ kind: 'unavailable' });
  });

  it('without results is no success if the operation requires them', () => {
    const refused = {
      kind: 'unavailable',
      reason:
        'answered 200 without results, which downstream.requireResults demands: answer {"results":[…]}, see docs/reference/downstream-call.md',
      mayRetryAtOnce: false,
      misread: true,
    };
    expect(read(200, '', {}, true)).toEqual(refused);
    expect(read(200, ' ', {}, true)).toEqual(refused);
    expect(read(200, { ok: true }, {}, true)).toEqual({ ...refused, quote: '{"ok":true}' });
    expect(read(200, { results: [] }, {}, true)).toMatchObject({ kind: 'results' });
    expect(read(200, { inputs: [] }, {}, true)).toEqual({ kind: 'all-succeeded', inputs: '[]' });
    expect(read(202, { pending: true }, {}, true)).toEqual({ kind: 'pending' });
  });

  it('names unknown ids that may be ids of tasks, and the legal statuses', () => {
    const strange = ['z', '../z', 'y y', 'z2', 'z3', 'z4'].map((each) => ({ id: each, status: 'succeeded' }));
    const answer = read(200, { results: [...strange, { id: 7 }, { id: 'b', status: 'ok' }] });
    expect(answer).toMatchObject({ foreign: 7, foreignIds: ['z', 'z2', 'z3'] });
    expect(inFull(verdictOf(answer, items))).toBe(
      'left out of the results, which contain 7 without an id of the call (an id is a text, as in the call): z, z2, z3',
    );
    expect(inFull(verdictOf(answer, items.slice(1, 2)))).toBe(
      'gave an unknown status (legal are "succeeded", "failed", "retry" and "throttled"): "ok"',
    );
    expect(read(200, { results: [{ id: 7 }] })).not.toHaveProperty('foreignIds');
  });

  it('with results gives each item its own; absent items stay open', () => {
    const results = [
      { id: 'a', status: 'succeeded', result: { n: 1 } },
      { id: 'b', status: 'retry', error: 'busy' },
    ];
    expect(outcomes({ results })).toEqual({ a: 'succeeded', open: ['b', 'c'] });
  });

  it('without results keeps the items that are settled already', () => {
    const settled = new Map([[id('b'), { status: 'succeeded' as const }]]);
    const refused = verdictOf({ kind: 'refused', reason: 'answered 400', settled }, items);
    expect(refused.results.map((each) => [each.id, each.outcome.status])).toEqual([
      ['a', 'failed'],
      ['b', 'succeeded'],
      ['c', 'failed'],
    ]);
    const unavailable = verdictOf({ kind: 'unavailable', reason: 'busy', mayRetryAtOnce: true, settled }, items);
    expect(unavailable.results).toEqual([{ id: 'b', outcome: { status: 'succeeded' } }]);
    expect(unavailable.open.map((each) => each.id)).toEqual(['a', 'c']);
  });

  it('keeps each result byte by byte', () => {
    const answer = read(200, '{"results":[{"id":"a","status":"succeeded","result": 12345678901234567890 }]}');
    expect(answer).toMatchObject({ kind: 'results' });
    if (answer.kind === 'results')
      expect(answer.items.get(id('a'))).toEqual({ status: 'succeeded', result: '12345678901234567890' });
  });

  it('with a result too large for a row keeps only its size', () => {
    const answer = read(200, { results: [{ id: 'a', status: 'succeeded', result: 'x'.repeat(300_000) }] });
    if (answer.kind === 'results')
      expect(answer.items.get(id('a'))).toEqual({ status: 'succeeded', resultOmitted: 300_002 });
    expect.assertions(1);
  });

  it("can give an item's reason in three forms", () => {
    const results = [
      { id: 'a', status: 'failed', error: 'no such depot' },
      { id: 'b', status: 'failed', error: { code: 'closed', message: 'on Sundays', retriable: true } },
      { id: 'c', status: 'failed' },
    ];
    const { results: verdict } = verdictOf(read(200, { results }), items);
    expect(verdict.map(({ outcome }) => (outcome.status === 'failed' ? outcome.error : undefined))).toEqual([
      { code: 'failed', message: 'no such depot', retriable: false },
      { code: 'closed', message: 'on Sundays', retriable: true },
      { code: 'failed', message: 'no reason given', retriable: false },
    ]);
  });

  it('may be deeply nested, or contain half a surrogate pair', () => {
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    const text = `{"results":[{"id":"a","status":"failed","error":${deep}},{"id":"b","status":${deep}},{"id":"c","status":"failed","error":"half \\ud83d"}]}`;
    const { results, open } = verdictOf(read(200, text), items);
    expect(open.map((each) => each.id)).toEqual(['b']);
    const messages = results.map(({ outcome }) => (outcome.status === 'failed' ? outcome.error.message : ''));
    expect(messages[0]).toMatch(/^\[+… \(20000 characters\)$/);
    expect(messages[1]).toBe('half \ufffd');
    const cut = read(400, `${'x'.repeat(199)}\ud83d\ude00 and more text that has to go`);
    expect(inFull(cut as Reason).isWellFormed()).toBe(true);
    expect(inFull(cut as Reason)).toMatch(/^answered 400: x{199}\ufffd…/);
  });

  it('with results for unknown items changes nothing', () => {
    expect(read(200, { results: [{ id: 'z', status: 'failed' }] })).toMatchObject({ kind: 'results', foreign: 1 });
    expect(outcomes({ results: [{ id: 'z', status: 'failed' }] })).toEqual({ open: ['a', 'b', 'c'] });
    // Ids are texts. A number is counted as foreign, so that the operator notices.
    const odd = { results: [{ id: 1, status: 'succeeded' }, null, { status: 'succeeded' }] };
    expect(read(200, odd)).toMatchObject({ foreign: 3 });
  });

  it('retries an item only if it has no other result for it', () => {
    const both = [
      { id: 'a', status: 'retry' },
      { id: 'a', status: 'succeeded' },
      { id: 'b', status: 'failed' },
      { id: 'b', status: 'retry' },
    ];
    expect(outcomes({ results: both })).toEqual({ a: 'succeeded', b: 'failed', open: ['c'] });
  });

  it('with two results for an item counts the first', () => {
    expect(
      outcomes({
        results: [
          { id: 'a', status: 'failed' },
          { id: 'a', status: 'succeeded' },
        ],
      }),
    ).toEqual({ a: 'failed', open: ['b', 'c'] });
  });

  it('that cannot be parsed is no success', () => {
    const odd = [
      '<html>Login</html>',
      'OK',
      '[]',
      '"done"',
      'null',
      '{"results":{}}',
      '{"results":',
      '{"results":null}',
    ];
    for (const body of odd) expect(read(200, body)).toMatchObject({ kind: 'unavailable' });
    expect(outcomes({ results: [7, null, { id: 5 }, { id: 'a', status: 'done' }] })).toEqual({ open: ['a', 'b', 'c'] });
  });

  it('that reports later is pending', () => {
    expect(read(202, { pending: true })).toEqual({ kind: 'pending' });
    expect(read(200, { pending: true })).toEqual({ kind: 'all-succeeded', withoutResults: true });
    expect(read(202)).toEqual({ kind: 'all-succeeded', withoutResults: true });
  });

  it('is retriable or final by its status', () => {
    const transient = { kind: 'unavailable', mayRetryAtOnce: true };
    for (const status of [408, 425, 500, 502, 503, 504]) expect(read(status)).toMatchObject(transient);
    for (const status of [429, 301, 302, 401, 403, 404, 405])
      expect(read(status)).toMatchObject({ kind: 'unavailable', mayRetryAtOnce: false });
    for (const status of [408, 425, 500, 503, 403]) expect(read(status)).not.toHaveProperty('throttled');
    expect(read(429)).toMatchObject({ throttled: true });
    for (const status of [400, 409, 410, 413, 422]) expect(read(status)).toMatchObject({ kind: 'refused' });
    expect(read(503, '', { retryAfter: 3_000 })).toMatchObject({ retryAfter: 3_000, mayRetryAtOnce: false });
  });

  it('is quoted in one shortened line', () => {
    const answer = read(400, `bad\u0000\n\u001b[31m depot ${'x'.repeat(1_000)}`);
    expect(inFull(answer as Reason)).toMatch(/^answered 400: bad \[31m depot x+… \(\d+ characters\)$/);
  });

  it('is quoted separately from the reason, which is logged', () => {
    const echo = 'hunter2';
    const bodies = [echo, [echo], JSON.stringify(echo), { results: echo }, { pending: true, echo }];
    for (const body of bodies)
      for (const status of [200, 202, 302, 400, 401, 422, 429, 500]) {
        const answer = read(status, body, { contentType: `text/${echo}` });
        if ('reason' in answer) expect(answer.reason, `${status} ${JSON.stringify(body)}`).not.toContain(echo);
      }
    expect(read(500, echo)).toMatchObject({ reason: 'answered 500', quote: echo });
    expect(read(200, '<html>', { contentType: 'text/html; charset=utf-8' })).toMatchObject({
      quote: 'text/html <html>',
    });
    for (const item of [
      { status: 'retry', error: echo },
      { status: echo },
      { status: 'retry', error: { code: echo } },
    ]) {
      const { reason, quote } = verdictOf(read(200, { results: [{ id: 'a', ...item }] }), items);
      expect(reason).toMatch(/^(asked to retry|gave an unknown status \(legal are .*\))$/);
      expect(quote).toContain(echo);
    }
  });
});

describe('a retry', () => {
  const policy = aRetry({ maxAttempts: 5 });

  it('waits at random up to twice as long each time, at most maxDelay', () => {
    expect([1, 2, 3, 10].map((attempt) => retryDelay(policy, attempt, 1))).toEqual([1_000, 2_000, 4_000, 60_000]);
    expect(retryDelay(policy, 3, 0)).toBe(0);
    expect(retryDelay(policy, 3, 0.5)).toBe(2_000);
  });

  it('has a finite delay after any number of attempts', () => {
    for (const attempt of [1_024, 1_025, 1_000_000]) {
      expect(retryDelay(aRetry({ minDelay: 0 }), attempt, 1), `0s, attempt ${attempt}`).toBe(0);
      expect(retryDelay(policy, attempt, 1), `1s, attempt ${attempt}`).toBe(60_000);
    }
  });

  it('waits for Retry-After, and adds jitter', () => {
    expect(retryDelay(policy, 1, 0, 7_000)).toBe(7_000);
    expect(retryDelay(policy, 1, 0.5, 7_000)).toBe(7_500);
    expect(retryDelay(policy, 1, 0, Number.MAX_SAFE_INTEGER)).toBe(RETRY_AFTER_MAX);
  });

  it('parses Retry-After as seconds or as a date', () => {
    expect(parseRetryAfter('120', NOW)).toBe(120_000);
    expect(parseRetryAfter(new Date(NOW + 5_000).toUTCString(), NOW)).toBe(5_000);
    expect(parseRetryAfter(new Date(NOW - 5_000).toUTCString(), NOW)).toBe(0);
    for (const odd of ['soon', '1.5', '-5', 'Soon, perhaps 5']) expect(parseRetryAfter(odd, NOW), odd).toBeUndefined();
    expect(parseRetryAfter(null, NOW)).toBeUndefined();
  });
});
