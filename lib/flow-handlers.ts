/**
 * The Lambda functions of a flow. For each function, this defines the queue that it reads, the queues to which it
 * sends, and its rights.
 */
import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';
import { CALLBACKS_AT_ONCE } from '../src/domain/callbacks/share.ts';
import { type Config, callbackTimeout, handlerTimeout } from '../src/domain/config/resolved.ts';
import { INDEXES, indexesOf } from '../src/domain/deployed/environment.ts';
import { isLimited } from '../src/domain/limits/limits.ts';
import { INVOCATIONS_AT_ONCE, LEADER_TIMEOUT, MESSAGES_AT_ONCE } from '../src/domain/timings.ts';
import { distinct, downstreamRights, type Right } from './endpoints.ts';
import { ExecutionReports } from './execution-reports.ts';
import type { Handler } from './handler.ts';
import type { HandlerName } from './handler-code.ts';
import type { GivenUpQueue, RejectedQueue, WorkingQueue } from './queues.ts';
import type { Tables } from './tables.ts';

/** The table actions of a function that acks fan-out items when their tasks end. */
const ACKS = ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'] as const;

/** The parts from which the functions are made. */
export interface FlowParts {
  readonly scope: Construct;
  readonly config: Config;
  readonly tables: Tables;
  readonly registerQueue: WorkingQueue;
  readonly electQueue: WorkingQueue;
  readonly groupQueue: WorkingQueue;
  readonly batchQueue: WorkingQueue;
  readonly rejectedQueue: RejectedQueue;
  readonly callbackQueue: WorkingQueue | undefined;
  readonly givenUpQueue: GivenUpQueue | undefined;
  /** The rights to send to the callback destinations. */
  readonly callbackRights: readonly Right[];
  /** Prefix of the names of this instance's executions. May be empty. */
  readonly executionTag: string;
  /** @param timeout in milliseconds. */
  handler(id: string, name: HandlerName, timeout: number, description: string): Handler;
}

export const registerHandler = (of: FlowParts): void => {
  const { maxMessages, maxWait } = of.config.register;
  of.handler('RegisterHandler', 'register', LEADER_TIMEOUT, 'Turns register messages into waiting tasks')
    .source({
      queue: of.registerQueue.queue,
      batchSize: maxMessages,
      maxConcurrency: INVOCATIONS_AT_ONCE.register,
      ...(maxWait > 0 ? { window: Duration.millis(maxWait) } : {}),
    })
    .table('taskTable', of.tables.task, ['PartiQLInsert', 'PartiQLUpdate', 'BatchGetItem', 'GetItem', 'UpdateItem'])
    .table('batchLockTable', of.tables.batchLock, [
      'BatchWriteItem',
      'BatchGetItem',
      'PartiQLInsert',
      'Query',
      'UpdateItem',
    ])
    // To find out once whether the stage is new: whether any Target has a lock row.
    .scans(of.tables.batchLock, INDEXES.batchLockTable)
    .table('batchTable', of.tables.batch, ['GetItem'])
    .table('fanOutTable', of.tables.fanOut, ACKS)
    .table('listTable', of.tables.list, ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'])
    .sends({
      registerQueue: of.registerQueue.queue,
      electQueue: of.electQueue.queue,
      groupQueue: of.groupQueue.queue,
      rejectedQueue: of.rejectedQueue.queue,
      ...callbacksOf(of),
    });
};

/** Whether calls count under limits, so that functions write buckets and read the locks of waiting Targets. */
const hasLimits = ({ config }: FlowParts): boolean => Object.values(config.operations).some(isLimited);

export const electHandler = (of: FlowParts): void => {
  const handler = of
    .handler('ElectHandler', 'elect-leader', LEADER_TIMEOUT, 'Finds a leader for each Target with waiting tasks')
    .source({
      queue: of.electQueue.queue,
      batchSize: MESSAGES_AT_ONCE.elect,
      maxConcurrency: INVOCATIONS_AT_ONCE.elect,
    })
    .table('batchLockTable', of.tables.batchLock, ['GetItem', 'Query', 'UpdateItem', 'DeleteItem'])
    // A freed slot may wake a sealed batch that waits for one.
    .sends({ electQueue: of.electQueue.queue, groupQueue: of.groupQueue.queue, batchQueue: of.batchQueue.queue });
  if (hasLimits(of))
    handler
      .table('batchLockTable', of.tables.batchLock, ['BatchGetItem', 'PutItem'])
      .table('batchTable', of.tables.batch, ['GetItem']);
};

export const groupHandler = (of: FlowParts): void => {
  const handler = of
    .handler('GroupHandler', 'group', LEADER_TIMEOUT, 'Leaders claim waiting tasks and seal batches')
    .source({
      queue: of.groupQueue.queue,
      batchSize: MESSAGES_AT_ONCE.group,
      maxConcurrency: INVOCATIONS_AT_ONCE.group,
    })
    .table('taskTable', of.tables.task, ['PartiQLUpdate', 'BatchGetItem'])
    .table('batchLockTable', of.tables.batchLock, [
      'BatchWriteItem',
      'GetItem',
      'Query',
      'UpdateItem',
      'PutItem',
      'DeleteItem',
    ])
    .table('batchTable', of.tables.batch, ['GetItem', 'PutItem', 'UpdateItem'], [INDEXES.batchTable])
    .table('fanOutTable', of.tables.fanOut, ACKS)
    .sends({
      electQueue: of.electQueue.queue,
      groupQueue: of.groupQueue.queue,
      batchQueue: of.batchQueue.queue,
      ...callbacksOf(of),
    });
  // A leader that cannot use its moment grants it to others.
  if (hasLimits(of)) handler.table('batchLockTable', of.tables.batchLock, ['BatchGetItem']);
};

export const batchHandler = (of: FlowParts): void => {
  const operations = Object.values(of.config.operations);
  const downstreams = operations.map(({ downstream }) => downstream);
  const machines = operations.flatMap(({ operation, downstream }) =>
    downstream.kind === 'step-functions' ? [[operation, downstream] as const] : [],
  );
  const handler = of
    .handler(
      'BatchHandler',
      'batch-handler',
      handlerTimeout(of.config),
      'Calls the downstream with sealed batches and writes results',
    )
    .source({
      queue: of.batchQueue.queue,
      batchSize: MESSAGES_AT_ONCE.batch,
      maxConcurrency: INVOCATIONS_AT_ONCE.batch,
    })
    .table('taskTable', of.tables.task, ['PartiQLUpdate', 'BatchGetItem'])
    .table('batchLockTable', of.tables.batchLock, ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'])
    .table('batchTable', of.tables.batch, ['GetItem', 'UpdateItem'])
    .table('fanOutTable', of.tables.fanOut, ACKS)
    .sends({
      electQueue: of.electQueue.queue,
      batchQueue: of.batchQueue.queue,
      rejectedQueue: of.rejectedQueue.queue,
      ...callbacksOf(of),
    })
    .may(distinct(downstreams.flatMap(downstreamRights)));
  // The keys of done inputs are stored in the table of the locks.
  if (operations.some(({ merge }) => merge))
    handler.table('batchLockTable', of.tables.batchLock, ['BatchGetItem', 'BatchWriteItem']);
  // A call that ends may grant its lease to a Target that waits.
  if (hasLimits(of))
    handler.table('batchLockTable', of.tables.batchLock, ['BatchGetItem']).sends({ groupQueue: of.groupQueue.queue });
  if (machines.length === 0) return;
  handler.startsByName();
  const { executionTag: tag } = of;
  if (tag !== '') handler.set('executions', tag);
  const { queue, encryptionKey } = of.batchQueue;
  new ExecutionReports(of.scope, 'ExecutionReports', { queue, machines, tag, encryptionKey });
};

/** The callback queue, for a function that sends callbacks. Empty without destinations. */
const callbacksOf = ({ callbackQueue }: FlowParts) => (callbackQueue ? { callbackQueue: callbackQueue.queue } : {});

/** The queue of given-up events. Empty without destinations. */
const givenUpOf = ({ givenUpQueue }: FlowParts) => (givenUpQueue ? { givenUpQueue: givenUpQueue.queue } : {});

export const callbackHandler = (of: FlowParts, { queue }: WorkingQueue): void => {
  const destinations = Object.values(of.config.destinations);
  const timeout = callbackTimeout(of.config);
  const handler = of
    .handler('CallbackHandler', 'callback', timeout, 'Sends events to their destinations')
    .source({ queue, batchSize: MESSAGES_AT_ONCE.callback, maxConcurrency: CALLBACKS_AT_ONCE })
    .sends({ rejectedQueue: of.rejectedQueue.queue, ...givenUpOf(of) })
    .putsOff({ callbackQueue: queue })
    .may(distinct(of.callbackRights));
  // The shares of HTTP destinations are stored in one row of the table of the locks.
  if (destinations.some(({ kind }) => kind === 'http'))
    handler.table('batchLockTable', of.tables.batchLock, ['GetItem', 'PutItem']);
  if (destinations.some(({ kind }) => kind === 'topic')) handler.publishesByName();
};

export const sweepHandler = (of: FlowParts): void => {
  const handler = of
    .handler('SweepHandler', 'sweep', 50_000, 'Sends dead letters again, frees slots, patrols lock rows')
    .table(
      'batchLockTable',
      of.tables.batchLock,
      ['GetItem', 'PutItem', 'Query', 'UpdateItem', 'DeleteItem'],
      [INDEXES.batchLockTable],
    )
    .table('batchTable', of.tables.batch, ['GetItem'])
    .table('fanOutTable', of.tables.fanOut, [...ACKS, 'BatchWriteItem'], [INDEXES.fanOutTable])
    .table('listTable', of.tables.list, ['Query', 'BatchWriteItem'])
    .sends({ ...allQueues(of), ...givenUpOf(of) })
    .takesFrom(deadLettersOf(of));
  // The next sweep starts a minute later, so a failed sweep is not retried, and a throttled one is dropped after a minute.
  // By default, Lambda would keep throttled sweeps for six hours, and run all of them when the throttling ends.
  handler.function.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
  new Rule(of.scope, 'SweepSchedule', {
    schedule: Schedule.rate(Duration.minutes(1)),
    targets: [new LambdaFunction(handler.function)],
  });
};

const allQueues = (of: FlowParts) => {
  const { registerQueue, electQueue, groupQueue, batchQueue, rejectedQueue } = of;
  return {
    registerQueue: registerQueue.queue,
    electQueue: electQueue.queue,
    groupQueue: groupQueue.queue,
    batchQueue: batchQueue.queue,
    rejectedQueue: rejectedQueue.queue,
    ...callbacksOf(of),
  };
};

const deadLettersOf = (of: FlowParts) => {
  const { registerQueue, electQueue, groupQueue, batchQueue, callbackQueue } = of;
  return {
    registerDeadLetters: registerQueue.deadLetters,
    electDeadLetters: electQueue.deadLetters,
    groupDeadLetters: groupQueue.deadLetters,
    batchDeadLetters: batchQueue.deadLetters,
    ...(callbackQueue ? { callbackDeadLetters: callbackQueue.deadLetters } : {}),
  };
};

export const apiHandler = (of: FlowParts): Handler => {
  const deadLetters = { ...deadLettersOf(of), rejectedQueue: of.rejectedQueue.queue, ...givenUpOf(of) };
  return of
    .handler('ApiHandler', 'api', LEADER_TIMEOUT, 'The HTTP API')
    .table('taskTable', of.tables.task, ['GetItem', 'BatchGetItem', 'PartiQLUpdate'], [INDEXES.taskTable])
    .scans(of.tables.task, INDEXES.taskTable)
    .table(
      'batchLockTable',
      of.tables.batchLock,
      ['GetItem', 'BatchGetItem', 'BatchWriteItem', 'Query', 'UpdateItem'],
      [INDEXES.batchLockTable],
    )
    .scans(of.tables.batchLock, INDEXES.batchLockTable)
    .table('batchTable', of.tables.batch, ['GetItem'], indexesOf('batchTable'))
    .table('fanOutTable', of.tables.fanOut, [...ACKS, 'PartiQLInsert', 'BatchWriteItem'], [INDEXES.fanOutTable])
    .table('listTable', of.tables.list, [
      'GetItem',
      'BatchGetItem',
      'PutItem',
      'UpdateItem',
      'DeleteItem',
      'PartiQLInsert',
      'BatchWriteItem',
      'Query',
    ])
    .table('fleetTable', of.tables.fleet.table, ['Query', 'UpdateItem'])
    .table('auditTable', of.tables.audit, ['PutItem', 'UpdateItem', 'Query'])
    .sends(allQueues(of))
    .browses(deadLetters)
    .counts({ ...deadLetters, ...allQueues(of) });
};
