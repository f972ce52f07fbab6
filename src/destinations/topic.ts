/** Sends events to an SNS topic. */
import { InvalidParameterException, PublishCommand, SNSClient, type SNSClientConfig } from '@aws-sdk/client-sns';
import { TRIES, timed } from '../aws/call-time.ts';
import { TooLarge, type Way } from '../ports/callbacks.ts';
import { reasonOf } from '../util/problems.ts';

export const topicClient = (options: SNSClientConfig): SNSClient => timed(new SNSClient({ ...TRIES, ...options }));

/** @param arn ARN of the topic; SNS accepts no names */
export const wayToTopic =
  (arn: string, client: SNSClient): Way =>
  async ({ text, source, type }) => {
    const attribute = (StringValue: string) => ({ DataType: 'String', StringValue });
    const publish = new PublishCommand({
      TopicArn: arn,
      Message: text,
      // Subscriptions can filter by these attributes.
      MessageAttributes: { source: attribute(source), type: attribute(type) },
    });
    try {
      await client.send(publish);
    } catch (cause) {
      throw isTooLarge(cause) ? new TooLarge(reasonOf(cause), { cause }) : cause;
    }
  };

/** Whether SNS refused an event because of its size. SNS reports this only in the text of its error. */
const isTooLarge = (cause: unknown): boolean =>
  cause instanceof InvalidParameterException && /message too long/i.test(cause.message);
