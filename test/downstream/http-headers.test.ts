/** The headers and the signature of the HTTP kind, as a real server receives them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpTarget } from '../../src/domain/config/endpoints.ts';
import type { Answer } from '../../src/domain/downstream/downstream.ts';
import type { Secrets } from '../../src/domain/downstream/secret.ts';
import { verify } from '../../src/domain/downstream/signature.ts';
import { httpDownstream } from '../../src/downstreams/http.ts';
import { type AwsService, startAwsService } from '../factories/aws-service.ts';
import { aCall, aDownstream, id, NOW, someSecrets } from '../factories/factories.ts';

let server: AwsService;
beforeEach(async () => {
  server = await startAwsService(() => ({ body: '' }));
});
afterEach(() => server.stop());

const SECRETS = someSecrets({
  '/signing': 'whsec_1',
  '/token': 'Bearer hunter2\n',
  '/broken': 'hunter2\nx',
  '/empty': '',
});

const callWith = (fields: Partial<HttpTarget>, secrets: Secrets = SECRETS): Promise<Answer> => {
  const target = aDownstream({ url: `${server.options.endpoint}/batch`, timeout: 200_000, ...fields });
  const call = aCall({ items: [{ id: id('a'), payload: '{"n": 1.0, "name": "Zoë"}' }] });
  return httpDownstream(target, { now: () => NOW, secrets }).call(call);
};

describe('an HTTP call', () => {
  it('is signed with the bytes, the path and the key that are sent', async () => {
    const url = `${server.options.endpoint}/Zoë /batch?team=a b&x=%20#part`;
    expect(await callWith({ secret: { ssm: '/signing' }, url })).toEqual({
      kind: 'all-succeeded',
      withoutResults: true,
    });
    const { headers, body = '', path } = server.requests[0] ?? {};
    const v2 = { header: String(headers?.['groupage-signature-v2']), body, secrets: ['whsec_1'], now: NOW };
    const request = { method: 'POST', path: String(path), idempotencyKey: String(headers?.['idempotency-key']) };
    expect(verify({ ...v2, request })).toBe(true);
    expect(verify({ ...v2, request: { ...request, idempotencyKey: 'another' } })).toBe(false);
    const header = String(headers?.['groupage-signature']);
    expect(body).toContain('{"n": 1.0, "name": "Zoë"}');
    expect(verify({ header, body, secrets: ['whsec_1'], now: NOW })).toBe(true);
    expect(verify({ header, body: JSON.stringify(JSON.parse(body)), secrets: ['whsec_1'], now: NOW })).toBe(false);
  });

  it('has the older signature unless the configuration turns it off', async () => {
    await callWith({ secret: { ssm: '/signing' }, legacySignature: false });
    expect(server.requests[0]?.headers).not.toHaveProperty('groupage-signature');
    expect(server.requests[0]?.headers).toHaveProperty('groupage-signature-v2');
  });

  it('has the configured headers, with the texts of secret ones', async () => {
    await callWith({ headers: { 'X-Tenant': 'parcels', Authorization: { ssm: '/token' } } });
    expect(server.requests[0]?.headers).toMatchObject({
      'x-tenant': 'parcels',
      authorization: 'Bearer hunter2',
      'content-type': 'application/json',
    });
    expect(server.requests[0]?.headers).not.toHaveProperty('groupage-signature');
    expect(server.requests[0]?.headers).not.toHaveProperty('groupage-signature-v2');
  });

  it.each<[string, Partial<HttpTarget>, RegExp]>([
    [
      'is not there',
      { secret: { ssm: '/gone' } },
      /^the parameter \/gone of SSM cannot be used: the test does not define it$/,
    ],
    ['is empty', { secret: { ssm: '/empty' } }, /^the parameter \/empty of SSM .*: it is empty, and anyone could sign/],
    ['is no header', { headers: { 'x-key': { ssm: '/broken' } } }, /^the parameter \/broken of SSM .* one line of/],
  ])('whose secret %s is not made, and names the secret', async (_, fields, reason) => {
    const answer = await callWith(fields);
    expect(answer).toEqual({ kind: 'unavailable', reason: expect.stringMatching(reason), mayRetryAtOnce: false });
    expect(JSON.stringify(answer)).not.toContain('hunter2');
    expect(server.requests).toEqual([]);
  });

  it('limits the read of its secret by its timeout too', async () => {
    const answer = await callWith({ secret: { ssm: '/slow' }, timeout: 100 }, { read: () => new Promise(() => {}) });
    expect(answer).toEqual({ kind: 'unavailable', reason: 'no answer within 100 ms', mayRetryAtOnce: true });
  });
});
