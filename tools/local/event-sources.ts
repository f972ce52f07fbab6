/** Replaces Lambda's event sources: polls the queues of the functions, with the settings of the template. */
import type { Message, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { LOCAL_REGION } from './clients.ts';
import type { LocalFunction } from './functions.ts';
import { Gathering } from './gathering.ts';
import { AT_ONCE, type Handle, type Polling, type Source, startPollers } from './pollers.ts';
import { type CloudAssembly, nameInArn, UnknownInTemplate } from './template.ts';

/**
 * Lambda's event source starts with five pollers, and adds more while they are busy. An invocation with few messages
 * spends most of its time waiting for a downstream, so many of these invocations may run at once. Many invocations with
 * large batches would overload the local engines.
 */
const POLLERS = { first: 5, most: (batchSize: number): number => (batchSize < AT_ONCE ? 50 : 12) } as const;

/** Polls the queue of each event source of the template, with its batch size and window, until stopped. */
export const poll = (
  assembly: CloudAssembly,
  functions: ReadonlyMap<string, LocalFunction>,
  sqs: SQSClient,
  onError: (error: Error) => void,
): Polling => {
  const sources = assembly.all('AWS::Lambda::EventSourceMapping').map(({ properties }) => {
    const fn = functions.get(String(properties.FunctionName));
    const queue = assembly.all('AWS::SQS::Queue').find(({ name }) => name === nameInArn(properties.EventSourceArn));
    if (!fn || !queue)
      throw new UnknownInTemplate(`an event source from ${properties.EventSourceArn} to ${properties.FunctionName}`);
    const batchSize = Number(properties.BatchSize ?? AT_ONCE);
    const most = POLLERS.most(batchSize);
    const { MaximumConcurrency = most } = (properties.ScalingConfig ?? {}) as { MaximumConcurrency?: number };
    return startSource(fn, {
      queueUrl: assembly.urlOf(queue),
      arn: String(properties.EventSourceArn),
      batchSize,
      window: Number(properties.MaximumBatchingWindowInSeconds ?? 0) * 1_000,
      concurrency: Math.min(most, MaximumConcurrency),
      sleepers: fn.sleepers,
      sqs,
      onError,
    });
  });
  return {
    stop: async () => {
      await Promise.all(sources.map((source) => source.stop()));
    },
  };
};

interface EventSource extends Source {
  readonly arn: string;
  /** Batching window, in ms. */
  readonly window: number;
}

const startSource = (fn: LocalFunction, source: EventSource): Polling => {
  const { arn, batchSize, window: wait, concurrency } = source;
  const first = Math.min(POLLERS.first, concurrency);
  const invoke: Handle = async (messages) => {
    const { batchItemFailures } = (await fn.invoke(eventOf(arn, messages))) as SQSBatchResponse;
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    return new Set(messages.filter(({ MessageId = '' }) => !failed.has(MessageId)));
  };
  if (wait === 0) return startPollers(source, first, invoke);
  const gathering = new Gathering({ size: batchSize, wait, bytesOf }, invoke);
  const handle: Handle = async (messages) => {
    const done = await Promise.all(messages.map((message) => gathering.add(message)));
    return new Set(messages.filter((_, index) => done[index]));
  };
  // A poller waits for the invocation of its messages, so filling one invocation takes this many pollers.
  const perInvocation = Math.ceil(batchSize / AT_ONCE);
  const pollers = startPollers({ ...source, concurrency: concurrency * perInvocation }, first * perInvocation, handle);
  return {
    stop: () => {
      const stopped = pollers.stop();
      gathering.close();
      return stopped;
    },
  };
};

/** Bytes of a record without its body: names, times, a receipt handle. */
const RECORD_BYTES = 1_024;
const bytesOf = ({ Body = '' }: Message): number => Buffer.byteLength(JSON.stringify(Body)) + RECORD_BYTES;

const eventOf = (eventSourceARN: string, messages: readonly Message[]): SQSEvent =>
  ({
    Records: messages.map(
      ({ MessageId = '', ReceiptHandle = '', Body = '', Attributes = {}, MessageAttributes = {} }) => ({
        messageId: MessageId,
        receiptHandle: ReceiptHandle,
        body: Body,
        attributes: Attributes,
        messageAttributes: Object.fromEntries(
          Object.entries(MessageAttributes).map(([name, { DataType, StringValue }]) => [
            name,
            { dataType: DataType, stringValue: StringValue },
          ]),
        ),
        eventSource: 'aws:sqs',
        eventSourceARN,
        awsRegion: LOCAL_REGION,
      }),
    ),
  }) as unknown as SQSEvent;
