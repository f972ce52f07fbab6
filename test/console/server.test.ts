import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { advising } from '../../tools/console/server/advice/advising.ts';
import type { CallApi } from '../../tools/console/server/call.ts';
import { finding } from '../../tools/console/server/find.ts';
import type { Limits } from '../../tools/console/server/interval.ts';
import { metricsFeed, noMetrics } from '../../tools/console/server/metrics-feed.ts';
import type { BuiltPage } from '../../tools/console/server/page-build.ts';
import { startRounds } from '../../tools/console/server/rounds.ts';
import { searchNames } from '../../tools/console/server/search-names.ts';
import { consoleApp } from '../../tools/console/server/server.ts';
import type { About } from '../../tools/console/server/shapes.ts';
import { CommandFailure } from '../../tools/failure.ts';
import { type LocalServer, serveLocally } from '../../tools/http/server.ts';
import { eventually } from '../end-to-end/flow.ts';
import { listen } from './listen.ts';

const ABOUT: About = {
  source: { kind: 'local' },
  version: '1',
  operations: ['ship'],
  readUnitsPerHourMax: 1,
  metrics: { from: 'nowhere', everySeconds: 1, dollarsPerHour: 0, window: 0, windows: [] },
};

const LIMITS: Limits = { least: 20, readUnitsPerHourMax: 36_000 };

/** An API that answers with the request. */
const echo: CallApi = async (asked) => {
  const { pathname, search } = new URL(asked.url);
  if (pathname === '/v1/broken') throw new CommandFailure('the credentials have expired');
  return Response.json({ method: asked.method, path: pathname + search, body: await asked.text() });
};

const start = (page: BuiltPage, call = echo): Promise<LocalServer> => {
  const rounds = startRounds(call, LIMITS);
  const app = consoleApp({
    about: async () => ABOUT,
    rounds,
    advise: advising(rounds.call, noMetrics('this is a test')),
    find: finding(searchNames(rounds, async () => ABOUT.operations, LIMITS)),
    metrics: metricsFeed(noMetrics('this is a test')),
    page: Promise.resolve(page),
  });
  return serveLocally(app, 0);
};

/** Requests a path unchanged; `fetch` would normalize it. */
const ask = (server: LocalServer, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Promise<{ status: number | undefined; type: string | undefined; text: string }>((resolve, reject) => {
    const { hostname: host, port } = new URL(server.endpoint);
    request({ host, port, path, method, headers }, async (response) => {
      const text = (await response.toArray()).join('');
      resolve({ status: response.statusCode, type: response.headers['content-type'], text });
    })
      .on('error', reject)
      .end();
  });

describe("the console's server", () => {
  let folder: string;
  let server: LocalServer;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'groupage-console-'));
    const page = join(folder, 'page');
    mkdirSync(join(page, 'assets'), { recursive: true });
    writeFileSync(join(folder, 'secret.txt'), 's3cret');
    writeFileSync(join(page, 'index.html'), '<!doctype html>');
    writeFileSync(join(page, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    writeFileSync(join(page, 'assets', 'index-abc.js'), '1');
    writeFileSync(join(page, 'assets', 'index-abc.css'), 'p{}');
    server = await start({ ok: true, folder: page });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('serves the page without a cache, and its assets as immutable', async () => {
    for (const [path, type, caching] of [
      ['/', 'text/html', 'no-cache'],
      ['/icon.svg', 'image/svg+xml', 'no-cache'],
      ['/assets/index-abc.js', 'text/javascript', 'public, max-age=31536000, immutable'],
      ['/assets/index-abc.css', 'text/css', 'public, max-age=31536000, immutable'],
    ] as const) {
      const { status, headers } = await fetch(server.endpoint + path);
      expect([path, status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
        path,
        200,
        expect.stringContaining(type),
        caching,
      ]);
    }
  });

  it('lets the page load resources of its own origin only', async () => {
    for (const path of ['/', '/console/about', '/v1/tasks', '/nowhere']) {
      const { headers } = await fetch(server.endpoint + path);
      const policy = headers.get('content-security-policy');
      expect(policy).toContain("default-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('serves no file of another folder', async () => {
    for (const path of [
      '/../secret.txt',
      '/assets/../../secret.txt',
      '/%2e%2e/secret.txt',
      '/..%2fsecret.txt',
      '/%2e%2e%2fsecret.txt',
      '/..%5csecret.txt',
      '/assets/%2e%2e/%2e%2e/secret.txt',
      '//secret.txt',
      '/%00',
    ])
      expect([path, await ask(server, path)]).toEqual([
        path,
        { status: 404, type: 'application/problem+json', text: expect.not.stringContaining('s3cret') },
      ]);
  });

  it('answers 404 with a text for unknown paths', async () => {
    for (const [method, path] of [
      ['GET', '/nowhere'],
      ['GET', '/console/nothing'],
      ['POST', '/console/about'],
      ['POST', '/'],
    ] as const) {
      const { status, text } = await ask(server, path, {}, method);
      expect([status, text]).toEqual([404, expect.stringContaining(`there is no ${method} ${path}`)]);
    }
  });

  it('passes requests to the API on unchanged', async () => {
    const path = '/v1/tasks/a%2Fb?target=x%20y';
    const post = await fetch(server.endpoint + path, { method: 'POST', body: '{"n": 1e400}' });
    expect(await post.json()).toEqual({ method: 'POST', path, body: '{"n": 1e400}' });
    expect(await (await fetch(`${server.endpoint}/v1/tasks`)).json()).toMatchObject({ method: 'GET' });
  });

  it('gives the reason if the API cannot be called', async () => {
    const response = await fetch(`${server.endpoint}/v1/broken`);
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ detail: 'the credentials have expired' });
  });

  it('describes the stack and its limits', async () => {
    const response = await fetch(`${server.endpoint}/console/about`);
    expect([await response.json(), response.headers.get('cache-control')]).toEqual([ABOUT, 'no-store']);
  });

  it('refuses other origins and other host names', async () => {
    for (const path of ['/', '/console/about', '/console/live', '/v1/tasks', '/assets/index-abc.js'])
      for (const headers of [
        { origin: 'https://evil.example' },
        { host: 'rebound.example' },
        { 'sec-fetch-site': 'cross-site' },
      ] as const)
        expect([path, (await ask(server, path, { ...headers })).status]).toEqual([path, 403]);
  });

  it('refuses paths outside the API for live events, with the reason', async () => {
    const response = await fetch(`${server.endpoint}/console/live?get=/v1/tasks&get=/etc/passwd`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [{ path: 'get', reason: expect.stringContaining('/etc/passwd') }],
    });
  });

  it('sends changes until the page closes, and why there are no metrics', async () => {
    let asked = 0;
    const counting = await start({ ok: false, reason: 'no page' }, async () => {
      asked += 1;
      return Response.json({ asked: Math.min(asked, 3) }, { headers: { 'groupage-read-units': '1' } });
    });
    const page = await listen(`${counting.endpoint}/`, ['/v1/a']);
    await eventually(() => page.last('answer', ({ body }) => (body as { asked: number }).asked === 3));
    await eventually(() => page.last('trouble', ({ path }) => path === 'metrics'));
    expect(page.last('trouble')).toEqual({ path: 'metrics', reason: expect.stringContaining('this is a test') });
    await page.close();
    // The end of the connection arrives with a delay.
    const isQuiet = async (): Promise<boolean> => {
      const before = asked;
      await setTimeout(300);
      return asked === before;
    };
    await eventually(isQuiet);
    await counting.stop();
  });

  it('makes no calls after a HEAD request', async () => {
    const asked: string[] = [];
    const counting = await start({ ok: false, reason: 'no page' }, async ({ url }) => {
      asked.push(new URL(url).pathname);
      return Response.json({}, { headers: { 'groupage-read-units': '0' } });
    });
    expect(await ask(counting, '/console/live?get=/v1/headed', {}, 'HEAD')).toMatchObject({ status: 200, text: '' });
    const page = await listen(`${counting.endpoint}/`, ['/v1/seen']);
    await eventually(() => asked.filter((path) => path === '/v1/seen').length >= 3);
    expect(asked).not.toContain('/v1/headed');
    await page.close();
    await counting.stop();
  });

  it('gives the reason for a missing page, and still serves the API', async () => {
    const without = await start({ ok: false, reason: 'it could not be built' });
    const response = await fetch(`${without.endpoint}/`);
    expect([response.status, await response.json()]).toMatchObject([503, { detail: 'it could not be built' }]);
    expect((await fetch(`${without.endpoint}/v1/tasks`)).status).toBe(200);
    await without.stop();
  });
});
