/** Every implementation of the store ports. The contract suite runs once for each. */
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { dynamoDBAudit } from '../../src/aws/dynamodb-audit.ts';
import { dynamoDBBatches } from '../../src/aws/dynamodb-batches.ts';
import { dynamoDBBuckets } from '../../src/aws/dynamodb-buckets.ts';
import { dynamoDBFanOuts } from '../../src/aws/dynamodb-fan-outs.ts';
import { dynamoDBFleets } from '../../src/aws/dynamodb-fleets.ts';
import { dynamoDBLists } from '../../src/aws/dynamodb-lists.ts';
import { dynamoDBLocks } from '../../src/aws/dynamodb-locks.ts';
import { dynamoDBOperations } from '../../src/aws/dynamodb-operations.ts';
import { dynamoDBProcessed } from '../../src/aws/dynamodb-processed.ts';
import { dynamoDBShares } from '../../src/aws/dynamodb-shares.ts';
import { dynamoDBTasks } from '../../src/aws/dynamodb-tasks.ts';
import { dynamoDBWaiting } from '../../src/aws/dynamodb-waiting.ts';
import type { Task } from '../../src/domain/tasks/task.ts';
import { memoryAudit } from '../../src/memory/audit.ts';
import { memoryBatches } from '../../src/memory/batches.ts';
import { memoryBuckets } from '../../src/memory/buckets.ts';
import { memoryShares } from '../../src/memory/callbacks.ts';
import { memoryFanOuts } from '../../src/memory/fan-outs.ts';
import { memoryFleets } from '../../src/memory/fleets.ts';
import { memoryLists } from '../../src/memory/lists.ts';
import { memoryLocks } from '../../src/memory/locks.ts';
import { memoryOperations } from '../../src/memory/operations.ts';
import { memoryProcessed } from '../../src/memory/processed.ts';
import { emptyTables, payloadKey } from '../../src/memory/tables.ts';
import { memoryTasks } from '../../src/memory/tasks.ts';
import { memoryWaiting } from '../../src/memory/waiting.ts';
import type { Audit } from '../../src/ports/audit.ts';
import type { Batches } from '../../src/ports/batches.ts';
import type { Buckets } from '../../src/ports/buckets.ts';
import type { Shares } from '../../src/ports/callbacks.ts';
import type { FanOuts } from '../../src/ports/fan-outs.ts';
import type { Fleets } from '../../src/ports/fleets.ts';
import type { Lists } from '../../src/ports/lists.ts';
import type { Locks } from '../../src/ports/locks.ts';
import type { Operations } from '../../src/ports/operations.ts';
import type { ProcessedKeys } from '../../src/ports/processed.ts';
import type { Tasks } from '../../src/ports/tasks.ts';
import type { WaitingTasks } from '../../src/ports/waiting.ts';
import { payloadKey as payloadRowKey } from '../../src/rows/task-rows.ts';
import { type Gate, openGate } from '../../src/virtual/gate.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import type { Kind } from './describe-each.ts';

export interface Stores {
  readonly tasks: Tasks;
  readonly waiting: WaitingTasks;
  readonly locks: Locks;
  readonly batches: Batches;
  readonly operations: Operations;
  readonly buckets: Buckets;
  readonly fanOuts: FanOuts;
  readonly lists: Lists;
  readonly fleets: Fleets;
  /** Its entries are stored for {@link KEEP_AUDIT}. */
  readonly audit: Audit;
  readonly processed: ProcessedKeys;
  readonly shares: Shares;
  /** Whether the payload's own row has a time to live. */
  payloadExpires(task: Pick<Task, 'id' | 'payloadHash'>): Promise<boolean>;
  stop(): Promise<void>;
}

export const memoryStores = (tables = emptyTables(), gate: Gate = openGate): Stores => ({
  tasks: memoryTasks(tables, gate),
  waiting: memoryWaiting(tables, gate),
  locks: memoryLocks(tables, gate, undefined, undefined, () => KEEP),
  batches: memoryBatches(tables, gate),
  operations: memoryOperations(tables, gate),
  buckets: memoryBuckets(tables, gate, Date.now),
  fanOuts: memoryFanOuts(tables, gate),
  lists: memoryLists(tables, gate),
  fleets: memoryFleets(new Map(), gate),
  audit: memoryAudit(KEEP_AUDIT, gate),
  processed: memoryProcessed(tables, gate),
  shares: memoryShares(new Map(), gate),
  payloadExpires: async (task) => tables.payloads.get(payloadKey(task))?.expires !== undefined,
  stop: async () => {},
});

/** How long finished batches of every operation are kept, in milliseconds. */
export const KEEP = 1_000;
/** How long entries of the audit trail are kept, in milliseconds: 100 days. */
export const KEEP_AUDIT = 100 * 86_400_000;

/** Stores in tables as a stack deploys them. */
export const dynamoDBStores = ({ clients: { dynamodb, clock }, tables, stop }: Resources): Stores => ({
  tasks: dynamoDBTasks(dynamodb, tables.task),
  waiting: dynamoDBWaiting(dynamodb, tables.batchLock),
  locks: dynamoDBLocks(dynamodb, tables.batchLock, () => KEEP),
  batches: dynamoDBBatches(dynamodb, tables.batch),
  operations: dynamoDBOperations(dynamodb, tables.batchLock),
  buckets: dynamoDBBuckets(dynamodb, tables.batchLock, clock),
  fanOuts: dynamoDBFanOuts(dynamodb, tables.fanOut),
  lists: dynamoDBLists(dynamodb, tables.fanOut, tables.list),
  fleets: dynamoDBFleets(dynamodb, tables.fleet),
  audit: dynamoDBAudit(dynamodb, tables.audit, KEEP_AUDIT),
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
