/** The Lambda downstream: one invocation per batch. Its return value is read like the body of an HTTP answer. */
import { Agent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { InvokeCommand, LambdaClient, type LambdaClientConfig } from '@aws-sdk/client-lambda';
import { type LambdaTarget, serviceName } from '../domain/config/endpoints.ts';
import { answerOfFailure } from '../domain/downstream/aws-failure.ts';
import { type Answer, type Call, type Downstream, printEvent } from '../domain/downstream/downstream.ts';
import { readFunctionError, readPayload } from '../domain/downstream/lambda-answer.ts';

/**
 * Lets no two calls use one connection. A kept connection may be dead after a pause of the batch handler, and its reset
 * would not say whether the batch arrived. `keepAlive` also sends TCP probes, which a long call needs.
 */
const forOneCall = <A extends Agent>(agent: A): A => Object.assign(agent, { keepSocketAlive: () => false });

/** The client makes only one attempt, because the retry policy decides whether the function is invoked again. */
export const lambdaClient = (options: LambdaClientConfig): LambdaClient =>
  new LambdaClient({
    ...options,
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: 2_000,
      httpAgent: forOneCall(new Agent({ keepAlive: true })),
      httpsAgent: forOneCall(new HttpsAgent({ keepAlive: true })),
    },
  });

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
      return FunctionError === undefined
        ? readPayload(body, call, target.requireResults)
        : readFunctionError(FunctionError, body);
    } catch (cause) {
      return answerOfFailure({ cause, what: `the ${serviceName(target)}`, timeout, signal });
    }
  },
});
