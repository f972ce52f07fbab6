/** The queue downstream: each batch is one message. The tasks of a batch succeed when SQS has accepted its message. */
import { GetQueueUrlCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { type QueueTarget, queueNamed, serviceName } from '../domain/config/endpoints.ts';
import { answerOfFailure } from '../domain/downstream/aws-failure.ts';
import {
  type Answer,
  type Call,
  type Downstream,
  idempotencyKey,
  printEvent,
  TRACE_HEADER,
  traceparentOf,
} from '../domain/downstream/downstream.ts';
import { sendable } from '../util/json-text.ts';

/** Message attribute with the idempotency key, named like the header of an HTTP call. */
const KEY_ATTRIBUTE = 'Idempotency-Key';

export const queueDownstream = (target: QueueTarget, client: SQSClient): Downstream => {
  const address = addressOf(target.name, client);
  return {
    async call(call: Call): Promise<Answer> {
      const { timeout } = target;
      const signal = AbortSignal.timeout(timeout);
      const message = {
        MessageBody: sendable(printEvent(call)),
        MessageAttributes: {
          [KEY_ATTRIBUTE]: { DataType: 'String', StringValue: idempotencyKey(call) },
          [TRACE_HEADER]: { DataType: 'String', StringValue: traceparentOf(call) },
        },
      };
      try {
        const QueueUrl = await address(signal);
        await client.send(new SendMessageCommand({ QueueUrl, ...message }), { abortSignal: signal });
        return { kind: 'all-succeeded' };
      } catch (cause) {
        return answerOfFailure({ cause, what: `the ${serviceName(target)}`, timeout, signal });
      }
    },
  };
};

/**
 * Finds the URL of a queue, and keeps it, because the URL of a name never changes.
 * @param name name or ARN of the queue
 */
const addressOf = (name: string, client: SQSClient): ((abortSignal: AbortSignal) => Promise<string>) => {
  let known: string | undefined;
  return async (abortSignal) => {
    known ??= (await client.send(new GetQueueUrlCommand(queueNamed(name)), { abortSignal })).QueueUrl ?? '';
    return known;
  };
};
