/**
 * The downstream of a run, as a Lambda function. It sends one message about each call to the queue of the run, and only
 * then answers that all items succeeded. So each call that had an effect is recorded.
 */
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { RecordedCall } from '../../loads/recorded-call.ts';

interface Call {
  readonly batchId: string;
  readonly operation: string;
  readonly attempt: number;
  readonly items: readonly { readonly id: string }[];
}

const sqs = new SQSClient({});

export const handler = async ({ batchId, operation, attempt, items }: Call): Promise<object> => {
  const call: RecordedCall = { batchId, operation, attempt, at: Date.now(), ids: items.map(({ id }) => id) };
  await sqs.send(new SendMessageCommand({ QueueUrl: process.env.CALLS_QUEUE_URL, MessageBody: JSON.stringify(call) }));
  return {};
};
