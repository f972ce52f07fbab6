/** The HTTP downstream: one request per batch. */

import type { HttpTarget } from '../domain/config/endpoints.ts';
import {
  type Answer,
  type Call,
  type Downstream,
  idempotencyKey,
  printCall,
  TRACE_HEADER,
  traceparentOf,
} from '../domain/downstream/downstream.ts';
import { type HttpAnswer, readAnswer, readBody, whyNoAnswer } from '../domain/downstream/http-answer.ts';
import type { HttpCall } from '../domain/downstream/http-request.ts';
import { parseRetryAfter } from '../domain/downstream/retry.ts';
import { SecretUnreadable } from '../domain/downstream/secret.ts';
import { type CallSurroundings, type HttpFormat, type HttpRequest, NotAuthorized } from './http-format.ts';
import { readHeaders, signaturesFor, untilAborted } from './http-headers.ts';

/**
 * A downstream at `target.url`.
 *
 * @param format of its calls. By default Groupage's own
 */
export const httpDownstream = (
  target: HttpTarget,
  surroundings: CallSurroundings,
  format: HttpFormat = ownFormat(target),
): Downstream => ({
  async call(call: Call): Promise<Answer> {
    const written = format.write(call);
    if ('kind' in written) return written;
    try {
      const answer = await exchange(target, { ...call, items: written.items }, written, format, surroundings);
      return format.read(written, answer);
    } catch (cause) {
      return format.unanswered(written, whyNotSent(cause, target));
    }
  },
});

/** The calls and answers of docs/reference/downstream-call.md. */
const ownFormat = ({ url, method, requireResults }: HttpTarget): HttpFormat => ({
  write: (call) => ({
    url,
    method,
    contentType: 'application/json',
    body: printCall(call),
    items: call.items,
    unfit: new Map(),
  }),
  read: ({ items }, answer) => readAnswer(answer, items, requireResults),
  unanswered: (_, answer) => answer,
  authorizer: { authorize: async (request) => request, renews: () => false },
});

const whyNotSent = (cause: unknown, { timeout }: HttpTarget): Answer => {
  if (cause instanceof NotAuthorized) return cause.answer;
  if (cause instanceof SecretUnreadable) return { kind: 'unavailable', reason: cause.message, mayRetryAtOnce: false };
  // The call got no answer (refused, reset, timed out, half a body). The next attempt may succeed.
  return { kind: 'unavailable', reason: whyNoAnswer(cause, timeout), mayRetryAtOnce: true };
};

const exchange = async (
  target: HttpTarget,
  call: Call,
  written: HttpCall,
  { authorizer }: HttpFormat,
  surroundings: CallSurroundings,
): Promise<HttpAnswer> => {
  const signal = AbortSignal.timeout(target.timeout);
  const { url, method, body, contentType } = written;
  const key = idempotencyKey(call);
  const headers = {
    ...(await untilAborted(readHeaders(target, surroundings), signal)),
    'content-type': contentType,
    'idempotency-key': key,
    [TRACE_HEADER]: traceparentOf(call),
  };
  const send = async () => {
    const request = await authorizer.authorize({ url, method, headers, body }, signal);
    // An authorization may change the URL, which the signature covers.
    const signed = { ...target, url: request.url, method };
    const signatures = signaturesFor(signed, { body, idempotencyKey: key }, surroundings);
    const own = { ...request, headers: { ...request.headers, ...(await untilAborted(signatures, signal)) } };
    return { request, answer: await post(target, own, surroundings, signal) };
  };
  const { request, answer } = await send();
  // A token may be revoked before it expires. Such a call had no effect.
  return answer.status === 401 && authorizer.renews(request) ? (await send()).answer : answer;
};

const post = async (
  { usageHeader }: HttpTarget,
  { url, method, headers, body }: HttpRequest,
  { now, send = fetch }: CallSurroundings,
  signal: AbortSignal,
): Promise<HttpAnswer> => {
  const response = await send(url, {
    method,
    // A kept connection may be dead after a pause of the function. Its reset would not say whether the batch arrived, so
    // no call may use it again. The header is no part of a signature.
    headers: { ...headers, connection: 'close' },
    body,
    // A redirect would send the batch to an address that is not in the configuration.
    redirect: 'manual',
    signal,
  });
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    ...(usageHeader === null ? {} : { usage: response.headers.get(usageHeader) }),
    retryAfter: parseRetryAfter(response.headers.get('retry-after'), now()),
    ...(await readBody(response.body ?? [])),
  };
};
