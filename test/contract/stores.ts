/** Every implementation of the store ports: the contract suite runs once for each. */
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { dynamoDBBatches } from '../../src/aws/dynamodb-batches.ts';
import { dynamoDBFanOuts } from '../../src/aws/dynamodb-fan-outs.ts';
import { dynamoDBFleets } from '../../src/aws/dynamodb-fleets.ts';
import { dynamoDBLists } from '../../src/aws/dynamodb-lists.ts';
import { dynamoDBLocks } from '../../src/aws/dynamodb-locks.ts';
import { dynamoDBOperations } from '../../src/aws/dynamodb-operations.ts';
import { dynamoDBProcessed } from '../../src/aws/dynamodb-processed.ts';
import { dynamoDBShares } from '../../src/aws/dynamodb-shares.ts';
import { dynamoDBTasks } from '../../src/aws/dynamodb-tasks.ts';
import { dynamoDBWaiting } from '../../src/aws/dynamodb-waiting.ts';
import { payloadKey as payloadRowKey } from '../../src/aws/task-rows.ts';
import type { Task } from '../../src/batching/task.ts';
import type { Shares } from '../../src/callbacks/store.ts';
import type { Lists } from '../../src/deferred/store.ts';
import type { FanOuts } from '../../src/fan-out/store.ts';
import type { Fleets } from '../../src/fleet/store.ts';
import type { Batches, Locks, Operations, ProcessedKeys, Tasks, WaitingTasks } from '../../src/ports.ts';
import { type Gate, openGate } from '../../src/simulation/gate.ts';
import { memoryBatches } from '../../src/simulation/memory-batches.ts';
import { memoryFanOuts } from '../../src/simulation/memory-fan-outs.ts';
import { memoryFleets } from '../../src/simulation/memory-fleets.ts';
import { memoryLists } from '../../src/simulation/memory-lists.ts';
import { memoryLocks } from '../../src/simulation/memory-locks.ts';
import { memoryOperations } from '../../src/simulation/memory-operations.ts';
import { memoryProcessed } from '../../src/simulation/memory-processed.ts';
import { memoryShares } from '../../src/simulation/memory-shares.ts';
import { memoryTasks } from '../../src/simulation/memory-tasks.ts';
import { memoryWaiting } from '../../src/simulation/memory-waiting.ts';
import { emptyTables, payloadKey } from '../../src/simulation/tables.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import type { Kind } from './describe-each.ts';

export interface Stores {
  readonly tasks: Tasks;
  readonly waiting: WaitingTasks;
  readonly locks: Locks;
  readonly batches: Batches;
  readonly operations: Operations;
  readonly fanOuts: FanOuts;
  readonly lists: Lists;
  readonly fleets: Fleets;
  readonly processed: ProcessedKeys;
  readonly shares: Shares;
  /** Whether the time to live of a payload in a row of its own runs. */
  payloadExpires(task: Pick<Task, 'id' | 'payloadHash'>): Promise<boolean>;
  stop(): Promise<void>;
}

export const memoryStores = (tables = emptyTables(), gate: Gate = openGate): Stores => ({
  tasks: memoryTasks(tables, gate),
  waiting: memoryWaiting(tables, gate),
  locks: memoryLocks(tables, gate, undefined, undefined, () => KEEP),
  batches: memoryBatches(tables, gate),
  operations: memoryOperations(tables, gate),
  fanOuts: memoryFanOuts(tables, gate),
  lists: memoryLists(tables, gate),
  fleets: memoryFleets(new Map(), gate),
  processed: memoryProcessed(tables, gate),
  shares: memoryShares(new Map(), gate),
  payloadExpires: async (task) => tables.payloads.get(payloadKey(task))?.expires !== undefined,
  stop: async () => {},
});

/** How long finished batches of any operation are kept, in ms. */
export const KEEP = 1_000;

/** In tables as they would be deployed. */
export const dynamoDBStores = ({ clients: { dynamodb }, tables, stop }: Resources): Stores => ({
  tasks: dynamoDBTasks(dynamodb, tables.task),
  waiting: dynamoDBWaiting(dynamodb, tables.batchLock),
  locks: dynamoDBLocks(dynamodb, tables.batchLock, () => KEEP),
  batches: dynamoDBBatches(dynamodb, tables.batch),
  operations: dynamoDBOperations(dynamodb, tables.batchLock),
  fanOuts: dynamoDBFanOuts(dynamodb, tables.fanOut),
  lists: dynamoDBLists(dynamodb, tables.fanOut, tables.list),
  fleets: dynamoDBFleets(dynamodb, tables.fleet),
  processed: dynamoDBProcessed(dynamodb, tables.batchLock),
  shares: dynamoDBShares(dynamodb, tables.batchLock),
  payloadExpires: async (task) => {
    const get = new GetCommand({ TableName: tables.task, Key: payloadRowKey(task), ConsistentRead: true });
    return (await dynamodb.send(get)).Item?.ExpiresAt !== undefined;
  },
  stop,
});

export const storeKinds: readonly Kind<Stores>[] = [
  { name: 'memory', inMemory: true, start: async () => memoryStores() },
  { name: 'DynamoDB', start: async () => dynamoDBStores(await makeResources()) },
];
