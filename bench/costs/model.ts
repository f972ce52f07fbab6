/** Costs per month in US dollars at list prices, for Groupage and for alternatives. */
import { PRICES, sqsRequestsFor } from '../../tools/simulate/prices.ts';
import { idlePerMonth } from './idle.ts';

/** The tasks of one month, and their downstream. */
export interface Load {
  readonly name: string;
  /** The number of tasks per month. */
  readonly tasks: number;
  /**
   * The number of tasks that arrive for one Target within the time that they may wait. This is the size of a batch, 1
   * to 100.
   */
  readonly perBatch: number;
  /** The price of a downstream call, in dollars. */
  readonly perCall: number;
  /** The duration of a call, whatever its number of items, in seconds. */
  readonly callSeconds: number;
}

/** @returns the cost in dollars per month */
type Cost = (load: Load) => number;

const MILLION = 1_000_000;
const HOURS = 730;
/** The memory of every function, in GB. It is the same as in Groupage. */
const MEMORY = 0.5;
/** The assumed duration of an invocation that makes no call, in seconds. */
const SHORT = 0.1;

/**
 * Measured by `bench:burst -- --wait 30s` (full batches of 100 over 20 Targets) and by `bench:burst -- --tasks 1000
 * --targets 1000` (each task alone in its Target). Tasks of a batch share the units of the batch.
 */
const MEASURED = { write: { one: 16, hundred: 5.19 }, read: { one: 13.5, hundred: 1.72 } } as const;

/** Capacity units per task, in batches of `size`. */
export const unitsPerTask = (size: number): { readonly write: number; readonly read: number } => {
  const { write, read } = MEASURED;
  return { write: between(write, size), read: between(read, size) };
};

/** The value at `size` on the line in 1/size through both measurements. */
const between = ({ one, hundred }: { readonly one: number; readonly hundred: number }, size: number): number => {
  const perBatch = (one - hundred) / (1 - 1 / 100);
  return one - perBatch + perBatch / size;
};

/** The size of a register message with the payload of the measurements, in bytes. */
export const MESSAGE_BYTES = 600;
/** The number of requests that SQS bills for sending, receiving and deleting messages of `bytes`, `count` at once. */
const requestsFor = (bytes: number, count: number): number =>
  2 * sqsRequestsFor(Array.from({ length: count }, () => bytes)) + 1;
/**
 * The number of SQS requests per register message. Producers send ten messages per request, and functions receive and
 * delete ten messages at once.
 */
const requestsPerMessage = (bytes: number): number => requestsFor(bytes, 10) / 10;
/**
 * The number of messages per batch: one elect, one group and one batch message. Each is sent, received and deleted. They
 * have no payload.
 */
const MESSAGES_PER_BATCH = 3;

const seconds = (each: number): number => each * MEMORY * PRICES.lambda.perGigabyteSecond;
const invocations = (count: number, each: number): number =>
  count * (PRICES.lambda.perMillionInvocations / MILLION + seconds(each));
const requests = (count: number): number => (count * PRICES.sqs.perMillionRequests) / MILLION;
const calls = ({ tasks, perBatch }: Load): number => tasks / perBatch;

/**
 * The cost of Groupage itself for a million tasks in batches of `size`, without the time that functions wait for the
 * downstream.
 *
 * @param bytes the size of register messages that SQS carries. The capacity units are those of MESSAGE_BYTES.
 */
export const perMillionTasks = (size: number, bytes: number = MESSAGE_BYTES): number => {
  const { write, read } = unitsPerTask(size);
  const units = write * PRICES.dynamodb.perMillionWriteUnits + read * PRICES.dynamodb.perMillionReadUnits;
  const messages = MILLION * (requestsPerMessage(bytes) + (requestsFor(0, 1) * MESSAGES_PER_BATCH) / size);
  return units + requests(messages) + invocations(MILLION * (0.1 + MESSAGES_PER_BATCH / size), SHORT);
};

const groupage: Cost = (load) =>
  idlePerMonth() +
  (load.tasks / MILLION) * perMillionTasks(load.perBatch) +
  calls(load) * (seconds(load.callSeconds) + load.perCall);

/** A function invocation for each message, which makes one call. */
const oneCallEach: Cost = ({ tasks, callSeconds, perCall }) =>
  requests(tasks * requestsFor(MESSAGE_BYTES, 1)) + invocations(tasks, callSeconds) + tasks * perCall;

/**
 * The event source's batch window gathers messages of all Targets. This alternative works if tasks of all Targets may
 * share a call.
 */
const batchWindow: Cost = (load) =>
  requests(load.tasks * requestsPerMessage(MESSAGE_BYTES)) +
  invocations(calls(load), load.callSeconds) +
  calls(load) * load.perCall;

/** A Standard execution per task. Its only state makes the call. */
const standardEach: Cost = ({ tasks, perCall }) =>
  (tasks * 2 * PRICES.stepFunctions.perMillionTransitions) / MILLION + tasks * perCall;

/** An Express execution per task. It is billed per 64 MB, and also while it waits for the call. */
const expressEach: Cost = ({ tasks, callSeconds, perCall }) => tasks * (express(callSeconds) + perCall);
const express = (each: number): number =>
  PRICES.stepFunctions.perMillionExpressRequests / MILLION +
  (each * PRICES.stepFunctions.perExpressGigabyteSecond) / 16;

/**
 * A Distributed Map over an existing list. An Express child makes the call of each batch, and each child counts as a
 * transition of the parent.
 */
const distributedMap: Cost = (load) =>
  calls(load) * (PRICES.stepFunctions.perMillionTransitions / MILLION + express(load.callSeconds) + load.perCall);

/** The cost of two small containers (0.25 vCPU, 0.5 GB), so that one may fail. */
const WORKERS = 2 * HOURS * (0.25 * PRICES.fargate.perVcpuHour + 0.5 * PRICES.fargate.perGigabyteHour);
/** Redis, with a primary and a replica. */
const redis: Cost = (load) => WORKERS + 2 * HOURS * PRICES.elasticache.cacheT4gMicroHour + calls(load) * load.perCall;
/** PostgreSQL in two zones, with 20 GB in each. */
const postgres: Cost = (load) =>
  WORKERS + 2 * (HOURS * PRICES.rds.dbT4gMicroHour + 20 * PRICES.rds.perGigabyteMonth) + calls(load) * load.perCall;

export const WAYS: Readonly<Record<string, Cost>> = {
  '**Groupage**': groupage,
  'SQS → Lambda, a call a task': oneCallEach,
  'SQS → Lambda with a batch window': batchWindow,
  'Step Functions Standard, an execution a task': standardEach,
  'Step Functions Express, an execution a task': expressEach,
  'Distributed Map, Express, a child a batch': distributedMap,
  'BullMQ: Valkey and two containers': redis,
  'graphile-worker: PostgreSQL and two containers': postgres,
};

export const LOADS: readonly Load[] = [
  { name: 'little', tasks: 100_000, perBatch: 2, perCall: 0, callSeconds: 0.2 },
  { name: 'slow calls', tasks: MILLION, perBatch: 50, perCall: 0, callSeconds: 3 },
  { name: 'paid calls', tasks: 10 * MILLION, perBatch: 100, perCall: 0.0001, callSeconds: 0.5 },
  { name: 'much', tasks: 100 * MILLION, perBatch: 100, perCall: 0, callSeconds: 0.2 },
];
