/** Raw bytes to the listeners of a local stack: none may end the process, or reach another port. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startGuardedProxy } from '../../tools/local/guarded-proxy.ts';
import { type LocalFlow, startLocalFlow } from './flow.ts';

const ends: (() => unknown)[] = [];
const listening = async (listener: RequestListener): Promise<{ server: Server; port: number }> => {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ends.push(() => server.close().closeAllConnections());
  return { server, port: (server.address() as AddressInfo).port };
};

type Ending = 'stay' | 'half-close' | 'reset';

/** Everything that the server sends until the connection closes. */
const send = (port: number, bytes: string | Buffer, ending: Ending = 'stay'): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(bytes, () => {
        if (ending === 'half-close') socket.end();
        if (ending === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
      });
    });
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', (error) => chunks.push(Buffer.from(`(${error.message})`)));
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });

const elsewhere: string[] = [];
let flow: LocalFlow;
let other: number;
beforeAll(async () => {
  flow = await startLocalFlow();
  ({ port: other } = await listening(({ url = '' }, response) => {
    elsewhere.push(url);
    response.end();
  }));
});
afterAll(async () => {
  for (const end of ends) end();
  await flow?.stop();
});

describe.each(['api', 'sqs', 'dynamodb'] as const)('the local %s', (part) => {
  const port = (): number => Number(new URL(flow.stack.addresses[part]).port);
  const head = (): string => `Host: 127.0.0.1:${port()}\r\nConnection: close\r\n`;
  const target = (text: string, method = 'GET'): string => `${method} ${text} HTTP/1.1\r\n${head()}\r\n`;
  const stillAnswers = async (): Promise<void> => {
    const text = await send(port(), target('/'));
    expect(text).toMatch(/^HTTP\/1\.1 \d{3} /);
    expect(text).not.toMatch(/request target|valid HTTP/);
  };
  afterEach(async () => {
    await stillAnswers();
    expect(elsewhere).toEqual([]);
  });

  it('refuses a request target that is not a path, with the reason', async () => {
    const targets = [
      `http://127.0.0.1:${other}/x`,
      `https://127.0.0.1:${other}/x`,
      `http://127.0.0.1:${port()}/`,
      'http://[',
      'file:///etc/passwd',
      '*',
      `/\\127.0.0.1:${other}/x`,
    ];
    for (const each of targets)
      expect([each, await send(port(), target(each))]).toEqual([
        each,
        expect.stringMatching(/^HTTP\/1\.1 400 [\s\S]*the request target must be a path/),
      ]);
    expect(await send(port(), target('*', 'OPTIONS'))).toMatch(/^HTTP\/1\.1 400 /);
    for (const each of [`127.0.0.1:${other}`, '[::1]:1', 'x:1'])
      expect(await send(port(), target(each, 'CONNECT'))).toMatch(/^HTTP\/1\.1 405 [\s\S]*must be a path/);
  });

  it('takes a path that looks like an address as a path of its own', async () => {
    for (const each of [
      '//[',
      `//127.0.0.1:${other}/x`,
      `//a@127.0.0.1:${other}/x`,
      '/%zz%ff?%=',
      '/../..//[?//[',
      '///',
    ])
      expect([each, await send(port(), target(each))]).toEqual([each, expect.stringMatching(/^HTTP\/1\.1 [2-5]\d\d /)]);
  });

  it('refuses bytes that are not HTTP, with the reason', async () => {
    const broken: [RegExp, string | Buffer, Ending?][] = [
      [/^HTTP\/1\.1 431 [\s\S]*too long/, target(`/${'a'.repeat(200_000)}`)],
      [/^HTTP\/1\.1 400 [\s\S]*not valid HTTP/, Buffer.from(target('/\xff\xfe\x80'), 'latin1')],
      [/^HTTP\/1\.1 400 [\s\S]*not valid HTTP/, target('/\0')],
      [/^HTTP\/1\.1 400 [\s\S]*not valid HTTP/, target('x')],
      [/^HTTP\/1\.1 400 [\s\S]*not valid HTTP/, '\x16\x03\x01\x02\x00\x01'],
      [/^HTTP\/1\.1 400 [\s\S]*not valid HTTP/, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      [/^HTTP\/1\.1 400 [\s\S]*not valid HTTP/, `POST / HTTP/1.1\r\n${head()}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
      [/^HTTP\/1\.1 400 [\s\S]*ended in the middle/, 'GET /', 'half-close'],
      [/^HTTP\/1\.1 400 [\s\S]*ended in the middle/, `GET / HTTP/1.1\r\n${head()}`, 'half-close'],
    ];
    for (const [expected, bytes, ending] of broken) expect(await send(port(), bytes, ending)).toMatch(expected);
  });

  it('survives upgrades, half bodies, and clients that reset the connection', async () => {
    const { host } = new URL(flow.stack.addresses[part]);
    const upgrade = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`;
    expect(await send(port(), upgrade)).toMatch(/^HTTP\/1\.1 [2-5]\d\d /);
    const half = `POST / HTTP/1.1\r\n${head()}Content-Length: 100\r\n\r\n{`;
    await send(port(), half, 'half-close');
    for (const bytes of ['GET /', half, upgrade, target('/').replace('close', 'keep-alive').repeat(50)])
      await send(port(), bytes, 'reset');
  });
});

it('the proxy to DynamoDB breaks the connection if the engine fails within its answer', async () => {
  const engine = await listening((_, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{');
    setTimeout(() => response.destroy(), 20);
  });
  const proxy = await startGuardedProxy(0, `http://127.0.0.1:${engine.port}`);
  ends.push(proxy.stop);
  const { host, port } = new URL(proxy.endpoint);
  expect(await send(Number(port), `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{/);
});
