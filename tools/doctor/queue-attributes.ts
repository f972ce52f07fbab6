/** Reads the settings of queues from SQS: of one queue, or of all queues of a local stack. */
import { GetQueueAttributesCommand, GetQueueUrlCommand, QueueDoesNotExist, type SQSClient } from '@aws-sdk/client-sqs';
import { queueNamed } from '../../src/domain/config/endpoints.ts';
import { SECOND } from '../../src/domain/timings.ts';
import { isObject, parseJson } from '../../src/util/json-text.ts';
import type { Deployed, QueueSettings, WorkerSettings, WorkingQueueName } from './settings.ts';

type Attributes = Omit<QueueSettings, 'queue' | 'worker'>;

/** @param url URL of the queue. */
export const queueAttributes = async (client: SQSClient, url: string): Promise<Attributes> => {
  const own = await ask(client, url);
  const redrive = redriveIn(own.RedrivePolicy);
  const retention = redrive && (await retentionOf(client, redrive.arn));
  return {
    visibility: Number(own.VisibilityTimeout) * SECOND,
    retention: Number(own.MessageRetentionPeriod) * SECOND,
    ...(redrive && retention !== undefined ? { deadLetters: { afterReceives: redrive.afterReceives, retention } } : {}),
  };
};

const ask = async (client: SQSClient, QueueUrl: string): Promise<Partial<Record<string, string>>> => {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: ['VisibilityTimeout', 'MessageRetentionPeriod', 'RedrivePolicy'],
    }),
  );
  return Attributes;
};

/** `maxReceiveCount` may be a number or a string. */
const redriveIn = (
  policy: string | undefined,
): { readonly arn: string; readonly afterReceives: number } | undefined => {
  const json = policy === undefined ? undefined : parseJson(policy);
  if (!json?.ok || !isObject(json.value)) return undefined;
  return { arn: String(json.value.deadLetterTargetArn), afterReceives: Number(json.value.maxReceiveCount) };
};

/** Undefined if the dead-letter queue was deleted, as if the queue had no dead-letter queue. */
const retentionOf = async (client: SQSClient, arn: string): Promise<number | undefined> => {
  try {
    const { QueueUrl = '' } = await client.send(new GetQueueUrlCommand(queueNamed(arn)));
    return Number((await ask(client, QueueUrl)).MessageRetentionPeriod) * SECOND;
  } catch (cause) {
    if (cause instanceof QueueDoesNotExist) return undefined;
    throw cause;
  }
};

interface LocalStack {
  /** URLs of the queues. */
  readonly queues: Readonly<Partial<Record<WorkingQueueName, string>>>;
  /** Settings of the functions that the local process runs. */
  readonly workers: Readonly<Partial<Record<WorkingQueueName, WorkerSettings>>>;
}

/** Reads the actual settings of a local stack. @param sqs client of the local engine. */
export const readLocal = async (sqs: SQSClient, { queues, workers }: LocalStack): Promise<Deployed> => ({
  queues: await Promise.all(
    Object.entries(workers).map(async ([name, worker]) => {
      const queue = name as WorkingQueueName;
      return { queue, ...(await queueAttributes(sqs, queues[queue] ?? '')), worker };
    }),
  ),
  functions: [],
  // The local engine has no time to live, and a local table stays small.
  tables: [],
});
