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

/** Lambda's event source has five pollers to begin with; that is plenty for one machine. */
const POLLERS = 5;

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

/** Polls every queue that the template gives a function, with its batch size, until stopped. */
export const poll = (
  assembly: CloudAssembly,
  functions: ReadonlyMap<string, LocalFunction>,
  sqs: SQSClient,
  onError: (error: Error) => void,
): Polling => {
  const pollers = assembly.all('AWS::Lambda::EventSourceMapping').flatMap(({ properties }) => {
    const fn = functions.get(String(properties.FunctionName));
    const queue = assembly.all('AWS::SQS::Queue').find(({ name }) => name === nameInArn(properties.EventSourceArn));
    if (!fn || !queue)
      throw new UnknownInTemplate(`an event source from ${properties.EventSourceArn} to ${properties.FunctionName}`);
    const { MaximumConcurrency = POLLERS } = (properties.ScalingConfig ?? {}) as { MaximumConcurrency?: number };
    const arn = String(properties.EventSourceArn);
    const source = { queueUrl: assembly.urlOf(queue), arn, batchSize: Number(properties.BatchSize ?? 10), sqs };
    return Array.from({ length: Math.min(POLLERS, MaximumConcurrency) }, () => startPoller(fn, source, onError));
  });
  return {
    stop: async () => {
      await Promise.all(pollers.map((poller) => poller.stop()));
    },
  };
};

interface Source {
  readonly arn: string;
  readonly queueUrl: string;
  readonly batchSize: number;
  readonly sqs: SQSClient;
}

const startPoller = (fn: LocalFunction, { arn, ...source }: Source, onError: (error: Error) => void): Polling => {
  let work: Promise<unknown> | undefined;
  const consumer = Consumer.create({
    ...source,
    waitTimeSeconds: 20,
    messageSystemAttributeNames: ['All'],
    messageAttributeNames: ['All'],
    suppressFifoWarning: true,
    // As Lambda does: those that failed become visible again when their time is up, the others are deleted.
    handleMessageBatch: async (messages) => {
      const processed = new Promise((resolve) => {
        consumer.once('response_processed', resolve);
      });
      work = processed;
      const { batchItemFailures } = (await fn.invoke(eventOf(arn, messages))) as SQSBatchResponse;
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      return messages.filter(({ MessageId = '' }) => !failed.has(MessageId));
    },
  });
  consumer.on('response_processed', () => {
    work = undefined;
  });
  // A poll that was broken off is no error.
  consumer.on('error', (error) => consumer.status.isRunning && onError(error));
  consumer.start();
  return {
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
