/**
 * Creates the dependencies of a Lambda function from its environment variables, once, at its first invocation. This
 * file contains no rules of the domain.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { Logger } from '@aws-lambda-powertools/logger';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { inInvocation } from '../src/aws/call-time.ts';
import { type AwsClients, awsClients } from '../src/aws/clients.ts';
import { dynamoDBBatches } from '../src/aws/dynamodb-batches.ts';
import { dynamoDBBuckets } from '../src/aws/dynamodb-buckets.ts';
import { dynamoDBFanOuts } from '../src/aws/dynamodb-fan-outs.ts';
import { dynamoDBLocks } from '../src/aws/dynamodb-locks.ts';
import { dynamoDBOperations } from '../src/aws/dynamodb-operations.ts';
import { dynamoDBProcessed } from '../src/aws/dynamodb-processed.ts';
import { dynamoDBStage } from '../src/aws/dynamodb-stage.ts';
import { dynamoDBTasks } from '../src/aws/dynamodb-tasks.ts';
import { dynamoDBPatrolMarks, dynamoDBWaiting } from '../src/aws/dynamodb-waiting.ts';
import { REVIVALS, revivalsOf, sqsBacklogs, sqsDeadLetters, sqsQueues } from '../src/aws/sqs-queues.ts';
import { hasDestinations } from '../src/domain/callbacks/callback.ts';
import { type Config, keepTasksIn } from '../src/domain/config/resolved.ts';
import {
  CONFIG_ASSET,
  type Environment,
  optionalSetting,
  type Setting,
  setting,
} from '../src/domain/deployed/environment.ts';
import { type Producers, withIds } from '../src/domain/producers/rules.ts';
import type { Delivery, Report } from '../src/ports/machine.ts';
import { type Host, invocationOf, machine } from './host.ts';
import { type Log, reportTo } from './log.ts';
import { embeddedMetrics, measureTo } from './metrics.ts';

/** The address of an emulator, if the environment names one. It takes precedence over the address in a queue's URL. */
const inEnvironment = ({ AWS_ENDPOINT_URL_SQS: sqs }: Environment): AwsClients => awsClients(sqs ? { sqs } : {});

const lambda = (environment: Environment): Host => ({
  clients: inEnvironment(environment),
  log: new Logger({ serviceName: 'groupage' }),
  onEvent: measureTo(embeddedMetrics(setting(environment, 'stack'))),
});

/**
 * A handler that is created from `process.env` at its first invocation. Each of its requests ends before its invocation
 * ends (Y1).
 */
export const atFirstInvocation = <Event, Answer>(
  compose: (environment: Environment, host: Host) => (event: Event, context: Context) => Promise<Answer>,
) => {
  let handler: ((event: Event, context: Context) => Promise<Answer>) | undefined;
  return (event: Event, context: Context): Promise<Answer> => {
    handler ??= compose(process.env, lambda(process.env));
    const composed = handler;
    return inInvocation(invocationOf(context), () => composed(event, context));
  };
};

/**
 * The ports on AWS. Each is created on first use from the settings that it needs, so that a function only needs the
 * settings of the ports that its step uses.
 */
export const partsOf = (environment: Environment, { clients, log, onEvent, sleep = machine.sleep }: Host) => {
  const { dynamodb, sqs } = clients;
  const config = JSON.parse(readFileSync(join(environment.LAMBDA_TASK_ROOT ?? '', CONFIG_ASSET), 'utf8')) as Config;
  const table = (name: Extract<Setting, `${string}Table`>) => setting(environment, name);
  const url = (name: Setting) => optionalSetting(environment, name);
  const urls = Object.fromEntries(
    (['register', 'elect', 'group', 'batch', 'callback', 'rejected', 'given-up'] as const).flatMap((queue) => {
      const value = url(queue === 'given-up' ? 'givenUpQueue' : `${queue}Queue`);
      return value ? [[queue, value]] : [];
    }),
  );
  const logged = reportTo(log);
  const report: Report = onEvent ? (event) => [logged(event), onEvent(event)] : logged;
  return {
    base: { config, machine: { ...machine, sleep }, report },
    producers: producersIn(environment, config),
    stage: () => dynamoDBStage(dynamodb, table('batchLockTable')),
    processed: () => dynamoDBProcessed(dynamodb, table('batchLockTable')),
    tasks: () => dynamoDBTasks(dynamodb, table('taskTable')),
    waiting: () => dynamoDBWaiting(dynamodb, table('batchLockTable')),
    patrolMarks: () => dynamoDBPatrolMarks(dynamodb, table('batchLockTable')),
    locks: () => dynamoDBLocks(dynamodb, table('batchLockTable'), keepTasksIn(config)),
    batches: () => dynamoDBBatches(dynamodb, table('batchTable')),
    operations: () => dynamoDBOperations(dynamodb, table('batchLockTable')),
    buckets: () => dynamoDBBuckets(dynamodb, table('batchLockTable'), clients.clock),
    fanOuts: () => dynamoDBFanOuts(dynamodb, table('fanOutTable')),
    queues: () => sqsQueues(sqs, urls),
    backlogs: () => sqsBacklogs(sqs, urls),
    deadLetters: () =>
      sqsDeadLetters(
        sqs,
        urls,
        {
          register: setting(environment, 'registerDeadLetters'),
          elect: setting(environment, 'electDeadLetters'),
          group: setting(environment, 'groupDeadLetters'),
          batch: setting(environment, 'batchDeadLetters'),
          ...(hasDestinations(config) ? { callback: setting(environment, 'callbackDeadLetters') } : {}),
        },
        ownRolesIn(environment),
      ),
  };
};

/** The unique ids of the roles that send register messages for others. */
export const ownRolesIn = (environment: Environment): readonly string[] =>
  (optionalSetting(environment, 'ownRoles') ?? '').split(',').filter((id) => id !== '');

/** The ids behind the names of producers: of the configuration, and of the constructs. */
const producersIn = (environment: Environment, { producers = {} }: Config): Producers =>
  withIds(producers, JSON.parse(optionalSetting(environment, 'producers') ?? '{}') as Producers);

/**
 * What the step must know about this delivery. A message that the sweep sent again is a new message to SQS, so its
 * earlier deliveries are added.
 */
const deliveryOf = (context: Context, { messageId, attributes, messageAttributes }: SQSRecord): Delivery => ({
  messageId,
  ...invocationOf(context),
  deliveries: Number(attributes.ApproximateReceiveCount) + revivalsOf(messageAttributes[REVIVALS]?.stringValue),
});

/** Handles each message of an SQS event separately. SQS delivers the failed messages again and deletes the others. */
export const eachRecord =
  (log: Log, handle: (body: string, delivery: Delivery) => Promise<void>) =>
  (event: SQSEvent, context: Context): Promise<SQSBatchResponse> =>
    processPartialResponse(
      event,
      logged(log, (record) => handle(record.body, deliveryOf(context, record))),
      // Each event needs its own processor, because a processor stores the failures of one event and events overlap in
      // a local start.
      new BatchProcessor(EventType.SQS),
      { context, throwOnFullBatchFailure: false },
    );

/** Reports a failed message. The report contains the queue, because a message id can only be looked up in its queue. */
export const reportFailed = (
  log: Log,
  { eventSourceARN, messageId }: Pick<SQSRecord, 'eventSourceARN' | 'messageId'>,
  cause: unknown,
): void =>
  log.error('message failed; it comes back', {
    queue: eventSourceARN.split(':').at(-1),
    messageId,
    cause: String(cause),
  });

const logged =
  (log: Log, handle: (record: SQSRecord) => Promise<void>) =>
  async (record: SQSRecord): Promise<void> => {
    try {
      await handle(record);
    } catch (cause) {
      reportFailed(log, record, cause);
      throw cause;
    }
  };
