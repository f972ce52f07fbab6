/** Every implementation of the store ports: the contract suite runs once for each. */
import { dynamoDBBatches } from '../../src/aws/dynamodb-batches.ts';
import { dynamoDBLocks } from '../../src/aws/dynamodb-locks.ts';
import { dynamoDBTasks } from '../../src/aws/dynamodb-tasks.ts';
import { dynamoDBWaiting } from '../../src/aws/dynamodb-waiting.ts';
import type { Batches, Locks, Tasks, WaitingTasks } from '../../src/ports.ts';
import { openGate } from '../../src/simulation/gate.ts';
import { memoryBatches } from '../../src/simulation/memory-batches.ts';
import { memoryLocks } from '../../src/simulation/memory-locks.ts';
import { memoryTasks } from '../../src/simulation/memory-tasks.ts';
import { memoryWaiting } from '../../src/simulation/memory-waiting.ts';
import { emptyTables } from '../../src/simulation/tables.ts';
import { makeResources } from '../backends/resources.ts';
import type { Kind } from './describe-each.ts';

export interface Stores {
  readonly tasks: Tasks;
  readonly waiting: WaitingTasks;
  readonly locks: Locks;
  readonly batches: Batches;
  stop(): Promise<void>;
}

const memory = async (): Promise<Stores> => {
  const tables = emptyTables();
  return {
    tasks: memoryTasks(tables, openGate),
    waiting: memoryWaiting(tables, openGate),
    locks: memoryLocks(tables, openGate),
    batches: memoryBatches(tables, openGate),
    stop: async () => {},
  };
};

/** On the run's backend, in tables as they would be deployed. */
const onBackend = async (): Promise<Stores> => {
  const { clients, tables, stop } = await makeResources();
  return {
    tasks: dynamoDBTasks(clients.dynamodb, tables.task),
    waiting: dynamoDBWaiting(clients.dynamodb, tables.batchLock),
    locks: dynamoDBLocks(clients.dynamodb, tables.batchLock, () => 1_000),
    batches: dynamoDBBatches(clients.dynamodb, tables.batch),
    stop,
  };
};

export const storeKinds: readonly Kind<Stores>[] = [
  { name: 'memory', start: memory },
  { name: 'DynamoDB', start: onBackend },
];
