/** The way to a topic. */
import { PublishCommand, SNSClient, type SNSClientConfig } from '@aws-sdk/client-sns';
import type { Way } from '../callbacks/deliver.ts';

export const topicClient = (options: SNSClientConfig): SNSClient => new SNSClient(options);

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
