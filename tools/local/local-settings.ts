/** The local stack as it is: its queues, and the functions that this machine's process runs. */
import type { SQSClient } from '@aws-sdk/client-sqs';
import { queueAttributes } from '../doctor/queue-attributes.ts';
import type { Deployed, WorkingQueueName } from '../doctor/settings.ts';
import type { LocalFile } from './local-file.ts';

/** @param sqs a client of the local engine. */
export const readLocal = async (
  sqs: SQSClient,
  { queues, workers }: Pick<LocalFile, 'queues' | 'workers'>,
): Promise<Deployed> => ({
  queues: await Promise.all(
    Object.entries(workers).map(async ([name, worker]) => {
      const queue = name as WorkingQueueName;
      return { queue, ...(await queueAttributes(sqs, queues[queue] ?? '')), worker };
    }),
  ),
  functions: [],
  // Its engine deletes nothing by itself, and nobody keeps much there.
  tables: [],
});
