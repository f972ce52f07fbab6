/** `groupage try` against a real server with a format of its own. */

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import { groupage } from './groupage.ts';

const SECRET = 's3cret-token';

describe('groupage try', () => {
  let folder: string;
  let calls: string[];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    calls.push(`${request.method} ${request.url} ${body}`);
    if (request.url === '/token') return void response.end('{"access_token":"LIVE-TOKEN"}');
    const items = JSON.parse(body) as { readonly to: string }[];
    const data = items.map(({ to }, n) => {
      if (to === 'gone') return { status: 'error', message: `unknown to ${request.headers.authorization}` };
      return to === 'busy' ? { status: 'busy' } : { status: 'ok', id: `T-${n}` };
    });
    response.setHeader('set-cookie', 'session=1');
    response.end(JSON.stringify(items.some(({ to }) => to === 'odd') ? { tickets: data } : { data }));
  });
  beforeAll(async () => {
    folder = temporaryFolder('try');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const push = {
      target: ['project'],
      batch: { maxSize: 3 },
      downstream: {
        kind: 'http',
        url: `http://127.0.0.1:${port}/v1/{project}/send`,
        auth: { kind: 'bearer', token: { ssm: '/try/token' } },
        request: { as: 'array', item: { from: '/message' } },
        response: {
          results: '/data',
          succeeded: { at: '/status', is: 'ok' },
          throttled: { at: '/status', is: 'busy' },
          error: '/message',
          result: '/id',
        },
      },
    };
    const job = { target: [], downstream: { kind: 'lambda', function: 'f' } };
    const merging = { target: [], merge: { keys: 'ids[]' }, downstream: { kind: 'http', url: 'http://127.0.0.1:9/' } };
    writeFileSync(join(folder, 'groupage.config.json'), JSON.stringify({ operations: { push, job, merging } }));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const payload = (to: string, project = 'shop') => JSON.stringify({ project, message: { to } });
  const attempt = (...args: readonly string[]) => {
    calls = [];
    process.env.GROUPAGE_SECRET_TRY_TOKEN = SECRET;
    return groupage(folder, ['try', ...args]);
  };

  it('shows the request, the answer and how each task is read, without secrets', async () => {
    const { code, out, err } = await attempt('push', payload('a'), payload('busy'), payload('gone'));
    expect([code, err, calls]).toEqual([1, '', ['POST /v1/shop/send [{"to":"a"},{"to":"busy"},{"to":"gone"}]']]);
    expect(out).toContain('authorization: (hidden)');
    expect(out).toContain('set-cookie: (hidden)');
    expect(out).toContain('unknown to Bearer (hidden)');
    expect(out).toMatch(
      /-1 +succeeded +"T-0"\n.*-2 +throttled +throttled this task.*\n.*-3 +failed +unknown to Bearer \(hidden\)/,
    );
    expect(out).toContain('1 of 3 tasks succeeded.');
    expect(out).not.toContain(SECRET);
  });

  it('hides secrets in all their forms, and the whole request for a token', async () => {
    const config = JSON.parse(readFileSync(join(folder, 'groupage.config.json'), 'utf8'));
    const { url } = config.operations.push.downstream;
    const auth = { kind: 'oauth2', tokenUrl: new URL('/token', url).href, clientId: 'me', sendIn: 'body' };
    config.operations.push.downstream.auth = { ...auth, clientSecret: { ssm: '/try/token' } };
    writeFileSync(join(folder, 'oauth.json'), JSON.stringify(config));
    calls = [];
    process.env.GROUPAGE_SECRET_TRY_TOKEN = "Zx~a/b'(c) d+e";
    const { code, out } = await groupage(folder, [
      'try',
      'push',
      payload('a'),
      payload('gone'),
      '--config',
      'oauth.json',
    ]);
    expect(calls[0]).toContain('client_secret=Zx%7Ea%2Fb%27%28c%29+d%2Be');
    expect([code, calls.length]).toEqual([1, 2]);
    expect(out).toContain('unknown to Bearer (hidden)');
    for (const part of ['Zx', 'b%27', 'LIVE-TOKEN']) expect(out).not.toContain(part);
  });

  it('says so if all is well', async () => {
    const { code, out } = await attempt('push', payload('a'), '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      exchanges: [{ method: 'POST', answer: { status: 200 }, headers: { authorization: '(hidden)' } }],
      tasks: [{ is: 'succeeded', why: '"T-0"' }],
    });
    expect(out).not.toContain(SECRET);
  });

  it('says what an answer means that cannot be read', async () => {
    const { code, out } = await attempt('push', payload('odd'));
    expect(code).toBe(1);
    expect(out).toContain('retry    answered 200 without a list at /data, which downstream.response names');
    expect(out).toContain('although the API may have processed them.');
  });

  it('sends nothing with --dry-run', async () => {
    writeFileSync(join(folder, 'some.jsonl'), `${payload('a', 'a b')}\n\n${payload('b', 'a b')}\n`);
    const { code, out } = await attempt('push', '--file', 'some.jsonl', '--dry-run');
    expect([code, calls]).toEqual([0, []]);
    expect(out).toContain('/v1/a%20b/send\n  content-type: application/json\n[{"to":"a"},{"to":"b"}]');
    expect(out).toContain('Nothing was sent.');
  });

  it.each<[readonly string[], number, string]>([
    [['push'], 2, 'give the payload of at least one task'],
    [['push', '{}', '--file', 'x'], 2, 'give either payloads or --file'],
    [['push', '--file', 'none.jsonl'], 1, 'none.jsonl cannot be read'],
    [['push', '{'], 1, 'payload 1 is not JSON'],
    [['push', '[]'], 1, 'payload 1 must be a JSON object'],
    [['push', '{}'], 1, 'payload 1: payload.project is missing'],
    [
      ['push', '{"project":1}', '{"project":2}'],
      1,
      'payloads 1 and 2 differ in a field of "target" (push/project=1 and push/project=2)',
    ],
    [['push', ...[1, 2, 3, 4].map(() => '{"project":1}')], 1, 'a batch has at most 3 tasks (batch.maxSize), not 4'],
    [['nothing', '{}'], 1, 'there is no operation nothing. Configured are push, job, merging'],
    [['job', '{}'], 1, 'groupage try calls HTTP APIs only'],
    [['merging', '{"ids":[1]}'], 1, 'merges requests'],
    [['push', '{}', '--config', 'none.json'], 1, 'none.json'],
  ])('%j is refused', async (args, status, message) => {
    const { code, err } = await attempt(...args);
    expect(err).toContain(message);
    expect([code, calls]).toEqual([status, []]);
  });

  it('explains a secret that is missing', async () => {
    calls = [];
    delete process.env.GROUPAGE_SECRET_TRY_TOKEN;
    const { code, out } = await groupage(folder, ['try', 'push', payload('a')]);
    expect(out).toContain('set the environment variable GROUPAGE_SECRET_TRY_TOKEN');
    expect([code, calls]).toEqual([1, []]);
  });
});
