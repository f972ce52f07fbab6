/** The engine with Groupage's tables and a meter, and the units of each phase. */
import { strict as assert } from 'node:assert';
import { DeleteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { synthesise } from '../../tools/local/assembly.ts';
import { localClients } from '../../tools/local/clients.ts';
import { startEngines } from '../../tools/local/engines.ts';
import { createTables } from '../../tools/local/resources.ts';
import { CloudAssembly } from '../../tools/local/template.ts';
import { metered, newBill, total } from '../meter.ts';

/** Units of one kind of work. */
export interface Spent {
  readonly write: number;
  readonly read: number;
}

export interface Tables {
  readonly client: DynamoDBDocumentClient;
  /** The name of the table with the rows of waiting tasks and the Target's header. Its key is Target and Entry. */
  readonly waiting: string;
  /** The name of the table with batches. Its key is BatchId. */
  readonly batch: string;
  /** Runs a function. @returns the units that it spent */
  spending(work: () => Promise<void>): Promise<Spent>;
  /** Deletes a batch. */
  remove(batchId: string): Promise<void>;
  stop(): Promise<void>;
}

export const startTables = async (): Promise<Tables> => {
  const parsed = parseConfig({
    operations: { ship: { target: ['depot'], downstream: { kind: 'http', url: 'http://127.0.0.1:9/' } } },
  });
  assert(parsed.ok);
  const engines = await startEngines({ ports: { dynamodb: 0, sqs: 0 } });
  const endpoints = { dynamodb: engines.dynamodb.endpoint, sqs: engines.sqs.endpoint };
  const assembly = new CloudAssembly(synthesise(parsed.value), endpoints);
  await createTables(assembly, localClients(endpoints).dynamodb);
  const named = (end: string): string =>
    assembly.all('AWS::DynamoDB::Table').find(({ name }) => name.endsWith(end))?.name ?? '';
  const bill = newBill();
  const client = metered(localClients({ ...endpoints, patient: true }), bill).dynamodb;
  const batch = named('Tables-Batch');
  return {
    client,
    waiting: named('Tables-BatchLock'),
    batch,
    spending: async (work) => {
      const before = { write: total(bill.writeUnits), read: total(bill.readUnits) };
      await work();
      return { write: total(bill.writeUnits) - before.write, read: total(bill.readUnits) - before.read };
    },
    remove: async (batchId) => {
      await client.send(new DeleteCommand({ TableName: batch, Key: { BatchId: batchId } }));
    },
    stop: () => engines.stop(),
  };
};
