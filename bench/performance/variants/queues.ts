/** Queues of variants that no template describes. */
import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import type { Site } from '../site.ts';

/**
 * The visibility timeout, in seconds. A function that gathers messages for a window and then makes calls ends well
 * before this.
 */
const VISIBILITY_SECONDS = 900;

/** @returns the queue's URL */
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
