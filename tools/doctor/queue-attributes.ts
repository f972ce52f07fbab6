/** A queue's settings, as SQS says. */
import { GetQueueAttributesCommand, GetQueueUrlCommand, QueueDoesNotExist, type SQSClient } from '@aws-sdk/client-sqs';
import { queueNamed } from '../../src/domain/config/endpoints.ts';
import { SECOND } from '../../src/domain/timings.ts';
import { isObject, parseJson } from '../../src/util/json-text.ts';
import type { QueueSettings } from './settings.ts';

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
