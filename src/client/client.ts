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
import '../node/supported.ts';
import { SQSClient } from '@aws-sdk/client-sqs';
import { monotonicFactory } from 'ulid';
import { sendSome } from '../aws/sqs.ts';
import { clientBy } from './send-tasks.ts';
import type { Client, Operations } from './sent-tasks.ts';

export { GaveUp } from '../aws/rounds.ts';
export { SqsFailure } from '../aws/sqs.ts';
export type { Duration } from '../domain/config/duration.ts';
export * from './fan-outs.ts';
export * from './lists.ts';
export { NotAllSent } from './send-tasks.ts';
export { type Client, type Operations, type SendOptions, type TaskToSend, UnsendableTask } from './sent-tasks.ts';

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** URL of the register queue. */
  readonly queueUrl: string;
  /** @default - a client with the environment's region and credentials */
  readonly sqs?: SQSClient;
}

/**
 * Ids that are generated in sequence also sort in that sequence, even within a millisecond. Tasks therefore wait in the
 * order in which they were sent.
 */
const newId = monotonicFactory();

/** Maximum number of tasks that are held in memory, and the number of tasks after which progress is reported. */
const SLICE = 500;

/** Creates a client that sends tasks to the register queue. It sends no request itself. */
export const createClient = <Known extends Operations = Record<string, object>>({
  queueUrl,
  sqs = new SQSClient(),
}: ClientOptions): Client<Known> => clientBy((messages) => sendSome(sqs, queueUrl, messages), newId, SLICE);
