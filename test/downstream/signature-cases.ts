/** What our verifier and the documented one must both decide. */
import { createHmac } from 'node:crypto';
import { type SignedRequest, sign } from '../../src/domain/downstream/signature.ts';
import { NOW } from '../factories/factories.ts';

export const SECRET = 'whsec_ümlaut';
export const BODY = '{"items":[{"payload":{"name":"Zoë 🚚"}}]}';
export const REQUEST: SignedRequest = {
  method: 'POST',
  path: '/batch?team=a%20b',
  idempotencyKey: 'ship/depot=MUC#1#1.abc',
};

/** A received request. */
interface Received {
  readonly header: string | undefined;
  /** Absent for `v1`. */
  readonly request: SignedRequest | undefined;
  readonly body: string | Buffer;
  readonly secret: string;
  readonly now: number;
}

interface Case {
  readonly name: string;
  readonly holds: boolean;
  readonly received: Received;
}

const SECONDS = NOW / 1_000;

const casesOf = (version: 'v1' | 'v2'): readonly Case[] => {
  const request = version === 'v2' ? REQUEST : undefined;
  const signed = (secret = SECRET, now = NOW): string => sign(secret, BODY, now, request);
  const header = signed();
  const [time = '', digest = ''] = header.split(',');
  const other = signed('other').split(',')[1];
  const sent = { header, request, body: BODY, secret: SECRET, now: NOW };
  const of = (name: string, holds: boolean, fields: Partial<Received>): Case => ({
    name: `${version}: ${name}`,
    holds,
    received: { ...sent, ...fields },
  });
  return [
    of('the signed body', true, {}),
    of('the signed body as bytes', true, { body: Buffer.from(BODY) }),
    of('the matching digest after another', true, { header: `${time},${other},${digest}` }),
    of('the matching digest before another', true, { header: `${time},${digest},${other}` }),
    of('the matching digest beside an unknown version and a malformed digest', true, {
      header: `v0=00,${time},${version}=zz,${digest}`,
    }),
    of('two other digests', false, { header: `${time},${other},${other}` }),
    of('the oldest accepted time', true, { now: NOW + 300_000 }),
    of('an older time', false, { now: NOW + 300_001 }),
    of('the latest accepted time', true, { now: NOW - 300_000 }),
    of('a later time', false, { now: NOW - 300_001 }),
    of('another body', false, { body: `${BODY} ` }),
    of('another secret', false, { secret: 'other' }),
    of('an empty secret', false, { header: signed(''), secret: '' }),
    of('no header', false, { header: undefined }),
    of('an empty header', false, { header: '' }),
    of('no digest', false, { header: time }),
    of('no time', false, { header: digest }),
    of('another time', false, { header: `t=${SECONDS + 1},${digest}` }),
    of('two times', false, { header: `${header},t=${SECONDS}` }),
    of('a time that is none', false, { header: `t=soon,${digest}` }),
    of('a time with a sign', false, { header: `t=+${SECONDS},${digest}` }),
    of('a digest beyond ASCII', false, { header: `${time},${version}=${'é'.repeat(64)}` }),
    of('half a digest', false, { header: header.slice(0, -2) }),
    of('a digest with more behind it', false, { header: `${header}00` }),
    of('a digest in capitals', false, { header: `${time},${version}=${digest.slice(3).toUpperCase()}` }),
    of('the digest of another version', false, { header: `${time},v0=${digest.slice(3)}` }),
    of('blanks between the parts', false, { header: `${time}, ${digest}` }),
  ];
};

/** `v1` in place of `v2`, as an attacker would send what an older call contained. */
const digestOf = (text: string): string => createHmac('sha256', SECRET).update(text).digest('hex');
const asV2 = (name: string, holds: boolean, fields: Partial<Received>): Case => ({
  name: `v2: ${name}`,
  holds,
  received: {
    header: sign(SECRET, BODY, NOW, REQUEST),
    request: REQUEST,
    body: BODY,
    secret: SECRET,
    now: NOW,
    ...fields,
  },
});

export const CASES: readonly Case[] = [
  ...casesOf('v1'),
  ...casesOf('v2'),
  asV2('another method', false, { request: { ...REQUEST, method: 'PUT' } }),
  asV2('another path', false, { request: { ...REQUEST, path: '/other?team=a%20b' } }),
  asV2('another query', false, { request: { ...REQUEST, path: '/batch?team=b' } }),
  asV2('another idempotency key', false, { request: { ...REQUEST, idempotencyKey: `${REQUEST.idempotencyKey}d` } }),
  asV2('no idempotency key', false, { request: { ...REQUEST, idempotencyKey: '' } }),
  asV2('an event, which has no idempotency key', true, {
    header: sign(SECRET, BODY, NOW, { ...REQUEST, idempotencyKey: '' }),
    request: { ...REQUEST, idempotencyKey: '' },
  }),
  asV2('the digest of v1', false, { header: sign(SECRET, BODY, NOW).replace('v1=', 'v2=') }),
  asV2('a body that takes the place of the key', false, {
    request: { ...REQUEST, idempotencyKey: '' },
    body: `${REQUEST.idempotencyKey}\n${BODY}`,
  }),
  asV2('the documented text', true, {
    header: `t=${SECONDS},v2=${digestOf(`v2\n${SECONDS}\nPOST\n${REQUEST.path}\n${REQUEST.idempotencyKey}\n${BODY}`)}`,
  }),
];
