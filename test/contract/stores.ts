/** Every implementation of the store ports: the contract suite runs once for each. */

import { dynamoDBBatches } from '../../src/aws/dynamodb-batches.ts';
import { dynamoDBLocks } from '../../src/aws/dynamodb-locks.ts';
import { dynamoDBTasks } from '../../src/aws/dynamodb-tasks.ts';
import { dynamoDBWaiting } from '../../src/aws/dynamodb-waiting.ts';
import { synthesise } from '../../src/local/assembly.ts';
import { startDynamoDB } from '../../src/local/dynamodb-engine.ts';
import { javaProblem } from '../../src/local/dynamodb-local.ts';
import { localClients } from '../../src/local/engines.ts';
import { createTables } from '../../src/local/resources.ts';
import { CloudAssembly } from '../../src/local/template.ts';
import type { Batches, Locks, Tasks, WaitingTasks } from '../../src/ports.ts';
import { openGate } from '../../src/simulation/gate.ts';
import { memoryBatches } from '../../src/simulation/memory-batches.ts';
import { memoryLocks } from '../../src/simulation/memory-locks.ts';
import { memoryTasks } from '../../src/simulation/memory-tasks.ts';
import { memoryWaiting } from '../../src/simulation/memory-waiting.ts';
import { emptyTables } from '../../src/simulation/tables.ts';
import { aConfig } from '../factories/factories.ts';

export interface Stores {
  readonly tasks: Tasks;
  readonly waiting: WaitingTasks;
  readonly locks: Locks;
  readonly batches: Batches;
  stop(): Promise<void>;
}

export interface StoreKind {
  readonly name: string;
  /** Why it cannot run on this machine, if it cannot. */
  readonly missing?: string;
  start(): Promise<Stores>;
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

const onEngine = (engine: 'dynoxide' | 'DynamoDB Local') => async (): Promise<Stores> => {
  const started = await startDynamoDB({ port: 0, engine });
  const { dynamodb } = localClients({ dynamodb: started.endpoint });
  // The tables as they would be deployed.
  await createTables(new CloudAssembly(synthesise(aConfig()), ''), dynamodb);
  return {
    tasks: dynamoDBTasks(dynamodb, 'Tables-Task'),
    waiting: dynamoDBWaiting(dynamodb, 'Tables-BatchLock'),
    locks: dynamoDBLocks(dynamodb, 'Tables-BatchLock', () => 1_000),
    batches: dynamoDBBatches(dynamodb, 'Tables-Batch'),
    stop: () => started.stop(),
  };
};

const java = await javaProblem();

export const storeKinds: readonly StoreKind[] = [
  { name: 'memory', start: memory },
  { name: 'dynoxide', start: onEngine('dynoxide') },
  { name: 'DynamoDB Local', start: onEngine('DynamoDB Local'), ...(java ? { missing: java } : {}) },
];
