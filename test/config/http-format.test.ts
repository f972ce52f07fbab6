/** Settings for a batch API with a format of its own. */
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { ofDownstream } from './problems.ts';

const HTTP = { kind: 'http', url: 'https://api.example/v1/{depot}/batch' };
const KEY = { ssm: '/key' };
const OK = { at: '/status', is: 'ok' };
const BRACES = 'may have braces only in its path, each around one grouping field: /batches/{carrier}';
const TAKEN = 'is a place that "with" has a value for, or leads through one that is no object: choose another place';
const A_TEST =
  'must be a test such as {"at": "/status", "is": "ok"}, {"at": "/status", "from": 200, "to": 299} or {"at": "/error", "present": true}, or null for none';

/** The problems of an operation with this downstream, and with more settings. */
const found = (downstream: object, more: object = {}) => {
  const parsed = parseConfig({
    operations: { ship: { target: ['depot'], downstream: { ...HTTP, ...downstream }, ...more } },
  });
  return parsed.ok
    ? []
    : parsed.problems.map(({ path, reason }) => `${path.replace('operations.ship.', '')} ${reason}`);
};

describe('the format of a batch API', () => {
  it.each<object>([
    { request: { as: 'array' }, response: {} },
    { request: { as: 'object', items: '/a/b', with: { deep: [{ x: null }] } } },
    { request: { as: 'ndjson', item: { from: '/m', at: '/p', id: '/i', with: { a: 1 } } } },
    { request: { as: 'form', items: 'batch', with: { n: 2 }, contentType: 'text/plain; charset=utf-8' } },
    { response: { results: '', succeeded: OK, throttled: { at: '', is: [1, 'b', null] }, id: '/id' } },
    { response: { failures: '/Failed', index: '/n', succeeded: OK }, method: 'PATCH' },
    { response: { results: '/a', failures: '/b', id: '/c', failureId: '/d' } },
    { request: { as: 'ndjson', item: { line: { with: { index: {} }, id: '/index/_id' } } } },
    { response: { succeeded: { at: '/ok', present: true }, error: '/error', usage: '/usage' } },
    { auth: { kind: 'bearer', token: KEY } },
    { auth: { kind: 'basic', user: '', password: KEY } },
    { auth: { kind: 'api-key', key: KEY, query: 'api_key' } },
    {
      url: 'https://a.example/_bulk',
      auth: { kind: 'sigv4', service: 'es', action: 'es:ESHttpPost', resource: 'arn:aws:es:eu-central-1:1:domain/a' },
    },
    {
      auth: {
        kind: 'oauth2',
        tokenUrl: 'https://id.example/t',
        clientId: 'a',
        clientSecret: KEY,
        with: { audience: 'b' },
      },
    },
  ])('is accepted: %j', (downstream) => {
    expect(found(downstream)).toEqual([]);
  });

  it.each<[object, string]>([
    [{ url: 'https://{depot}.example/a' }, `url ${BRACES}`],
    [{ url: 'https://a.example/a?b={depot}' }, `url ${BRACES}`],
    [{ url: 'https://a.example/{depot' }, `url ${BRACES}`],
    [
      { url: 'https://a.example/{x}' },
      'url contains {x}, but "target" does not: add "x" to target, or use one of its fields',
    ],
    ...[
      'https:///{depot}/a',
      'https:/{depot}/a',
      'https:{depot}/a',
      'https:\\\\{depot}\\a',
      'https://a.example/b\\{depot}',
    ].map((url): [object, string] => [{ url }, `url ${BRACES}`]),
    [{ request: { as: 'object', items: '/a', with: { a: 1 } } }, `request.items ${TAKEN}`],
    [{ request: { as: 'form', items: 'a', with: { a: 1 } } }, `request.items ${TAKEN}`],
    [{ request: { as: 'array', item: { at: '/a', with: { a: 1 } } } }, `request.item.at ${TAKEN}`],
    ...['/a', '/a/b'].map((at): [object, string] => [
      { request: { as: 'array', item: { at, id: '/a' } } },
      'request.item.id must not be the place of the payload ("at") or around it: the id would replace the payload',
    ]),
    [{ response: { succeeded: { at: '', from: 2, to: 1 } } }, `response.succeeded ${A_TEST}`],
    [
      { auth: { kind: 'api-key', key: KEY, header: 'Content-Length' } },
      'auth.header is a header that Groupage sets itself: choose another',
    ],
    [
      { auth: { kind: 'oauth2', tokenUrl: 'https://a/{depot}', clientId: 'a', clientSecret: KEY } },
      'auth.tokenUrl cannot have fields in braces',
    ],
    [
      { auth: { kind: 'sigv4', service: 'es', action: 'es:A', resource: 'arn:a' } },
      'url cannot have fields with an auth of kind sigv4, whose role may call one resource: write an operation for each path',
    ],
    [{ method: 'GET' }, 'method must be "POST", "PUT" or "PATCH", not "GET"'],
    [{ request: { as: 'xml' } }, 'request.as must be "array", "object", "ndjson" or "form", not "xml"'],
    [
      { request: { as: 'object' } },
      'request.items must be a JSON pointer to the list, such as "/items", because "as" is "object"',
    ],
    [
      { request: { as: 'form' } },
      'request.items must be the name of the field with the list (no pointer), because "as" is "form"',
    ],
    [
      { request: { as: 'array', items: '/a' } },
      'request.items has no meaning with "as": "array", whose body is the list itself',
    ],
    [
      { request: { as: 'ndjson', with: { a: 1 } } },
      'request.with has no meaning with "as": "ndjson", whose body has nothing beside the items',
    ],
    [
      { request: { as: 'array', item: { with: { a: 1 } } } },
      'request.item.with needs "at": without it, the payload is the whole item and leaves no place for constants',
    ],
    [
      { request: { as: 'array', item: { id: '' } } },
      'request.item.id must not be "", because the id cannot be the whole item: use a pointer such as "/id"',
    ],
    [
      { request: { as: 'array', item: { from: 'a' } } },
      'request.item.from must be a JSON pointer such as "/data/id", or "" for the whole value, not "a"',
    ],
    [
      { request: { as: 'array', item: { id: '/a~2' } } },
      'request.item.id must be a JSON pointer such as "/data/id", or "" for the whole value, not "/a~2"',
    ],
    [{ request: { as: 'array', item: { ids: '/a' } } }, 'request.item.ids is unknown; did you mean "id"?'],
    [
      { request: { as: 'object', items: '/a', with: { n: Number.NaN } } },
      'request.with must be an object of plain JSON values, with at most 10000 characters',
    ],
    [
      { response: { results: '' } },
      'response.results needs a test, "succeeded" or "failed", that decides which results are successes',
    ],
    [
      { response: { results: '', failures: '/a' } },
      'response.id is needed with "results" and "failures": both lists name their items by it',
    ],
    [
      { response: { results: '', failed: OK, failureId: '/a' } },
      'response.failureId needs "failures" and "id": it replaces "id" in the elements of "failures"',
    ],
    [
      { request: { as: 'array', item: { line: { with: {} } } } },
      'request.item.line needs "as": "ndjson": a body of another form has no lines',
    ],
    [
      { request: { as: 'ndjson', item: { line: { with: { index: 1 }, id: '/index/_id' } } } },
      'request.item.line.id must be a free place in line.with, such as "/index/_id"',
    ],
    [
      { request: { as: 'ndjson', item: { line: { from: '/a' } } } },
      'request.item.line.from needs line.id: where the value is put',
    ],
    [
      { request: { as: 'ndjson', item: { line: { wiht: {} } } } },
      'request.item.line.wiht is unknown; did you mean "with"?',
    ],
    [{ request: { as: 'object', items: '/a/b', with: { a: 1 } } }, `request.items ${TAKEN}`],
    [{ request: { as: 'array', item: { at: '/a/b', with: { a: [] } } } }, `request.item.at ${TAKEN}`],
    [
      { response: { failures: '' } },
      'response.failures needs "id" or "index", so that Groupage can find the task of each failure',
    ],
    [
      { response: { failures: '', id: '', index: '' } },
      'response.index cannot be combined with "id": leave one of the two out',
    ],
    [
      { response: { results: '', index: '', failed: OK } },
      'response.index needs "failures": results are in the order of the items, or have an id',
    ],
    [{ response: { id: '/id' } }, 'response.id needs "results" or "failures": the id is read from their elements'],
    [
      { response: { result: '/id', succeeded: OK } },
      'response.result needs "results": the result is read from its elements',
    ],
    [{ response: { error: '/e' } }, 'response.error needs a test: without one, each 2xx answer is a success'],
    [{ response: { succeeded: { at: '/a', si: 1 } } }, `response.succeeded ${A_TEST}`],
    [{ response: { succeeded: { at: 'a', is: 1 } } }, `response.succeeded ${A_TEST}`],
    [{ response: { failed: OK, resluts: '' } }, 'response.resluts is unknown; did you mean "results"?'],
    [
      { response: {}, requireResults: false },
      'requireResults has no meaning with downstream.response, which says what a success is',
    ],
    [
      { request: { as: 'array' }, response: { results: '', id: '/id', failed: OK } },
      'response.id needs downstream.request.item.id: otherwise the API does not know the ids of the tasks',
    ],
    [
      { auth: 'key' },
      'auth must be an object with a "kind": "bearer", "basic", "api-key", "sigv4" or "oauth2", or null for none, not a text',
    ],
    [{ auth: { kind: 'jwt' } }, 'auth.kind must be "bearer", "basic", "api-key", "sigv4" or "oauth2", not "jwt"'],
    [{ auth: { kind: 'bearer', token: KEY, user: 'a' } }, 'auth.user is unknown; known are kind, token'],
    [
      { auth: { kind: 'basic', user: 'a:b', password: KEY } },
      'auth.user must be a user name of printable ASCII characters without a colon, not "a:b"',
    ],
    [
      { auth: { kind: 'api-key', key: KEY } },
      'auth.header or "query" must be set, and not both: it says where the key is sent',
    ],
    [
      { auth: { kind: 'api-key', key: KEY, header: 'a', query: 'b' } },
      'auth.header or "query" must be set, and not both: it says where the key is sent',
    ],
    [
      { url: 'https://a.example/', auth: { kind: 'sigv4', service: 'es', action: 'es:*', resource: 'arn:a' } },
      'auth.action must be one action such as "execute-api:Invoke", without *, not "es:*"',
    ],
    [
      { url: 'https://a.example/', auth: { kind: 'sigv4', service: 'es', action: 'es:A', resource: 'arn:a/*' } },
      'auth.resource must be the ARN of one resource, without * and ?, not "arn:a/*"',
    ],
    [
      {
        auth: {
          kind: 'oauth2',
          tokenUrl: 'https://a/',
          clientId: 'a',
          clientSecret: KEY,
          with: { client_secret: 's3cret' },
        },
      },
      'auth.with.client_secret is set by Groupage itself: leave it out',
    ],
    [
      { auth: { kind: 'bearer', token: KEY }, headers: { Authorization: KEY } },
      'headers.Authorization is set by downstream.auth too: leave one of the two out',
    ],
    [
      { auth: { kind: 'api-key', key: KEY, header: 'X-Key' }, headers: { 'x-key': KEY } },
      'headers.x-key is set by downstream.auth too: leave one of the two out',
    ],
  ])('is refused: %j', (downstream, problem) => {
    expect(found(downstream)).toEqual([`downstream.${problem}`]);
  });

  it('shows no secret that is in the wrong place', () => {
    const problems = JSON.stringify([
      found({ auth: { kind: 'bearer', token: 's3cret' } }),
      found({ auth: 's3cret' }),
      found({ auth: { kind: 'oauth2', tokenUrl: 'https://a:s3cret@b/', clientId: 'a', clientSecret: KEY } }),
      found({
        auth: { kind: 'oauth2', tokenUrl: 'https://b/', clientId: 'a', clientSecret: 's3cret', with: 's3cret' },
      }),
      found({ request: { as: 'object', items: '/a', with: 's3cret' } }),
    ]);
    expect(problems).not.toContain('s3cret');
  });

  it('cannot be combined with merge, nor used by other kinds', () => {
    const merge = { merge: { keys: 'inputs[].id' } };
    expect(found({ request: { as: 'array' } }, merge)).toEqual([
      'downstream.request cannot be combined with merge, because merged calls are always in the format of Groupage: remove one of the two',
    ]);
    expect(found({ response: {} }, merge)).toEqual([
      'downstream.response cannot be combined with merge, because merged calls are always in the format of Groupage: remove one of the two',
    ]);
    expect(ofDownstream({ kind: 'lambda', function: 'f', response: {} })).toEqual([
      'response is unknown; known are kind, function, timeout, deadline, requireResults',
    ]);
  });
});
