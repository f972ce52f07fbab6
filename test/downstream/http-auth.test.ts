/** How calls prove who sends them, against real servers that check it. */
import type { IncomingMessage } from 'node:http';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SignatureV4 } from '@smithy/signature-v4';
import { describe, expect, it } from 'vitest';
import { callSigner } from '../../src/aws/signed-request.ts';
import type { HttpTarget } from '../../src/domain/config/endpoints.ts';
import type { Auth } from '../../src/domain/config/http-format.ts';
import { sign } from '../../src/domain/downstream/signature.ts';
import { formattedDownstream } from '../../src/downstreams/formatted-http.ts';
import type { CallSurroundings } from '../../src/downstreams/http-format.ts';
import { aDownstream, batchId, id, NOW, operationName, someSecrets, target } from '../factories/factories.ts';
import { serve } from './serve.ts';

const call = {
  batchId: batchId('ship/depot=MUC#1#1'),
  operation: operationName('ship'),
  target: target('ship/depot=MUC'),
  attempt: 1,
  items: [{ id: id('a'), payload: '{"n":1}' }],
};
const KEY = { ssm: '/key' };
const ALL = { kind: 'all-succeeded', withoutResults: true };

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server that records its requests. @param status of each answer, by the request */
const recording = async (answer: (seen: Seen) => number | readonly [number, string] = () => 200) => {
  const seen: Seen[] = [];
  const url = await serve(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url: at = '', headers } = request;
    const one = { method, url: at, headers, body: Buffer.concat(chunks).toString() };
    seen.push(one);
    const [status, body] = [answer(one)].flat() as [number, string?];
    response.writeHead(status).end(body ?? '');
  });
  return { url, seen };
};

const sender = (fields: Partial<HttpTarget>, more: Partial<CallSurroundings> = {}, secret = 's3cret\n') =>
  formattedDownstream(aDownstream({ timeout: 200_000, ...fields }), {
    now: () => NOW,
    secrets: someSecrets({ '/key': secret }),
    ...more,
  });
const httpDownstreamOf = (fields: Partial<HttpTarget>) =>
  formattedDownstream(aDownstream({ timeout: 200_000, ...fields }), {
    now: () => NOW,
    secrets: someSecrets({ '/key': 's3cret\n', '/api': 'api' }),
  }).call(call);
const answered = async (auth: Auth, server: Awaited<ReturnType<typeof recording>>, more = {}) =>
  sender({ auth, url: server.url }, more).call(call);

describe('a call', () => {
  it('goes to the path of its Target, with the configured method', async () => {
    const { url, seen } = await recording();
    const { origin } = new URL(url);
    const send = (template: string, depot: string) =>
      sender({ url: `${origin}${template}`, method: 'PUT' }).call({
        ...call,
        target: target(`ship/depot=${encodeURIComponent(depot)}`),
      });
    for (const depot of ['MUC', 'a/b', '../..', '?x=1#y', 'ä %2e', '//evil.example/'])
      expect(await send('/v1/{depot}:publish?a=b', depot)).toEqual(ALL);
    expect(seen.map(({ method, url: at }) => `${method} ${at}`)).toEqual([
      'PUT /v1/MUC:publish?a=b',
      'PUT /v1/a%2Fb:publish?a=b',
      'PUT /v1/..%2F..:publish?a=b',
      'PUT /v1/%3Fx%3D1%23y:publish?a=b',
      'PUT /v1/%C3%A4%20%252e:publish?a=b',
      'PUT /v1/%2F%2Fevil.example%2F:publish?a=b',
    ]);
    for (const depot of ['.', '..'])
      expect(await send('/v1/%2e{depot}/items', depot)).toMatchObject({
        kind: depot === '.' ? 'refused' : 'all-succeeded',
      });
    seen.pop();
    for (const depot of ['', '.', '..'])
      expect(await send('/v1/{depot}/items', depot)).toEqual({
        kind: 'refused',
        reason: 'the value of depot cannot be part of the path in downstream.url: it is empty, "." or ".."',
      });
    expect(seen).toHaveLength(6);
  });

  it('is not made if no payload fits its format', async () => {
    const { url, seen } = await recording();
    const item = { from: '/message', at: '', id: null, with: {}, line: null };
    const request = { as: 'array', items: null, with: {}, contentType: null, item } as const;
    expect(await sender({ url, request }).call(call)).toMatchObject({ kind: 'results', withoutCall: true });
    expect(seen).toEqual([]);
  });
});

describe('an authorization', () => {
  it('sends a token, a password or a key', async () => {
    const server = await recording();
    await answered({ kind: 'bearer', token: KEY }, server);
    await answered({ kind: 'basic', user: 'me', password: KEY }, server);
    await answered({ kind: 'api-key', key: KEY, header: 'X-Api-Key', query: null }, server);
    await sender(
      { auth: { kind: 'api-key', key: KEY, header: null, query: 'key' }, url: `${server.url}?a=b` },
      {},
      'a b&c',
    ).call(call);
    const [bearer, basic, header, query] = server.seen;
    expect(bearer?.headers.authorization).toBe('Bearer s3cret');
    expect(basic?.headers.authorization).toBe(`Basic ${Buffer.from('me:s3cret').toString('base64')}`);
    expect(header?.headers['x-api-key']).toBe('s3cret');
    expect(query?.url).toBe('/batch?a=b&key=a%20b%26c');
  });

  it('is part of what Groupage signs', async () => {
    const server = await recording();
    const auth: Auth = { kind: 'api-key', key: { ssm: '/api' }, header: null, query: 'key' };
    await httpDownstreamOf({ url: `${server.url}?a=b`, auth, secret: KEY });
    const { url, headers, body } = server.seen[0] as Seen;
    const request = { method: 'POST', path: url, idempotencyKey: String(headers['idempotency-key']) };
    expect(url).toBe('/batch?a=b&key=api');
    expect(headers['groupage-signature-v2']).toBe(sign('s3cret\n', body, NOW, request));
  });

  it('makes no call if its secret cannot be read', async () => {
    const server = await recording();
    const answer = await answered({ kind: 'bearer', token: { ssm: '/none' } }, server);
    expect(answer).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('/none'),
      mayRetryAtOnce: false,
    });
    expect(server.seen).toEqual([]);
  });

  it('is not renewed unless it can be', async () => {
    const server = await recording(() => 401);
    expect(await answered({ kind: 'bearer', token: KEY }, server)).toMatchObject({ misconfigured: true });
    expect(server.seen).toHaveLength(1);
  });

  it('signs the call with Signature Version 4', async () => {
    const server = await recording();
    const { sha256 } = new SQSClient({ region: 'eu-central-1' }).config;
    const credentials = { accessKeyId: 'AKIA', secretAccessKey: 'top', sessionToken: 'session' };
    const signer = () => ({ region: 'eu-central-1', credentials, sha256 });
    const auth = {
      kind: 'sigv4',
      service: 'es',
      region: 'us-east-1',
      action: 'es:ESHttpPost',
      resource: 'arn:x',
    } as const;
    expect(await answered(auth, server, { sign: callSigner(signer) })).toEqual(ALL);
    const { method, headers, body, url } = server.seen[0] as Seen;
    // The same signature follows from what arrived, with the same key.
    const [, date = ''] =
      /Credential=AKIA\/(\d{8}\/us-east-1\/es)\/aws4_request/.exec(headers.authorization ?? '') ?? [];
    expect(date).not.toBe('');
    const signed = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? [];
    const time = String(headers['x-amz-date']);
    const again = await new SignatureV4({ service: 'es', ...signer(), region: 'us-east-1' }).sign(
      {
        method,
        protocol: 'http:',
        hostname: '127.0.0.1',
        path: url,
        headers: Object.fromEntries(signed.map((name) => [name, String(headers[name])])),
        body,
      },
      { signingDate: new Date(time.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5')) },
    );
    expect(again.headers.authorization).toBe(headers.authorization);
    expect(headers['x-amz-security-token']).toBe('session');
    expect(signed).toContain('host');
    // The local stack has no credentials.
    expect(await answered(auth, server)).toMatchObject({ reason: expect.stringContaining('cannot be signed') });
    expect(server.seen).toHaveLength(1);
  });
});

describe('OAuth 2.0', () => {
  const oauth = (tokenUrl: string, fields: Partial<Extract<Auth, { kind: 'oauth2' }>> = {}): Auth => ({
    kind: 'oauth2',
    tokenUrl,
    clientId: 'app:1',
    clientSecret: KEY,
    with: { scope: 'crm.write' },
    sendIn: 'header',
    ...fields,
  });
  /** Issues tokens: T1, T2, … */
  const issuing = async (life: object = { expires_in: 3_600 }) => {
    let issued = 0;
    return recording(() => {
      issued += 1;
      return [200, JSON.stringify({ access_token: `T${issued}`, token_type: 'Bearer', ...life })];
    });
  };
  const accepting = (...tokens: readonly string[]) =>
    recording(({ headers }) => (tokens.some((each) => headers.authorization === `Bearer ${each}`) ? 200 : 401));

  it('gets one token for many calls', async () => {
    const [tokens, api] = [await issuing(), await accepting('T1')];
    const { call: send } = sender({ auth: oauth(tokens.url), url: api.url });
    expect(await Promise.all([send(call), send(call), send(call)])).toEqual([ALL, ALL, ALL]);
    expect(await send(call)).toEqual(ALL);
    expect(tokens.seen).toHaveLength(1);
    const { headers, body } = tokens.seen[0] as Seen;
    expect(headers.authorization).toBe(`Basic ${Buffer.from('app%3A1:s3cret').toString('base64')}`);
    expect(body).toBe('grant_type=client_credentials&scope=crm.write');
  });

  it('may send the secret in the body', async () => {
    const [tokens, api] = [await issuing(), await accepting('T1')];
    await sender({ auth: oauth(tokens.url, { sendIn: 'body', with: {} }), url: api.url }).call(call);
    expect(tokens.seen[0]?.headers.authorization).toBeUndefined();
    expect(tokens.seen[0]?.body).toBe('grant_type=client_credentials&client_id=app%3A1&client_secret=s3cret');
  });

  it('renews a token that expires, or that was revoked', async () => {
    let now = NOW;
    const [tokens, api] = [await issuing(), await accepting('T1', 'T2', 'T4')];
    const { call: send } = sender({ auth: oauth(tokens.url), url: api.url }, { now: () => now });
    await send(call);
    now += 3_600_000 - 60_000;
    expect(await send(call)).toEqual(ALL);
    expect(tokens.seen).toHaveLength(2);
    // T3 is refused once, T4 is accepted.
    now += 3_600_000;
    expect(await send(call)).toEqual(ALL);
    expect(api.seen.map(({ headers }) => headers.authorization)).toEqual(
      ['T1', 'T2', 'T3', 'T4'].map((one) => `Bearer ${one}`),
    );
  });

  it('renews once, and then reads a 401 as any other', async () => {
    const [tokens, api] = [await issuing(), await accepting('none')];
    const answers = await Promise.all([1, 2].map(async () => answered(oauth(tokens.url), api)));
    for (const answer of answers)
      expect(answer).toMatchObject({ misconfigured: true, reason: expect.stringContaining('answered 401') });
    expect(api.seen).toHaveLength(4);
  });

  it.each<[number | readonly [number, string], object]>([
    [
      [401, '{"error":"invalid_client"}'],
      { misconfigured: true, reason: expect.stringContaining('answered 401 invalid_client') },
    ],
    [[400, '{"error":"s3cret was wrong"}'], { misconfigured: true }],
    [302, { misconfigured: true }],
    [[200, '{}'], { misconfigured: true }],
    [[200, 'text'], { misconfigured: true }],
    [429, { throttled: true }],
    [503, { mayRetryAtOnce: false }],
  ])('makes no call without a token: %j', async (said, expected) => {
    const [tokens, api] = [await recording(() => said), await recording()];
    const answer = await answered(oauth(tokens.url), api);
    expect(answer).toMatchObject({ kind: 'unavailable', ...expected });
    expect(JSON.stringify(answer)).not.toContain('s3cret');
    expect(api.seen).toEqual([]);
  });

  it('asks again after a failure', async () => {
    let status = 503;
    const [tokens, api] = [await recording(() => [status, '{"access_token":"T1"}']), await accepting('T1')];
    const { call: send } = sender({ auth: oauth(tokens.url), url: api.url });
    expect(await send(call)).toMatchObject({ kind: 'unavailable' });
    status = 200;
    expect(await send(call)).toEqual(ALL);
  });
});
