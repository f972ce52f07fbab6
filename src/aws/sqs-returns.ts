/** Delays of its own for each message that comes back to an SQS queue. */
import { ChangeMessageVisibilityBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { PutOff, Returns } from '../ports/callbacks.ts';

/** SQS takes ten messages in a request. */
const ENTRIES = 10;

/** @param url of the queue that the messages were received from. */
export const sqsReturns = (client: SQSClient, url: string): Returns => ({
  putOff: async (messages) => {
    const left: PutOff[] = [];
    for (let from = 0; from < messages.length; from += ENTRIES) {
      const chunk = messages.slice(from, from + ENTRIES);
      const { Failed = [] } = await client.send(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl: url,
          Entries: chunk.map(({ receipt, delay }, index) => ({
            Id: String(index),
            ReceiptHandle: receipt,
            VisibilityTimeout: delay,
          })),
        }),
      );
      left.push(...Failed.map(({ Id }) => chunk[Number(Id)] as PutOff));
    }
    return left;
  },
});
