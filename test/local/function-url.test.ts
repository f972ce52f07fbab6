import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type LocalFlow, startLocalFlow } from './flow.ts';

let flow: LocalFlow;
beforeAll(async () => {
  flow = await startLocalFlow();
});
afterAll(() => flow?.stop());

interface Asked {
  readonly method?: string;
  readonly rawPath?: string;
  readonly rawQueryString?: string;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/** Lambda's answer for its function URL. Lambda makes a 502 of anything that a function throws. */
const ask = async ({ method = 'GET', rawPath = '/v1/targets', ...fields }: Asked) => {
  const api = [...flow.stack.functions.values()].find(({ name }) => name.includes('ApiHandler'));
  const domainName = 'id.lambda-url.eu-central-1.on.aws';
  const answer = await api?.invoke({
    version: '2.0',
    rawPath,
    rawQueryString: '',
    headers: { host: domainName },
    requestContext: { domainName, http: { method, path: rawPath } },
    isBase64Encoded: false,
    ...fields,
  });
  return answer as { readonly statusCode: number; readonly body: string };
};

it('the function URL answers malformed requests with a 4xx status', async () => {
  // hono's adapter answers if no `Request` can be made, and logs that.
  const said = vi.spyOn(console, 'error').mockReturnValue();
  const odd: readonly Asked[] = [
    { body: '{}' },
    { method: 'HEAD', body: '{}' },
    { method: 'TRACE' },
    { method: 'CONNECT' },
    { method: 'POST', rawPath: '/v1/tasks', body: '/////w==', isBase64Encoded: true },
    { method: 'POST', rawPath: '/v1/tasks', body: '7bCA', isBase64Encoded: true },
    { rawPath: '//evil.example/v1/targets' },
    { rawPath: '/v1/../../etc/passwd' },
    { rawPath: '/v1/tasks/..%2f..%2fetc%2fpasswd' },
    { rawPath: '/v1/tasks/%00' },
    { rawPath: '/v1/batches/\ud800' },
    { rawQueryString: 'limit=%FF&cursor=%' },
  ];
  for (const each of odd) {
    const { statusCode } = await ask(each);
    expect([JSON.stringify(each), statusCode >= 400 && statusCode < 500]).toEqual([JSON.stringify(each), true]);
  }
  expect(said).toHaveBeenCalledTimes(4);
  said.mockRestore();
  expect((await ask({})).statusCode).toBe(200);
  // Names of built-in properties are not query parameters of the API.
  expect((await ask({ rawQueryString: '__proto__=1&constructor=x' })).statusCode).toBe(400);
});

it('the function URL serves its OpenAPI document with the address of the request', async () => {
  const { statusCode, body } = await ask({ rawPath: '/v1/openapi.json' });
  expect([statusCode, JSON.parse(body)]).toEqual([
    200,
    expect.objectContaining({ openapi: '3.1.0', servers: [{ url: 'https://id.lambda-url.eu-central-1.on.aws/v1' }] }),
  ]);
});
