/** Deliveries by HTTP to a real server: the received request, and the possible answers. */
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { wayByHttp } from '../../src/destinations/http.ts';
import type { LeavingEvent } from '../../src/domain/callbacks/event.ts';
import { SecretUnreadable } from '../../src/domain/downstream/secret.ts';
import { verify } from '../../src/domain/downstream/signature.ts';
import { NOW } from '../factories/factories.ts';

const SECRET = { ssm: '/hooks/signing' };
const EVENT: LeavingEvent = {
  text: '{"specversion":"1.0","id":"a.1","data":{"result":{"name":"Zoë 🚚"}}}',
  source: '/groupage/here/ship',
  type: 'groupage.task.succeeded',
  time: '2026-01-01T00:00:00.000Z',
};
const secrets = { read: async (ref: object) => ('ssm' in ref ? 'signing key' : 'bearer token') };

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
};

/** @param timeout in milliseconds; long if the call must not run into it */
const send = (
  url: string,
  { timeout = 200_000, headers = {}, given = secrets, legacySignature = true } = {},
): Promise<void> =>
  wayByHttp(
    { kind: 'http', url, headers, secret: SECRET, legacySignature, timeout },
    { secrets: given, now: () => NOW },
  )(EVENT);

describe('an HTTP destination', () => {
  it('gets the unchanged event, signed, with configured headers', async () => {
    const got: { method?: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
    const url = await serve(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      got.push({ method: request.method ?? '', headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(204).end();
    });
    await send(url, { headers: { 'X-Tenant': 'parcels', Authorization: { secretsManager: 'token' } } as never });
    const [{ method, headers, body } = { method: '', headers: {}, body: Buffer.alloc(0) }] = got;
    expect([method, headers['content-type']]).toEqual(['POST', 'application/cloudevents+json']);
    expect([headers['x-tenant'], headers.authorization]).toEqual(['parcels', 'bearer token']);
    expect(body.toString()).toBe(EVENT.text);
    const header = String(headers['groupage-signature']);
    expect(header).toMatch(new RegExp(`^t=${NOW / 1_000},v1=[0-9a-f]{64}$`));
    expect(verify({ header, body, secrets: ['signing key'], now: NOW })).toBe(true);
    expect(verify({ header, body, secrets: ['another'], now: NOW })).toBe(false);
    expect(headers).not.toHaveProperty('idempotency-key');
    const request = { method: 'POST', path: '/hook', idempotencyKey: '' };
    const v2 = { header: String(headers['groupage-signature-v2']), body, secrets: ['signing key'], now: NOW };
    expect(verify({ ...v2, request })).toBe(true);
    expect(verify({ ...v2, request: { ...request, path: '/another' } })).toBe(false);
  });

  it('does not get the older signature if the configuration turns it off', async () => {
    const got: IncomingHttpHeaders[] = [];
    const url = await serve((request, response) => {
      got.push(request.headers);
      response.end();
    });
    await send(url, { legacySignature: false });
    expect(got[0]).not.toHaveProperty('groupage-signature');
    expect(got[0]).toHaveProperty('groupage-signature-v2');
  });

  it.each([200, 201, 202, 204])('accepts an event with status %s', async (status) => {
    await send(await serve((_, response) => response.writeHead(status).end()));
  });

  it.each([301, 400, 401, 404, 408, 410, 422, 429, 500, 503])(
    "refuses an event with status %s; its answer's text is not repeated",
    async (status) => {
      const reached: string[] = [];
      const elsewhere = await serve((request, response) => {
        reached.push(request.url ?? '');
        response.end();
      });
      const url = await serve((_, response) => response.writeHead(status, { location: elsewhere }).end('secret words'));
      const isDown = status >= 500 || [408, 429].includes(status);
      await expect(send(url)).rejects.toMatchObject({ name: 'NotTaken', message: `answered ${status}`, isDown });
      expect(reached).toEqual([]);
    },
  );

  it('that answers 413 refuses the event for its size', async () => {
    const url = await serve((_, response) => response.writeHead(413).end());
    await expect(send(url)).rejects.toMatchObject({ name: 'TooLarge', message: 'answered 413' });
  });

  it('is called no longer than its caller waits', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const url = await serve(() => resolve());
    const abort = new AbortController();
    const sending = wayByHttp(
      { kind: 'http', url, headers: {}, secret: SECRET, legacySignature: true, timeout: 200_000 },
      { secrets, now: () => NOW },
    )(EVENT, abort.signal);
    await promise;
    abort.abort();
    await expect(sending).rejects.toThrow(/^no answer: /);
  });

  it('that times out or breaks the connection has not accepted the event', async () => {
    await expect(send(await serve(() => {}), { timeout: 150 })).rejects.toThrow('no answer within 150 ms');
    await expect(send(await serve((_, response) => void response.destroy()))).rejects.toThrow(/^no answer: /);
    await expect(send('http://127.0.0.1:9/hook')).rejects.toThrow(/^no answer: /);
  });

  it('that forgets a kept connection gets the event over a new one', async () => {
    let taken = 0;
    const used = new WeakSet<object>();
    const url = await serve(({ socket }, response) => {
      if (used.has(socket)) return void socket.resetAndDestroy();
      used.add(socket);
      taken += 1;
      response.end();
    });
    for (const _ of [1, 2, 3]) await send(url);
    expect(taken).toBe(3);
  });

  it('that breaks every connection is called twice', async () => {
    let calls = 0;
    const url = await serve(({ socket }) => {
      calls += 1;
      socket.resetAndDestroy();
    });
    await expect(send(url)).rejects.toMatchObject({ name: 'NotTaken', isDown: true });
    expect(calls).toBe(2);
  });

  it('that never ends its answer has accepted the event, without delay', async () => {
    const url = await serve((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, ' ')));
      };
      response.on('drain', more);
      more();
    });
    await send(url);
  });

  it('is not called without its secret', async () => {
    let calls = 0;
    const url = await serve((_, response) => {
      calls += 1;
      response.end();
    });
    const given = { read: () => Promise.reject(new SecretUnreadable(SECRET, 'it is not there')) };
    await expect(send(url, { given })).rejects.toThrow(/hooks\/signing of SSM cannot be used: it is not there/);
    expect(calls).toBe(0);
  });
});
