/** The Lambda kind of downstream: one invocation a batch, whose answer is read like the body of an HTTP one. */
import { InvokeCommand, LambdaClient, type LambdaClientConfig } from '@aws-sdk/client-lambda';
import { isObject, parseJson } from '../batching/json-text.ts';
import type { LambdaTarget } from '../config/endpoints.ts';
import { answerOfFailure } from './aws-failure.ts';
import type { Answer, Call, Downstream } from './downstream.ts';
import { printEvent } from './event.ts';
import { readAnswer } from './http-answer.ts';

/** Tries once: to invoke again is the policy's to decide. */
export const lambdaClient = (options: LambdaClientConfig): LambdaClient =>
  new LambdaClient({ ...options, maxAttempts: 1, requestHandler: { connectionTimeout: 2_000 } });

export const lambdaDownstream = (target: LambdaTarget, client: LambdaClient): Downstream => ({
  async call(call: Call): Promise<Answer> {
    const { timeout } = target;
    const signal = AbortSignal.timeout(timeout);
    try {
      const { FunctionError, Payload } = await client.send(
        new InvokeCommand({ FunctionName: target.function, Payload: printEvent(call) }),
        { abortSignal: signal },
      );
      const body = Payload?.transformToString() ?? '';
      return FunctionError === undefined ? readPayload(body, call) : readFunctionError(FunctionError, body);
    } catch (cause) {
      return answerOfFailure({ cause, what: `the function ${target.function}`, timeout, signal });
    }
  },
});

/** A function that returns nothing answers `null`; it has no status to say that it reports later. */
const readPayload = (body: string, { items }: Call): Answer => {
  const json = parseJson(body);
  const value = json.ok ? json.value : undefined;
  if (isObject(value) && value.pending === true) return { kind: 'pending' };
  const answer = { status: 200, contentType: 'application/json', retryAfter: undefined };
  return readAnswer({ ...answer, body: value === null ? '' : body }, items);
};

/** It threw, ran out of time or memory, or could not start. @param error `Handled` or `Unhandled` */
const readFunctionError = (error: string, body: string): Answer => {
  const json = parseJson(body);
  const { errorType, errorMessage } = json.ok && isObject(json.value) ? json.value : {};
  const said = [errorType, errorMessage].filter((each) => typeof each === 'string' && each !== '').join(': ');
  return {
    kind: 'unavailable',
    reason: `its function failed (${error})`,
    ...(said === '' ? {} : { quote: said.slice(0, 200).toWellFormed() }),
    mayRetryAtOnce: true,
  };
};
