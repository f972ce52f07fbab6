/**
 * Signs calls and events, so that the receiver can check that they come from this Groupage, unchanged and recently.
 * Pure.
 *
 * The header has Stripe's form, `t=<seconds>,v1=<hex>` (stripe.com/docs/webhooks/signatures; Standard Webhooks signs in
 * the same way): HMAC-SHA256, keyed with the secret's text, of the time, a full stop and the body as it was sent.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Millis } from '../ids.ts';

export const SIGNATURE_HEADER = 'groupage-signature';

/** The largest age of a signature that is accepted, including the difference between both clocks. */
const TOLERANCE: Millis = 5 * 60 * 1_000;

/** The header's value for a body that is sent at `now`. */
export const sign = (secret: string, body: string, now: Millis): string => {
  const seconds = Math.floor(now / 1_000);
  return `t=${seconds},v1=${digestOf(secret, seconds, body).toString('hex')}`;
};

const digestOf = (secret: string, seconds: number | string, body: string | Uint8Array): Buffer =>
  createHmac('sha256', secret).update(`${seconds}.`).update(body).digest();

export interface Signed {
  /** The value of `Groupage-Signature`, as received. */
  readonly header: string | null | undefined;
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
export const verify = ({ header, body, secrets, now, tolerance = TOLERANCE }: Signed): boolean => {
  const parts = (header ?? '').slice(0, 1_000).split(',');
  const valuesOf = (name: string): string[] =>
    parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1));
  const [seconds = '', ...others] = valuesOf('t');
  if (!/^\d{1,12}$/.test(seconds) || others.length > 0) return false;
  if (Math.abs(now - Number(seconds) * 1_000) > tolerance) return false;
  const given = valuesOf('v1')
    .filter((hex) => /^[0-9a-f]{64}$/.test(hex))
    .map((hex) => Buffer.from(hex, 'hex'));
  const matches = secrets
    // An empty secret would let anyone sign.
    .filter((secret) => secret !== '')
    .map((secret) => digestOf(secret, seconds, body))
    .flatMap((digest) => given.map((each) => timingSafeEqual(digest, each)));
  return matches.includes(true);
};
