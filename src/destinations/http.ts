/** Sends events to an HTTP destination: one signed POST per event. */
import type { Destination } from '../domain/config/endpoints.ts';
import { whyNoAnswer } from '../domain/downstream/http-answer.ts';
import { SecretUnreadable } from '../domain/downstream/secret.ts';
import { headersFor, type Surroundings } from '../downstreams/http-headers.ts';
import { NotTaken, TooLarge, type Way } from '../ports/callbacks.ts';

/** Statuses that mean that the destination accepts no events at the moment. */
const isDown = (status: number): boolean => status >= 500 || status === 408 || status === 429;
const CONTENT_TOO_LARGE = 413;

/**
 * Sends an event to an HTTP destination. Any 2xx status accepts the event. After any other status the event is
 * delivered again: even a 404 or a 410 may be a mistake that is fixed while the event still waits. The answer's body is
 * not read.
 */
export const wayByHttp =
  (destination: Destination & { readonly kind: 'http' }, surroundings: Surroundings): Way =>
  async ({ text }, signal) => {
    const { ok, status, body } = await post(destination, text, surroundings, signal);
    // Cancel the body, because a body that never ends would block the function.
    await body?.cancel();
    if (status === CONTENT_TOO_LARGE) throw new TooLarge(`answered ${status}`);
    if (!ok) throw new NotTaken(`answered ${status}`, isDown(status));
  };

/**
 * Whether a connection broke before the answer. A kept connection may be dead after a pause of the function, so such a
 * call is repeated once. The event may then arrive twice, as after any other failure.
 */
const isBroken = (cause: unknown): boolean =>
  cause instanceof Error &&
  cause.cause instanceof Error &&
  'code' in cause.cause &&
  ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(String(cause.cause.code));

const post = async (
  destination: Destination & { readonly kind: 'http' },
  body: string,
  surroundings: Surroundings,
  signal?: AbortSignal,
): Promise<Response> => {
  const { url, timeout } = destination;
  const timedOut = AbortSignal.timeout(timeout);
  const ended = signal ? AbortSignal.any([timedOut, signal]) : timedOut;
  try {
    const headers = await headersFor(destination, { body, idempotencyKey: '' }, surroundings, ended);
    const call = () =>
      fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/cloudevents+json' },
        body,
        // A redirect would send the event to an address that is not in the configuration.
        redirect: 'manual',
        signal: ended,
      });
    return await call().catch((cause: unknown) => {
      if (isBroken(cause)) return call();
      throw cause;
    });
  } catch (cause) {
    if (cause instanceof SecretUnreadable) throw cause;
    throw new NotTaken(whyNoAnswer(cause, timeout), true, { cause });
  }
};
