/** The headers that a configuration adds to a request: plain values, secret values, and the signature of the body. */

import type { Headers, SecretRef } from '../domain/config/endpoints.ts';
import { type Secrets, SecretUnreadable } from '../domain/downstream/secret.ts';
import { SIGNATURE_HEADER, sign } from '../domain/downstream/signature.ts';
import type { Millis } from '../domain/ids.ts';

/** What a request needs in addition to its target. */
export interface Surroundings {
  readonly now: () => Millis;
  readonly secrets: Secrets;
}

export interface Sender {
  readonly headers: Headers;
  /** Secret that signs the body. */
  readonly secret: SecretRef | null;
}

/**
 * @param signal stops waiting for a secret. The read of the secret continues, because other requests may wait for the
 * same secret
 * @throws SecretUnreadable, or the reason of the signal
 */
export const headersFor = (
  sender: Sender,
  body: string,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<Record<string, string>> =>
  Promise.race([
    readHeaders(sender, body, surroundings),
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
  ]);

const readHeaders = async (
  { headers, secret }: Sender,
  body: string,
  { now, secrets }: Surroundings,
): Promise<Record<string, string>> => {
  const configured = await Promise.all(
    Object.entries(headers).map(
      async ([name, value]) => [name, typeof value === 'string' ? value : await readHeader(secrets, value)] as const,
    ),
  );
  const key = secret && (await secrets.read(secret));
  return { ...Object.fromEntries(configured), ...(key ? { [SIGNATURE_HEADER]: sign(key, body, now()) } : {}) };
};

/**
 * Reads a secret for a header. Removes a line break at its end, because editors add one. Refuses other invalid
 * characters here, because the error of `fetch` would show the secret.
 */
const readHeader = async (secrets: Secrets, ref: SecretRef): Promise<string> => {
  const text = (await secrets.read(ref)).replace(/[\r\n]+$/, '');
  if (!/^[\t\x20-\x7e]+$/.test(text))
    throw new SecretUnreadable(ref, 'a header needs one line of printable ASCII characters: store such a value');
  return text;
};
