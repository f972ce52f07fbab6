/** Queues' settings, as SQS says: one by one, and all of a local stack. */
import { GetQueueAttributesCommand, GetQueueUrlCommand, QueueDoesNotExist, type SQSClient } from '@aws-sdk/client-sqs';
import { queueNamed } from '../../src/domain/config/endpoints.ts';
import { SECOND } from '../../src/domain/timings.ts';
import { isObject, parseJson } from '../../src/util/json-text.ts';
import type { Deployed, QueueSettings, WorkerSettings, WorkingQueueName } from './settings.ts';

type Attributes = Omit<QueueSettings, 'queue' | 'worker'>;

/** @param url the queue's address. */
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

/** Engines write the number as a text, too. */
const redriveIn = (
  policy: string | undefined,
): { readonly arn: string; readonly afterReceives: number } | undefined => {
  const json = policy === undefined ? undefined : parseJson(policy);
  if (!json?.ok || !isObject(json.value)) return undefined;
  return { arn: String(json.value.deadLetterTargetArn), afterReceives: Number(json.value.maxReceiveCount) };
};

/** Undefined where somebody has deleted the queue: then it is as if none were named. */
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
  /** Their addresses. */
  readonly queues: Readonly<Partial<Record<WorkingQueueName, string>>>;
  /** The functions that this machine's process runs. */
  readonly workers: Readonly<Partial<Record<WorkingQueueName, WorkerSettings>>>;
}

/** The local stack as it is. @param sqs a client of the local engine. */
export const readLocal = async (sqs: SQSClient, { queues, workers }: LocalStack): Promise<Deployed> => ({
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
