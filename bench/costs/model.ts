/** What a month costs, in US dollars at list prices: Groupage and what else could do its work. */
import { PRICES } from '../../tools/simulate/prices.ts';

/** Work as it comes, and the downstream that it is for. */
export interface Load {
  readonly name: string;
  /** Tasks a month. */
  readonly tasks: number;
  /** Tasks that come to one Target within the time that they may wait: what a batch holds, 1 to 100. */
  readonly perBatch: number;
  /** What the downstream charges for a call, in dollars. */
  readonly perCall: number;
  /** How long a call takes, however many items it has, in seconds. */
  readonly callSeconds: number;
}

/** @returns dollars a month. */
type Cost = (load: Load) => number;

const MILLION = 1_000_000;
const HOURS = 730;
/** Memory of every function here, in GB; Groupage's have as much. */
const MEMORY = 0.5;
/** What an invocation takes that calls nobody, in seconds: assumed. */
const SHORT = 0.1;
/** An idle stack with its dashboard and alarms, a month: docs/how-to/deploy.md. */
const IDLE = 8.55;

/**
 * Measured by `bench:burst -- --wait 30s`, full batches of 100 over 20 Targets, and by `bench:burst -- --tasks 1000 --targets
 * 1000`, each task its Target's only one; what a batch needs is shared by its tasks.
 */
const MEASURED = { write: { one: 16, hundred: 5.19 }, read: { one: 13.5, hundred: 1.72 } } as const;

/** Capacity units a task, in batches of `size`. */
export const unitsPerTask = (size: number): { readonly write: number; readonly read: number } => {
  const { write, read } = MEASURED;
  return { write: between(write, size), read: between(read, size) };
};

/** The line in 1/size through both measurements. */
const between = ({ one, hundred }: { readonly one: number; readonly hundred: number }, size: number): number => {
  const perBatch = (one - hundred) / (1 - 1 / 100);
  return one - perBatch + perBatch / size;
};

/** Producers send ten messages a request; functions get ten at once, and delete ten at once. */
const REQUESTS = 0.3;
/** Elect, group and batch: a message each, which is sent, received and deleted. */
const MESSAGES_PER_BATCH = 3;

const seconds = (each: number): number => each * MEMORY * PRICES.lambda.perGigabyteSecond;
const invocations = (count: number, each: number): number =>
  count * (PRICES.lambda.perMillionInvocations / MILLION + seconds(each));
const requests = (count: number): number => (count * PRICES.sqs.perMillionRequests) / MILLION;
const calls = ({ tasks, perBatch }: Load): number => tasks / perBatch;

/** What Groupage itself costs for a million tasks in batches of `size`, without waiting for the downstream. */
export const perMillionTasks = (size: number): number => {
  const { write, read } = unitsPerTask(size);
  const units = write * PRICES.dynamodb.perMillionWriteUnits + read * PRICES.dynamodb.perMillionReadUnits;
  const messages = MILLION * (REQUESTS + (3 * MESSAGES_PER_BATCH) / size);
  return units + requests(messages) + invocations(MILLION * (0.1 + MESSAGES_PER_BATCH / size), SHORT);
};

const groupage: Cost = (load) =>
  IDLE +
  (load.tasks / MILLION) * perMillionTasks(load.perBatch) +
  calls(load) * (seconds(load.callSeconds) + load.perCall);

/** A function for each message, which calls. */
const oneCallEach: Cost = ({ tasks, callSeconds, perCall }) =>
  requests(tasks * 3) + invocations(tasks, callSeconds) + tasks * perCall;

/** The event source's batch window gathers, whatever the Target: right where all tasks may share a call. */
const batchWindow: Cost = (load) =>
  requests(load.tasks * REQUESTS) + invocations(calls(load), load.callSeconds) + calls(load) * load.perCall;

/** An execution a task, that enters one state which calls. */
const standardEach: Cost = ({ tasks, perCall }) =>
  (tasks * 2 * PRICES.stepFunctions.perMillionTransitions) / MILLION + tasks * perCall;

/** Express, an execution a task: billed while it waits for the call, in pieces of 64 MB. */
const expressEach: Cost = ({ tasks, callSeconds, perCall }) => tasks * (express(callSeconds) + perCall);
const express = (each: number): number =>
  PRICES.stepFunctions.perMillionExpressRequests / MILLION +
  (each * PRICES.stepFunctions.perExpressGigabyteSecond) / 16;

/** A Distributed Map over a list that is there: an Express child for each batch, which the parent counts as a transition. */
const distributedMap: Cost = (load) =>
  calls(load) * (PRICES.stepFunctions.perMillionTransitions / MILLION + express(load.callSeconds) + load.perCall);

/** Two small containers (0.25 vCPU, 0.5 GB), so that one may go. */
const WORKERS = 2 * HOURS * (0.25 * PRICES.fargate.perVcpuHour + 0.5 * PRICES.fargate.perGigabyteHour);
/** A primary and a replica. */
const redis: Cost = (load) => WORKERS + 2 * HOURS * PRICES.elasticache.cacheT4gMicroHour + calls(load) * load.perCall;
/** In two zones, with 20 GB in each. */
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
