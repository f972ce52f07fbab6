import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalFlow, startLocalFlow } from './flow.ts';

let flow: LocalFlow;
beforeAll(async () => {
  flow = await startLocalFlow();
});
afterAll(() => flow?.stop());

const JSON_1_0 = { 'content-type': 'application/x-amz-json-1.0' };
/** DynamoDB only checks that a signature is present. */
const SIGNED = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=x',
  'x-amz-date': '20260101T000000Z',
};

interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** A harmless request to each listener. */
const QUESTIONS: Record<'api' | 'sqs' | 'dynamodb', Asked> = {
  api: { path: '/v1/targets' },
  sqs: { path: '/', method: 'POST', headers: { ...JSON_1_0, 'x-amz-target': 'AmazonSQS.ListQueues' }, body: '{}' },
  dynamodb: {
    path: '/',
    method: 'POST',
    headers: { ...JSON_1_0, ...SIGNED, 'x-amz-target': 'DynamoDB_20120810.ListTables' },
    body: '{}',
  },
};

const ask = ({ path, method, headers = {}, body }: Asked, port: string, own: Record<string, string>) =>
  new Promise<{ status: number | undefined; allowed: string | undefined; text: string }>((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, method, headers: { ...headers, ...own } }, async (response) => {
      const text = (await response.toArray()).join('');
      resolve({ status: response.statusCode, allowed: response.headers['access-control-allow-origin'], text });
    })
      .on('error', reject)
      .end(body);
  });

describe.each(['api', 'sqs', 'dynamodb'] as const)('the local %s', (part) => {
  const port = (): string => new URL(flow.stack.addresses[part]).port;
  const statusWith = async (own: Record<string, string>) => (await ask(QUESTIONS[part], port(), own)).status;

  it('answers callers on this machine', async () => {
    expect(await statusWith({})).toBe(200);
    expect(await statusWith({ host: `localhost:${port()}` })).toBe(200);
    expect(await statusWith({ origin: `http://localhost:${port()}` })).toBe(200);
    expect(await statusWith({ 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await statusWith({ 'sec-fetch-site': 'none' })).toBe(200);
  });

  it('refuses a foreign host name that resolves to this machine (DNS rebinding)', async () => {
    for (const host of ['rebound.example', `rebound.example:${port()}`, 'localhost', `localhost.example:${port()}`])
      expect([host, await statusWith({ host })]).toEqual([host, 403]);
  });

  it('refuses pages of another origin (cross-site requests)', async () => {
    for (const origin of ['https://evil.example', 'null', `https://localhost:${port()}`, 'http://localhost:1', ''])
      expect([origin, await statusWith({ origin })]).toEqual([origin, 403]);
    // Without Origin: an image, a script, a link.
    for (const site of ['cross-site', 'same-site']) expect(await statusWith({ 'sec-fetch-site': site })).toBe(403);
  });

  it('refuses the preflight of another origin', async () => {
    const asked = {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-amz-target',
    };
    const { status, allowed } = await ask({ ...QUESTIONS[part], method: 'OPTIONS' }, port(), asked);
    expect([status, allowed]).toEqual([403, undefined]);
  });
});

it('the local SQS refuses a form of a web page', async () => {
  const { port } = new URL(flow.stack.addresses.sqs);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const form = { path: '/', method: 'POST', headers, body: 'Action=CreateTopic&Name=from-a-page' };
  const topic = await ask(form, port, { origin: 'https://evil.example' });
  expect([topic.status, topic.text]).toEqual([403, expect.stringContaining('not a page of another origin')]);
  expect((await ask(form, port, {})).text).toContain('from-a-page');
});

it('the engine of the local DynamoDB listens on an unusual loopback address', async () => {
  const engine = String(await flow.backend.clients.dynamodb.config.endpoint?.().then(({ hostname }) => hostname));
  expect(engine).toMatch(/^127\.\d+\.\d+\.\d+$/);
  expect(['127.0.0.1', '127.0.1.1']).not.toContain(engine);
  expect(new URL(flow.stack.addresses.dynamodb).hostname).toBe('127.0.0.1');
});
