import { request } from 'node:http';
import { expect, it } from 'vitest';
import { startLocalFlow } from './flow.ts';

it('the local API answers nobody but callers on this machine', async () => {
  const flow = await startLocalFlow();
  try {
    const { port } = new URL(flow.stack.addresses.api);
    const statusWith = (headers: Record<string, string>): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        request({ host: '127.0.0.1', port, path: '/v1/targets', headers }, (response) =>
          resolve(response.resume().statusCode),
        )
          .on('error', reject)
          .end();
      });
    expect(await statusWith({})).toBe(200);
    expect(await statusWith({ host: `localhost:${port}` })).toBe(200);
    expect(await statusWith({ origin: `http://localhost:${port}` })).toBe(200);
    expect(await statusWith({ host: 'rebound.example' })).toBe(403);
    expect(await statusWith({ origin: 'https://evil.example' })).toBe(403);
    expect(await statusWith({ origin: 'null' })).toBe(403);
  } finally {
    await flow.stop();
  }
});
