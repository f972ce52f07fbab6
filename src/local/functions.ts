/** The template's functions in this process: each with the environment that the template gives it, polled as it says. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Message, SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import type { Hono } from 'hono';
import { Consumer } from 'sqs-consumer';
import type { Host } from '../../lambdas/compose.ts';
import type { Environment } from '../environment.ts';
import { LOCAL_REGION } from './clients.ts';
import { Gathering } from './gathering.ts';
import { type CloudAssembly, type Found, nameInArn, UnknownInTemplate } from './template.ts';

type Handler = (event: unknown, context: Context) => Promise<unknown>;

/** What a bundle of `lambdas/` exports beside its handler. */
interface HandlerModule {
  readonly compose: (environment: Environment, host: Host) => Handler;
  readonly composeApp?: (environment: Environment, host: Host) => Hono;
}

export interface LocalFunction {
  readonly name: string;
  readonly environment: Environment;
  invoke(event: unknown): Promise<unknown>;
  readonly app?: Hono;
}

/**
 * Lambda's event source has five pollers to begin with, and more when they are busy. Where an invocation takes few messages,
 * since it waits for a downstream, many may wait; of those that work more than a few would only keep this machine's engines
 * from answering in time.
 */
const POLLERS = { first: 5, most: (batchSize: number): number => (batchSize < AT_ONCE ? 50 : 12) } as const;
/** What one receive gets at the most. */
const AT_ONCE = 10;

/** Loads every function of the assembly. @param hostOf by a function's name. @param onInvoke is told of each invocation. */
export const loadFunctions = async (
  assembly: CloudAssembly,
  hostOf: (name: string) => Host,
  onInvoke: (name: string) => void,
): Promise<Map<string, LocalFunction>> => {
  const functions = await Promise.all(
    assembly.all('AWS::Lambda::Function').map((fn) => loadFunction(assembly, fn, hostOf(fn.name), onInvoke)),
  );
  return new Map(functions.map((fn) => [fn.name, fn]));
};

const loadFunction = async (
  assembly: CloudAssembly,
  fn: Found,
  host: Host,
  onInvoke: (name: string) => void,
): Promise<LocalFunction> => {
  const folder = assembly.codeOf(fn);
  const { Variables = {} } = (fn.properties.Environment ?? {}) as { Variables?: Record<string, string> };
  const environment = { ...Variables, LAMBDA_TASK_ROOT: folder, AWS_REGION: LOCAL_REGION };
  const module = (await import(pathToFileURL(join(folder, 'index.mjs')).href)) as HandlerModule;
  const handler = module.compose(environment, host);
  const timeout = Number(fn.properties.Timeout ?? 3) * 1_000;
  return {
    name: fn.name,
    environment,
    invoke: (event) => {
      onInvoke(fn.name);
      return handler(event, contextOf(fn.name, timeout));
    },
    ...(module.composeApp ? { app: module.composeApp(environment, host) } : {}),
  };
};

const contextOf = (functionName: string, timeout: number): Context => {
  const deadline = Date.now() + timeout;
  return {
    functionName,
    awsRequestId: crypto.randomUUID(),
    getRemainingTimeInMillis: () => deadline - Date.now(),
  } as Context;
};

export interface Polling {
  /** Takes no more messages, and resolves when those in hand are done. */
  stop(): Promise<void>;
}

/** Polls every queue that the template gives a function, with its batch size and its window, until stopped. */
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

interface Source {
  readonly arn: string;
  readonly queueUrl: string;
  /** Messages of an invocation at the most. */
  readonly batchSize: number;
  /** How long they are gathered, in ms. */
  readonly window: number;
  /** Invocations at once. */
  readonly concurrency: number;
  readonly sqs: SQSClient;
  readonly onError: (error: Error) => void;
}

/** Which of some messages are done: those that failed become visible again when their time is up, the others are deleted. */
type Handle = (messages: readonly Message[]) => Promise<ReadonlySet<Message>>;

const startSource = (fn: LocalFunction, source: Source): Polling => {
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
  // A poller waits for the invocation that its messages are part of: so many fill one while the others are under way.
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

/** An invocation's record has more than its body: names, times, a receipt. */
const RECORD_BYTES = 1_024;
const bytesOf = ({ Body = '' }: Message): number => Buffer.byteLength(JSON.stringify(Body)) + RECORD_BYTES;

/**
 * Some to begin with, and one more whenever all have messages in hand: leaders sleep through rests of less than a second,
 * and nobody should wait for them. Those above `count` go when they get nothing.
 */
const startPollers = (source: Source, count: number, handle: Handle): Polling => {
  const { concurrency } = source;
  const pollers = new Set<Poller>();
  const begin = (): void => {
    const poller = startPoller(source, handle, {
      onBusy: () => {
        if (pollers.size < concurrency && [...pollers].every(({ isBusy }) => isBusy())) begin();
      },
      onIdle: () => {
        if (pollers.size > count && pollers.delete(poller)) poller.stop();
      },
    });
    pollers.add(poller);
  };
  for (let n = 0; n < count; n += 1) begin();
  return {
    stop: async () => {
      await Promise.all([...pollers].map((poller) => poller.stop()));
    },
  };
};

interface Poller extends Polling {
  /** Whether it has messages in hand. */
  isBusy(): boolean;
}

interface Told {
  onBusy(): void;
  onIdle(): void;
}

const startPoller = ({ queueUrl, batchSize, sqs, onError }: Source, handle: Handle, told: Told): Poller => {
  let work: Promise<unknown> | undefined;
  const consumer = Consumer.create({
    queueUrl,
    sqs,
    batchSize: Math.min(AT_ONCE, batchSize),
    waitTimeSeconds: 20,
    messageSystemAttributeNames: ['All'],
    messageAttributeNames: ['All'],
    suppressFifoWarning: true,
    handleMessageBatch: async (messages) => {
      const processed = new Promise((resolve) => {
        consumer.once('response_processed', resolve);
      });
      work = processed;
      if (consumer.status.isRunning) told.onBusy();
      return [...(await handle(messages))];
    },
  });
  consumer.on('response_processed', () => {
    work = undefined;
  });
  consumer.on('empty', told.onIdle);
  // A poll that was broken off is no error.
  consumer.on('error', (error) => consumer.status.isRunning && onError(error));
  consumer.start();
  return {
    isBusy: () => work !== undefined,
    stop: async () => {
      // A long poll can be broken off; messages in hand are finished and deleted first.
      consumer.stop({ abort: work === undefined });
      await work;
    },
  };
};

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

/** Invokes every function that the template gives a schedule, until stopped. */
export const schedule = (
  assembly: CloudAssembly,
  functions: ReadonlyMap<string, LocalFunction>,
  onError: (error: Error) => void,
): Polling => {
  const rules = assembly.all('AWS::Events::Rule');
  // Nobody here tells of executions: a state machine of an emulator has to report itself.
  const schedules = rules.filter(({ properties }) => properties.EventPattern === undefined);
  const timers = schedules.map(({ properties }) => {
    const [, minutes] = /^rate\((\d+) minutes?\)$/.exec(String(properties.ScheduleExpression)) ?? [];
    const [target] = (properties.Targets ?? []) as { Arn: string }[];
    const fn = functions.get(nameInArn(target?.Arn));
    if (!minutes || !fn) throw new UnknownInTemplate(`the schedule ${properties.ScheduleExpression}`);
    return setInterval(() => fn.invoke({ source: 'aws.events' }).catch(onError), Number(minutes) * 60_000);
  });
  return { stop: async () => timers.forEach(clearInterval) };
};
