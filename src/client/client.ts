/**
 * The producer's client: registers tasks by sending them to the register queue.
 *
 * ```ts
 * const groupage = createClient<{ 'distribute-parcels': Parcel }>({ queueUrl });
 * const id = await groupage.send({ operation: 'distribute-parcels', payload: parcel });
 * ```
 *
 * @module groupage/client
 */
import { SQSClient } from '@aws-sdk/client-sqs';
import { monotonicFactory } from 'ulid';
import { sendAll } from '../aws/sqs.ts';
import { type Client, messageOf, type Operations, type TaskToSend } from './sent-tasks.ts';

export { GaveUp } from '../aws/rounds.ts';
export { SqsFailure } from '../aws/sqs.ts';
export type { Duration } from '../config/duration.ts';
export * from './fan-outs.ts';
export * from './lists.ts';
export { type Client, type Operations, type SendOptions, type TaskToSend, UnsendableTask } from './sent-tasks.ts';

export interface ClientOptions {
  /** The register queue. */
  readonly queueUrl: string;
  /** @default - one from the environment's region and credentials */
  readonly sqs?: SQSClient;
}

/** Ids that sort as they were made, also within a millisecond: tasks wait in the order in which they were sent. */
const newId = monotonicFactory();

/** How many tasks are held in memory at once, and reported at once. */
const SLICE = 500;

export const createClient = <Known extends Operations = Record<string, object>>({
  queueUrl,
  sqs = new SQSClient(),
}: ClientOptions): Client<Known> => {
  const sendSlice = async (tasks: readonly TaskToSend<Known>[], from: number): Promise<string[]> => {
    const messages = tasks.map((task, index) => messageOf(task, from + index, newId));
    await sendAll(sqs, queueUrl, messages);
    return messages.map(({ id }) => id);
  };
  return {
    send: async (task) => (await sendSlice([task], 0))[0] as string,
    sendAll: async (tasks, { onProgress } = {}) => {
      const ids: string[] = [];
      const flush = async (slice: TaskToSend<Known>[]): Promise<void> => {
        ids.push(...(await sendSlice(slice, ids.length)));
        onProgress?.(ids.length);
      };
      let slice: TaskToSend<Known>[] = [];
      for await (const task of tasks) {
        slice.push(task);
        if (slice.length === SLICE) {
          await flush(slice);
          slice = [];
        }
      }
      if (slice.length > 0) await flush(slice);
      return ids;
    },
  };
};
