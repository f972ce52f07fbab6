/** Sends events to an SQS queue. */
import { GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { SqsFailure, sendAll } from '../aws/sqs.ts';
import { queueNamed } from '../domain/config/endpoints.ts';
import { TooLarge, type Way } from '../ports/callbacks.ts';
import { reasonOf } from '../util/problems.ts';

/** @param name name or ARN of the queue */
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
 * Whether SQS refused an event because of its size. A queue may accept less than the SQS limit (`MaximumMessageSize`).
 * SQS has an error code for a request that is too long, but reports an entry that is too long only in the text of its
 * error.
 */
const isTooLarge = (cause: unknown): boolean =>
  cause instanceof Error &&
  (cause.name === 'BatchRequestTooLong' || (cause instanceof SqsFailure && /must be shorter than/.test(cause.message)));
