/** The HTTP downstream: one POST per batch. */

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
import { parseRetryAfter } from '../domain/downstream/retry.ts';
import { SecretUnreadable } from '../domain/downstream/secret.ts';
import { headersFor, type Surroundings } from './http-headers.ts';

/** A downstream at `target.url`. */
export const httpDownstream = (target: HttpTarget, surroundings: Surroundings): Downstream => ({
  async call(call: Call): Promise<Answer> {
    let answer: HttpAnswer;
    try {
      answer = await post(target, call, surroundings);
    } catch (cause) {
      if (cause instanceof SecretUnreadable)
        return { kind: 'unavailable', reason: cause.message, mayRetryAtOnce: false };
      // The call got no answer (refused, reset, timed out, half a body). The next attempt may succeed.
      return { kind: 'unavailable', reason: whyNoAnswer(cause, target.timeout), mayRetryAtOnce: true };
    }
    return readAnswer(answer, call.items, target.requireResults);
  },
});

const post = async (target: HttpTarget, call: Call, surroundings: Surroundings): Promise<HttpAnswer> => {
  const signal = AbortSignal.timeout(target.timeout);
  const body = printCall(call);
  const key = idempotencyKey(call);
  const configured = await headersFor(target, { body, idempotencyKey: key }, surroundings, signal);
  const response = await fetch(target.url, {
    method: 'POST',
    headers: {
      ...configured,
      'content-type': 'application/json',
      // A kept connection may be dead after a pause of the function. Its reset would not say whether the batch arrived, so
      // no call may use it again.
      connection: 'close',
      'idempotency-key': key,
      [TRACE_HEADER]: traceparentOf(call),
    },
    body,
    // A redirect would send the batch to an address that is not in the configuration.
    redirect: 'manual',
    signal,
  });
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    ...(target.usageHeader === null ? {} : { usage: response.headers.get(target.usageHeader) }),
    retryAfter: parseRetryAfter(response.headers.get('retry-after'), surroundings.now()),
    ...(await readBody(response.body ?? [])),
  };
};
