/** The way to a queue. */
import { GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { SqsFailure, sendAll } from '../aws/sqs.ts';
import { queueNamed } from '../domain/config/endpoints.ts';
import { TooLarge, type Way } from '../ports/callbacks.ts';
import { reasonOf } from '../util/problems.ts';

/** @param name of the queue, or its ARN. */
export const wayToQueue = (name: string, client: SQSClient): Way => {
  let url: string | undefined;
  return async ({ text }) => {
    url ??= (await client.send(new GetQueueUrlCommand(queueNamed(name)))).QueueUrl ?? '';
    try {
      await sendAll(client, url, [{ body: text }]);
    } catch (cause) {
      throw isTooLarge(cause) ? new TooLarge(reasonOf(cause), { cause }) : cause;
    }
  };
};

/**
 * A queue may take less than SQS does at the most (`MaximumMessageSize`). SQS has an error of its own for a request that is too
 * long, and only a sentence for an entry.
 */
const isTooLarge = (cause: unknown): boolean =>
  cause instanceof Error &&
  (cause.name === 'BatchRequestTooLong' || (cause instanceof SqsFailure && /must be shorter than/.test(cause.message)));
