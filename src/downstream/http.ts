/** The HTTP kind of downstream: one POST a batch. */
import { printItem } from '../batching/task.ts';
import type { HttpTarget } from '../config/endpoints.ts';
import { type Answer, type Call, type Downstream, idempotencyKey } from './downstream.ts';
import { type HttpAnswer, readAnswer, readBody } from './http-answer.ts';
import { headersFor, type Surroundings } from './http-headers.ts';
import { whyNoAnswer } from './no-answer.ts';
import { parseRetryAfter } from './retry.ts';
import { SecretUnreadable } from './secret.ts';
import { TRACE_HEADER, traceparentOf } from './trace.ts';

/** A downstream behind `target.url`. */
export const httpDownstream = (target: HttpTarget, surroundings: Surroundings): Downstream => ({
  async call(call: Call): Promise<Answer> {
    let answer: HttpAnswer;
    try {
      answer = await post(target, call, surroundings);
    } catch (cause) {
      if (cause instanceof SecretUnreadable)
        return { kind: 'unavailable', reason: cause.message, mayRetryAtOnce: false };
      // Whatever keeps an answer from arriving (refused, reset, timed out, half a body) may be over the next time.
      return { kind: 'unavailable', reason: whyNoAnswer(cause, target.timeout), mayRetryAtOnce: true };
    }
    return readAnswer(answer, call.items);
  },
});

const post = async (target: HttpTarget, call: Call, surroundings: Surroundings): Promise<HttpAnswer> => {
  const signal = AbortSignal.timeout(target.timeout);
  const body = printCall(call);
  const configured = await headersFor(target, body, surroundings, signal);
  const response = await fetch(target.url, {
    method: 'POST',
    headers: {
      ...configured,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey(call),
      [TRACE_HEADER]: traceparentOf(call),
    },
    body,
    // A redirect would repeat the batch somewhere that nobody configured.
    redirect: 'manual',
    signal,
  });
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    retryAfter: parseRetryAfter(response.headers.get('retry-after'), surroundings.now()),
    ...(await readBody(response.body ?? [])),
  };
};

/** The body of a call. Payloads go through as they were sent; where they were merged, their inputs instead. */
export const printCall = ({ batchId, operation, target, attempt, items, inputs }: Call): string => {
  const envelope = JSON.stringify({ batchId, operation, target, attempt }).slice(0, -1);
  if (inputs)
    return `${envelope},"inputs":[${inputs.join(',')}],"items":${JSON.stringify(items.map(({ id }) => ({ id })))}}`;
  return `${envelope},"items":[${items.map(({ id, payload }) => printItem(id, payload)).join(',')}]}`;
};
