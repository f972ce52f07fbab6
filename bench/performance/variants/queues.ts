/** Queues of variants that no template describes. */
import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import type { Site } from '../site.ts';

/** A function that takes messages for a window, and then calls, is done long before. */
const VISIBILITY_SECONDS = 900;

/** @returns its URL */
export const createQueue = async (
  { bystander, prefix }: Site,
  name: string,
  attributes: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const { QueueUrl = '' } = await bystander.sqs.send(
    new CreateQueueCommand({
      QueueName: `${prefix}${name}`,
      Attributes: { VisibilityTimeout: String(VISIBILITY_SECONDS), ...attributes },
    }),
  );
  return QueueUrl;
};
