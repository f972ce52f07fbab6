/** The headers that a configuration gives to a request: texts, secret texts, and the signature of its body. */

import type { Headers, SecretRef } from '../domain/config/endpoints.ts';
import { type Secrets, SecretUnreadable } from '../domain/downstream/secret.ts';
import { SIGNATURE_HEADER, sign } from '../domain/downstream/signature.ts';
import type { Millis } from '../domain/ids.ts';

/** What a request needs beside its target. */
export interface Surroundings {
  readonly now: () => Millis;
  readonly secrets: Secrets;
}

export interface Sender {
  readonly headers: Headers;
  /** Signs the body. */
  readonly secret: SecretRef | null;
}

/**
 * @param signal ends the wait for a secret: other requests may wait for the same one
 * @throws SecretUnreadable, or what the signal is aborted with
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

/** A line end after it is what an editor left. Refused here, since `fetch` would say what it refuses. */
const readHeader = async (secrets: Secrets, ref: SecretRef): Promise<string> => {
  const text = (await secrets.read(ref)).replace(/[\r\n]+$/, '');
  if (!/^[\t\x20-\x7e]+$/.test(text))
    throw new SecretUnreadable(ref, 'it is for a header, and has to be one line of printable ASCII characters');
  return text;
};
