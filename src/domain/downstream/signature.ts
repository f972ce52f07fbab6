/**
 * Signs calls and events, so that the receiver can check that they come from this Groupage, unchanged and recently.
 * Pure.
 *
 * Both headers have Stripe's form, `t=<seconds>,v<n>=<hex>` (stripe.com/docs/webhooks/signatures; Standard Webhooks signs
 * in the same way), with HMAC-SHA256, keyed with the secret's text. `v1` covers the time, a full stop and the body. `v2`
 * covers one line each for `v2`, the time, the method, the path and the idempotency key, and then the body. None of these
 * lines can contain a line break, so no two requests have the same signed text.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Millis } from '../ids.ts';

/** The header of `v1`, which covers the body only. */
export const SIGNATURE_HEADER = 'groupage-signature';
/** The header of `v2`, which covers the request line and the idempotency key too. */
export const SIGNATURE_V2_HEADER = 'groupage-signature-v2';

/** The largest age of a signature that is accepted, including the difference between both clocks. */
const TOLERANCE: Millis = 5 * 60 * 1_000;

/** What `v2` covers besides the time and the body. */
export interface SignedRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  /** The header `Idempotency-Key`; empty without one. */
  readonly idempotencyKey: string;
}

/** The header's value for a body that is sent at `now`: `v2` with a request, `v1` without one. */
export const sign = (secret: string, body: string, now: Millis, request?: SignedRequest): string => {
  const seconds = String(Math.floor(now / 1_000));
  return `t=${seconds},${versionOf(request)}=${digestOf(secret, seconds, body, request).toString('hex')}`;
};

const versionOf = (request?: SignedRequest): 'v1' | 'v2' => (request ? 'v2' : 'v1');

const digestOf = (
  secret: string,
  seconds: string,
  body: string | Uint8Array,
  request: SignedRequest | undefined,
): Buffer => createHmac('sha256', secret).update(startOf(seconds, request)).update(body).digest();

/** The signed text before the body. */
const startOf = (seconds: string, request?: SignedRequest): string =>
  request ? `v2\n${seconds}\n${request.method}\n${request.path}\n${request.idempotencyKey}\n` : `${seconds}.`;

export interface Signed {
  /** The value of the header, as received: `Groupage-Signature-V2` with a request, `Groupage-Signature` without one. */
  readonly header: string | null | undefined;
  /** The received request. If present, the header must have a `v2` that covers it. */
  readonly request?: SignedRequest;
  /** The body as received. Pass the original bytes or text: a body that was parsed and printed again may differ. */
  readonly body: string | Uint8Array;
  /** The accepted secrets. While a new secret replaces an old one, pass both. */
  readonly secrets: readonly string[];
  readonly now: Millis;
  /** @default five minutes */
  readonly tolerance?: Millis;
}

/**
 * Whether one of the secrets signed this body recently. The comparison of a digest takes the same time whether it
 * matches or not.
 */
export const verify = ({ header, request, body, secrets, now, tolerance = TOLERANCE }: Signed): boolean => {
  const parts = (header ?? '').slice(0, 1_000).split(',');
  const valuesOf = (name: string): string[] =>
    parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1));
  const [seconds = '', ...others] = valuesOf('t');
  if (!/^\d{1,12}$/.test(seconds) || others.length > 0) return false;
  if (Math.abs(now - Number(seconds) * 1_000) > tolerance) return false;
  const given = valuesOf(versionOf(request))
    .filter((hex) => /^[0-9a-f]{64}$/.test(hex))
    .map((hex) => Buffer.from(hex, 'hex'));
  const matches = secrets
    // An empty secret would let anyone sign.
    .filter((secret) => secret !== '')
    .map((secret) => digestOf(secret, seconds, body, request))
    .flatMap((digest) => given.map((each) => timingSafeEqual(digest, each)));
  return matches.includes(true);
};
