/** The headers that a configuration adds to a request: plain values, secret values, and the signatures. */

import type { Headers, SecretRef } from '../domain/config/endpoints.ts';
import type { Method } from '../domain/config/http-format.ts';
import { type Secrets, SecretUnreadable } from '../domain/downstream/secret.ts';
import { SIGNATURE_HEADER, SIGNATURE_V2_HEADER, sign } from '../domain/downstream/signature.ts';
import type { Millis } from '../domain/ids.ts';

/** What a request needs in addition to its target. */
export interface Surroundings {
  readonly now: () => Millis;
  readonly secrets: Secrets;
}

/** What a configuration says about the requests to one URL. */
export interface Sender {
  readonly url: string;
  /** @default 'POST' */
  readonly method?: Method;
  readonly headers: Headers;
  /** Secret that signs each request. */
  readonly secret: SecretRef | null;
  readonly legacySignature: boolean;
}

export interface Content {
  readonly body: string;
  /** The request's own `Idempotency-Key`. Empty if it has none. */
  readonly idempotencyKey: string;
}

/** @throws SecretUnreadable, or the reason of the signal */
export const headersFor = (
  sender: Sender,
  content: Content,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<Record<string, string>> =>
  untilAborted(
    Promise.all([readHeaders(sender, surroundings), signaturesFor(sender, content, surroundings)]).then((all) =>
      Object.assign({}, ...all),
    ),
    signal,
  );

/**
 * Stops waiting when the signal is aborted. The work goes on, because other requests may wait for the same secret or
 * token.
 *
 * @throws the reason of the signal
 */
export const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  Promise.race([
    work,
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
  ]);

/** The configured headers. @throws SecretUnreadable */
export const readHeaders = async (
  { headers }: Pick<Sender, 'headers'>,
  { secrets }: Surroundings,
): Promise<Record<string, string>> => {
  const configured = await Promise.all(
    Object.entries(headers).map(
      async ([name, value]) => [name, typeof value === 'string' ? value : await readLine(secrets, value)] as const,
    ),
  );
  return Object.fromEntries(configured);
};

/** The signatures of a request to `sender.url`. Empty if it is not signed. @throws SecretUnreadable */
export const signaturesFor = async (
  sender: Sender,
  content: Content,
  { now, secrets }: Surroundings,
): Promise<Record<string, string>> => {
  const { secret } = sender;
  return secret ? signaturesOf(sender, content, await readKey(secrets, secret), now()) : {};
};

const signaturesOf = (
  { url, method = 'POST', legacySignature }: Sender,
  { body, idempotencyKey }: Content,
  key: string,
  now: Millis,
): Record<string, string> => {
  const { pathname, search } = new URL(url);
  return {
    ...(legacySignature ? { [SIGNATURE_HEADER]: sign(key, body, now) } : {}),
    [SIGNATURE_V2_HEADER]: sign(key, body, now, { method, path: pathname + search, idempotencyKey }),
  };
};

const readKey = async (secrets: Secrets, ref: SecretRef): Promise<string> => {
  const key = await secrets.read(ref);
  if (key === '') throw new SecretUnreadable(ref, 'it is empty, and anyone could sign with it: store a random value');
  return key;
};

/** Reads a secret without a line break at its end, because editors add one. */
export const readText = async (secrets: Secrets, ref: SecretRef): Promise<string> =>
  (await secrets.read(ref)).replace(/[\r\n]+$/, '');

/**
 * Reads a secret for a header. Refuses invalid characters here, because the error of `fetch` would show the secret.
 */
export const readLine = async (secrets: Secrets, ref: SecretRef): Promise<string> => {
  const text = await readText(secrets, ref);
  if (!/^[\t\x20-\x7e]+$/.test(text))
    throw new SecretUnreadable(ref, 'a header needs one line of printable ASCII characters: store such a value');
  return text;
};
