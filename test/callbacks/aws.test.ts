/** Deliveries to queues, topics and event buses, against servers that speak AWS's protocols. */
import {
  CreateEventBusCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
} from '@aws-sdk/client-eventbridge';
import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wayToEventBus } from '../../src/destinations/event-bus.ts';
import { wayToQueue } from '../../src/destinations/queue.ts';
import { wayToTopic } from '../../src/destinations/topic.ts';
import type { LeavingEvent } from '../../src/domain/callbacks/event.ts';
import { reasonOf } from '../../src/util/problems.ts';
import { type SqsEngine, startSqs } from '../../tools/local/sqs-engine.ts';
import { enter } from '../backends/cloud.ts';
import { type Emulator, startEmulator } from '../backends/ministack.ts';
import { NOTHING_MAY_BE_MISSING } from '../backends/missing.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type AwsReply, awsError, startAwsService } from '../factories/aws-service.ts';

const eventOf = (status: string): LeavingEvent => ({
  text: `{"specversion":"1.0","type":"groupage.task.${status}","data":{"result":{"name":"Zoë 🚚 \\uffff"}}}`,
  source: '/groupage/here/ship',
  type: `groupage.task.${status}`,
  time: '2026-01-01T00:00:00.000Z',
});
const EVENT = eventOf('failed');

/** Receives and deletes the next message of a queue. */
const next = (sqs: SQSClient, QueueUrl: string): Promise<string> =>
  eventually(async () => {
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }));
    const [message] = Messages;
    if (message) await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
    return message?.Body;
  });

describe('a queue destination', () => {
  let engine: SqsEngine;
  let sqs: SQSClient;
  beforeAll(async () => {
    engine = await startSqs({ port: 0 });
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
    sqs = new SQSClient({ endpoint: engine.endpoint, region: 'us-east-1', credentials });
  });
  afterAll(() => engine.stop());
  const make = async (QueueName: string) => (await sqs.send(new CreateQueueCommand({ QueueName }))).QueueUrl ?? '';

  it.each(['ops', 'arn:aws:sqs:us-east-1:000000000000:ops'])('gets the unchanged event, by %s', async (name) => {
    const url = await make('ops');
    await wayToQueue(name, sqs)(EVENT);
    expect(await next(sqs, url)).toBe(EVENT.text);
  });

  it('with a limit below that of SQS refuses only larger events', async () => {
    const Attributes = { MaximumMessageSize: '1024' };
    const url = (await sqs.send(new CreateQueueCommand({ QueueName: 'small', Attributes }))).QueueUrl ?? '';
    const way = wayToQueue('small', sqs);
    await expect(way({ ...EVENT, text: 'x'.repeat(1_025) })).rejects.toMatchObject({ name: 'TooLarge' });
    await way({ ...EVENT, text: 'x'.repeat(1_024) });
    expect(await next(sqs, url)).toHaveLength(1_024);
  });

  it('that does not exist yet is looked up again', async () => {
    const way = wayToQueue('later', sqs);
    await expect(way(EVENT)).rejects.toThrow(/does not exist/);
    const url = await make('later');
    await way(EVENT);
    expect(await next(sqs, url)).toBe(EVENT.text);
    await sqs.send(new DeleteQueueCommand({ QueueUrl: url }));
    await expect(way(EVENT)).rejects.toThrow(/does not exist/);
  });
});

describe('on the emulator', () => {
  let emulator: Emulator | undefined;
  let missing = '';
  beforeAll(async () => {
    try {
      emulator = await startEmulator();
      enter(emulator.cloud);
    } catch (cause) {
      if (NOTHING_MAY_BE_MISSING) throw cause;
      missing = reasonOf(cause);
    }
  });
  afterAll(() => emulator?.stop());

  /** A queue that subscribes to a topic or bus. */
  const listener = async (sqs: SQSClient, QueueName: string) => {
    const arn = `arn:aws:sqs:us-east-1:000000000000:${QueueName}`;
    const Principal = { Service: ['sns.amazonaws.com', 'events.amazonaws.com'] };
    const Statement = [{ Effect: 'Allow', Principal, Action: 'sqs:SendMessage', Resource: arn }];
    const Attributes = { Policy: JSON.stringify({ Version: '2012-10-17', Statement }) };
    return { arn, url: (await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? '' };
  };

  it('a topic gets the event, with attributes for filter policies', async (context) => {
    if (missing) return context.skip(missing);
    const [sns, sqs] = [new SNSClient(), new SQSClient()];
    const { TopicArn = '' } = await sns.send(new CreateTopicCommand({ Name: 'news' }));
    const { url, arn } = await listener(sqs, 'failures');
    const Attributes = {
      FilterPolicy: JSON.stringify({ type: ['groupage.task.failed'], source: [EVENT.source] }),
      RawMessageDelivery: 'true',
    };
    await sns.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint: arn, Attributes }));
    const way = wayToTopic(TopicArn, sns);
    await way(eventOf('succeeded'));
    await way(EVENT);
    expect(await next(sqs, url)).toBe(EVENT.text);
    await expect(wayToTopic(`${TopicArn}-gone`, sns)(EVENT)).rejects.toThrow(/not exist/i);
    return undefined;
  });

  it('an event bus gets the event as its detail, with source and type for rules', async (context) => {
    if (missing) return context.skip(missing);
    const [eventBridge, sqs] = [new EventBridgeClient(), new SQSClient()];
    await eventBridge.send(new CreateEventBusCommand({ Name: 'orders' }));
    const { url, arn } = await listener(sqs, 'failed-orders');
    const rule = { EventBusName: 'orders', Name: 'failed' };
    const pattern = { source: [EVENT.source], 'detail-type': [EVENT.type] };
    await eventBridge.send(new PutRuleCommand({ ...rule, EventPattern: JSON.stringify(pattern) }));
    const { EventBusName, Name: Rule } = rule;
    await eventBridge.send(new PutTargetsCommand({ EventBusName, Rule, Targets: [{ Id: '1', Arn: arn }] }));
    const way = wayToEventBus('orders', eventBridge);
    await way(eventOf('succeeded'));
    await way(EVENT);
    expect(JSON.parse(await next(sqs, url))).toMatchObject({
      source: EVENT.source,
      'detail-type': 'groupage.task.failed',
      detail: JSON.parse(EVENT.text),
    });
    return undefined;
  });
});

describe('an AWS destination', () => {
  it('that is a bus fails if it answers 200 without accepting the event', async () => {
    const service = await startAwsService(() => ({
      body: { FailedEntryCount: 1, Entries: [{ ErrorCode: 'InternalFailure', ErrorMessage: 'try later' }] },
    }));
    const way = wayToEventBus('orders', new EventBridgeClient(service.options));
    await expect(way(EVENT)).rejects.toThrow('try later (InternalFailure)');
    expect(JSON.parse(service.requests[0]?.body ?? '').Entries).toEqual([
      {
        EventBusName: 'orders',
        Source: EVENT.source,
        DetailType: EVENT.type,
        Detail: EVENT.text,
        Time: Date.parse(EVENT.time) / 1_000,
      },
    ]);
    await service.stop();
  });

  it('of each kind refuses an event for its size', async () => {
    const tooLong = (operation: string): AwsReply => {
      if (operation.endsWith('GetQueueUrl')) return { body: { QueueUrl: `${service.options.endpoint}/0/ops` } };
      if (operation.endsWith('SendMessageBatch'))
        return awsError(400, 'BatchRequestTooLong', 'Batch requests cannot be longer');
      if (operation.endsWith('PutEvents'))
        return awsError(400, 'ValidationException', 'Total size of the entries in the request is over the limit.');
      const error = '<Code>InvalidParameter</Code><Message>Invalid parameter: Message too long</Message>';
      return { status: 400, body: `<ErrorResponse><Error><Type>Sender</Type>${error}</Error></ErrorResponse>` };
    };
    const service = await startAwsService(({ operation }) => tooLong(operation));
    const options = { ...service.options, maxAttempts: 1 };
    const topic = 'arn:aws:sns:us-east-1:000000000000:news';
    for (const way of [
      wayToQueue('ops', new SQSClient(options)),
      wayToTopic(topic, new SNSClient(options)),
      wayToEventBus('orders', new EventBridgeClient(options)),
    ])
      await expect(way(EVENT)).rejects.toMatchObject({ name: 'TooLarge' });
    await service.stop();
  });

  it('that is a bus reports the reason of a refusal', async () => {
    const service = await startAwsService(() => awsError(400, 'AccessDeniedException', 'not authorized to perform'));
    const way = wayToEventBus('orders', new EventBridgeClient({ ...service.options, maxAttempts: 1 }));
    await expect(way(EVENT)).rejects.toThrow('not authorized to perform');
    await service.stop();
  });
});
