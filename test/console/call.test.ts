/** Calls of a remote API by the console's server. */
import { expect, it } from 'vitest';
import { READ_UNITS } from '../../src/api/shared/read-units.ts';
import { remoteCall } from '../../tools/console/server/call.ts';
import { CommandFailure } from '../../tools/failure.ts';

const asked: { url: string; init: RequestInit }[] = [];
const call = (answer: () => Promise<Response>) =>
  remoteCall('https://api.example/prod', (url, init) => {
    asked.push({ url, init });
    return answer();
  });
const get = (path: string, init?: RequestInit) => new Request(`http://localhost${path}`, init);

it('a remote call passes on the path, the query, the method and the body', async () => {
  const send = call(async () => Response.json({}));
  await send(get('/v1/targets?operation=ship'));
  await send(get('/v1/tasks', { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'text/odd' } }));
  expect(asked.map(({ url, init: { signal: _, ...init } }) => ({ url, ...init }))).toEqual([
    { url: 'https://api.example/prod/targets?operation=ship', method: 'GET' },
    { url: 'https://api.example/prod/tasks', method: 'POST', body: '{"a":1}', headers: { 'content-type': 'text/odd' } },
  ]);
});

it('a remote call passes on headers about the answer, but none about the connection', async () => {
  const kept = { 'content-type': 'application/problem+json', allow: 'GET', 'retry-after': '7', [READ_UNITS]: '2.5' };
  const dropped = { connection: 'close', 'content-encoding': 'gzip', 'set-cookie': 'a=b', 'x-odd': '1' };
  const answer = await call(async () => new Response('late', { status: 503, headers: { ...kept, ...dropped } }))(
    get('/v1/tasks'),
  );
  expect([answer.status, await answer.text(), Object.fromEntries(answer.headers)]).toEqual([503, 'late', kept]);
});

it('a remote call that fails gives the reason as a text', async () => {
  const failing = (cause: unknown) => call(() => Promise.reject(cause))(get('/v1/tasks'));
  await expect(failing(new DOMException('over', 'TimeoutError'))).rejects.toThrow('the API did not answer in time');
  await expect(failing(new Error('fetch failed', { cause: new Error('ECONNREFUSED') }))).rejects.toThrow(
    'the API does not answer (ECONNREFUSED)',
  );
  await expect(failing(new CommandFailure('the credentials have expired'))).rejects.toThrow(/^the credentials have/);
  const half = get('/v1/tasks', { method: 'POST', body: new Uint8Array([0xff]) });
  await expect(call(async () => Response.json({}))(half)).rejects.toThrow('the body of the request is not UTF-8');
});
