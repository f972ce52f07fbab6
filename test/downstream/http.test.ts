/** The HTTP kind of downstream against malicious and broken servers. */
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Answer, traceparentOf } from '../../src/domain/downstream/downstream.ts';
import { httpDownstream } from '../../src/downstreams/http.ts';
import { aDownstream, batchId, id, NOW, operationName, someSecrets, target } from '../factories/factories.ts';
import { ends, serve } from './serve.ts';

const call = {
  batchId: batchId('ship/depot=MUC#1#1'),
  operation: operationName('ship'),
  target: target('ship/depot=MUC'),
  attempt: 1,
  items: [{ id: id('a'), payload: '{}' }],
};

/** @param timeout in milliseconds; long if the call must not run into it */
const answerOf = async (listener: RequestListener, timeout = 200_000): Promise<Answer> =>
  httpDownstream(aDownstream({ url: await serve(listener), timeout }), { now: () => NOW, secrets: someSecrets() }).call(
    call,
  );

const TOO_LARGE = { kind: 'refused', suspect: 'its-answer', reason: 'answered 200 with more than 6000000 bytes' };
const MEGABYTE = Buffer.alloc(1_048_576, ' ');

describe('an HTTP downstream', () => {
  it('that redirects is not followed', async () => {
    const reached: string[] = [];
    const elsewhere = await serve((request, response) => {
      reached.push(request.url ?? '');
      response.end();
    });
    for (const status of [301, 302, 303, 307, 308])
      expect(await answerOf((_, response) => response.writeHead(status, { location: elsewhere }).end())).toMatchObject({
        kind: 'unavailable',
        reason: expect.stringContaining(`answered ${status}`),
        mayRetryAtOnce: false,
      });
    expect(reached).toEqual([]);
  });

  it('whose answer never ends is cut off, and its batch may be halved', async () => {
    const closed: Promise<unknown>[] = [];
    const endless = (status: number) =>
      answerOf((_, response) => {
        closed.push(once(response, 'close'));
        const more = (): void => {
          while (!response.destroyed && response.write(MEGABYTE));
        };
        response.writeHead(status).on('drain', more);
        more();
      });
    expect(await endless(200)).toEqual(TOO_LARGE);
    // For any other status, the status alone is enough.
    expect(await endless(503)).toEqual({ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true });
    expect(await endless(422)).toEqual({ kind: 'refused', reason: 'answered 422', suspect: 'an-item' });
    await Promise.all(closed);
  });

  it('may answer with 6,000,000 bytes, and no more', async () => {
    const { length } = '{"n":""}';
    const answers = async (bytes: number) =>
      answerOf((_, response) => response.end(`{"n":"${'x'.repeat(bytes - length)}"}`));
    expect(await answers(6_000_000)).toEqual({ kind: 'all-succeeded', withoutResults: true });
    expect(await answers(6_000_001)).toEqual(TOO_LARGE);
  });

  it('whose compressed answer becomes too large is cut off', async () => {
    const bomb = Buffer.concat(Array.from({ length: 64 }, () => MEGABYTE));
    const packed = { gzip: gzipSync(bomb), br: brotliCompressSync(bomb), 'gzip, gzip': gzipSync(gzipSync(bomb)) };
    for (const [encoding, body] of Object.entries(packed)) {
      expect(body.byteLength).toBeLessThan(100_000);
      const answer = await answerOf((_, response) =>
        response.writeHead(200, { 'content-encoding': encoding }).end(body),
      );
      expect(answer, encoding).toEqual(TOO_LARGE);
    }
    const layers = Array.from({ length: 200 }, () => 'gzip').join(', ');
    const layered = await answerOf((_, response) => response.writeHead(200, { 'content-encoding': layers }).end('x'));
    expect(layered.kind).toBe('unavailable');
  });

  it('that answers slowly is cut off at the timeout', async () => {
    const drip = (begin: (write: (text: string) => void, response: Parameters<RequestListener>[1]) => void) =>
      answerOf((_, response) => {
        begin((text) => {
          const timer = setInterval(() => response.write(text), 20);
          ends.push(() => clearInterval(timer));
        }, response);
      }, 300);
    for (const answer of [
      await drip((write) => write(' ')),
      await drip((_, response) => response.writeProcessing()),
      await drip((_, response) => response.flushHeaders()),
    ])
      expect(answer).toEqual({ kind: 'unavailable', reason: 'no answer within 300 ms', mayRetryAtOnce: true });
  });

  it('that forgets kept connections gets each batch once', async () => {
    let calls = 0;
    const used = new WeakSet<object>();
    const url = await serve(({ socket }, response) => {
      if (used.has(socket)) return void socket.resetAndDestroy();
      used.add(socket);
      calls += 1;
      response.end();
    });
    const { call: send } = httpDownstream(aDownstream({ url, timeout: 200_000 }), {
      now: () => NOW,
      secrets: someSecrets(),
    });
    for (const _ of [1, 2, 3]) expect(await send(call)).toEqual({ kind: 'all-succeeded', withoutResults: true });
    expect(calls).toBe(3);
  });

  it('that resets the connection is not called again', async () => {
    let calls = 0;
    const answer = await answerOf(({ socket }) => {
      calls += 1;
      socket.resetAndDestroy();
    });
    expect(answer).toMatchObject({ kind: 'unavailable', reason: expect.stringMatching(/^no answer: ./) });
    expect(calls).toBe(1);
  });

  it('with too large or invalid headers has not answered', async () => {
    const large = await answerOf((_, response) => response.writeHead(200, { 'x-large': 'x'.repeat(300_000) }).end());
    const broken = await answerOf((request) => request.socket.end('HTTP/1.1 200 OK\r\nno header\r\n\r\n'));
    const other = await answerOf((request) => request.socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    for (const answer of [large, broken, other])
      expect(answer).toMatchObject({ kind: 'unavailable', reason: expect.stringMatching(/^no answer: ./) });
  });

  it('gets JSON with an idempotency key, and no other headers of Groupage', async () => {
    const seen: NodeJS.Dict<string | string[]>[] = [];
    await answerOf((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    expect(Object.keys(seen[0] ?? {}).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'accept-language',
      'connection',
      'content-length',
      'content-type',
      'host',
      'idempotency-key',
      'sec-fetch-mode',
      'traceparent',
      'user-agent',
    ]);
    expect(seen[0]?.['idempotency-key']).toMatch(/^ship\/depot=MUC#1#1\.[\w-]{16}$/);
    expect(seen[0]?.traceparent).toBe(traceparentOf(call));
    expect(seen[0]?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });

  it('gets one trace for each batch, and one span for each attempt', () => {
    const [first, second] = [1, 2].map((attempt) => traceparentOf({ ...call, attempt }).split('-'));
    expect(second?.[1]).toBe(first?.[1]);
    expect(second?.[2]).not.toBe(first?.[2]);
  });

  it('gets the inputs of a merged call byte by byte, and its requests by id', async () => {
    const bodies: string[] = [];
    const keys: unknown[] = [];
    const url = await serve((request, response) => {
      keys.push(request.headers['idempotency-key']);
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => {
        body += part;
      });
      request.on('end', () => {
        bodies.push(body);
        response.end('{"inputs":[{"key":"a", "status":"succeeded","result":1.50}]}');
      });
    });
    const downstream = httpDownstream(aDownstream({ url, timeout: 200_000 }), {
      now: () => NOW,
      secrets: someSecrets(),
    });
    const inputs = ['{"id":"a",  "n":12345678901234567890}', '7'];
    const answer = await downstream.call({ ...call, inputs });
    for (const fewer of [inputs, ['7']]) await downstream.call({ ...call, inputs: fewer });
    expect(answer).toEqual({
      kind: 'all-succeeded',
      inputs: '[{"key":"a", "status":"succeeded","result":1.50}]',
    });
    expect(bodies[0]).toContain(`"inputs":[${inputs.join(',')}],"items":[{"id":"a"}]}`);
    // The same job keeps its key. A job with fewer inputs gets another key.
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });
});
