/** The way to a queue. */
import { GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Way } from '../callbacks/deliver.ts';
import { queueNamed } from '../config/endpoints.ts';
import { sendAll } from './sqs.ts';

/** @param name of the queue, or its ARN. */
export const wayToQueue = (name: string, client: SQSClient): Way => {
  let url: string | undefined;
  return async ({ text }) => {
    url ??= (await client.send(new GetQueueUrlCommand(queueNamed(name)))).QueueUrl ?? '';
    await sendAll(client, url, [{ body: text }]);
  };
};
