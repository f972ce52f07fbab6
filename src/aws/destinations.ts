/** The ways to the kinds of destinations that AWS has: queues, topics, event buses. */
import { type EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns';
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

/** @param arn of the topic: SNS takes no names. */
export const wayToTopic =
  (arn: string, client: SNSClient): Way =>
  async ({ text, source, type }) => {
    const attribute = (StringValue: string) => ({ DataType: 'String', StringValue });
    await client.send(
      new PublishCommand({
        TopicArn: arn,
        Message: text,
        // Subscriptions filter by them.
        MessageAttributes: { source: attribute(source), type: attribute(type) },
      }),
    );
  };

/** An event bus did not take an event. */
class NotTaken extends Error {
  override readonly name = 'NotTaken';
}

/** @param name of the bus, or its ARN. */
export const wayToEventBus =
  (name: string, client: EventBridgeClient): Way =>
  async ({ text, source, type, time }) => {
    const entry = { EventBusName: name, Source: source, DetailType: type, Detail: text, Time: new Date(time) };
    const { FailedEntryCount = 0, Entries = [] } = await client.send(new PutEventsCommand({ Entries: [entry] }));
    // It answers 200 all the same.
    if (FailedEntryCount > 0) throw new NotTaken(`${Entries[0]?.ErrorMessage} (${Entries[0]?.ErrorCode})`);
  };
