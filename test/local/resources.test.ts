import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DeleteTableCommand, ScanCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import type { AwsClients } from '../../src/aws/clients.ts';
import { UNDER_WAY } from '../../src/domain/deployed/environment.ts';
import { synthesise } from '../../tools/local/assembly.ts';
import { localClients } from '../../tools/local/clients.ts';
import { startDynamoDB } from '../../tools/local/dynamodb-engine.ts';
import { createTables } from '../../tools/local/resources.ts';
import { CloudAssembly } from '../../tools/local/template.ts';
import { aConfig } from '../factories/factories.ts';

/** Does what each start does with the tables, on a folder's data. */
const onTables = async <T>(folder: string, work: (clients: AwsClients) => Promise<T>): Promise<T> => {
  const engine = await startDynamoDB({ port: 0, folder, engine: 'dynoxide' });
  try {
    const on = { dynamodb: engine.endpoint, sqs: 'http://127.0.0.1:9' };
    const clients = localClients(on);
    await createTables(new CloudAssembly(synthesise(aConfig()), on), clients.dynamodb);
    return await work(clients);
  } finally {
    await engine.stop();
  }
};

it.each([
  ['index', ['Tables-Batch::gsi::ByTarget']],
  ['table', ['Tables-Batch::gsi::ByTarget', 'Tables-Batch']],
])("a kill before a table's %s was made: the next start makes it, other tables keep rows", async (_, lost) => {
  const folder = mkdtempSync(join(tmpdir(), 'groupage-half-made-'));
  const put = (TableName: string) => (clients: AwsClients) =>
    clients.dynamodb.send(new PutCommand({ TableName, Item: { Id: 'kept', Status: 'created' } }));
  await onTables(folder, put('Tables-Task'));
  // The state after such a kill, which a test cannot time.
  const data = new DatabaseSync(join(folder, 'dynamodb.db'));
  for (const name of lost) data.exec(`DROP TABLE "${name}"`);
  data.close();
  const scan = (TableName: string, IndexName?: string) => (clients: AwsClients) =>
    clients.dynamodb.send(new ScanCommand({ TableName, IndexName }));
  expect((await onTables(folder, scan('Tables-Batch', 'ByTarget'))).Count).toBe(0);
  expect((await onTables(folder, scan('Tables-Task'))).Count).toBe(1);
});

it('a data folder without the fleet table gets that table, and keeps its rows', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'groupage-of-before-'));
  await onTables(folder, async ({ dynamodb }) => {
    await dynamodb.send(new PutCommand({ TableName: 'Tables-Task', Item: { Id: 'kept', Status: 'created' } }));
    await dynamodb.send(new DeleteTableCommand({ TableName: 'Tables-Fleet-Table' }));
  });
  const counts = await onTables(folder, async ({ dynamodb }) => {
    const count = async (TableName: string) => (await dynamodb.send(new ScanCommand({ TableName }))).Count;
    return [await count('Tables-Fleet-Table'), await count('Tables-Task')];
  });
  expect(counts).toEqual([0, 1]);
});

it('a table of an earlier release gets the indexes that it lacks, with the rows that it has', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'groupage-without-index-'));
  const row = { BatchId: 'b', Target: 't', UnderWay: 'ship', OldestAt: 1, TaskCount: 2, Candidates: ['a#1', 'b#1'] };
  await onTables(folder, async ({ dynamodb }) => {
    const GlobalSecondaryIndexUpdates = [{ Delete: { IndexName: UNDER_WAY } }];
    await dynamodb.send(new UpdateTableCommand({ TableName: 'Tables-Batch', GlobalSecondaryIndexUpdates }));
    await dynamodb.send(new PutCommand({ TableName: 'Tables-Batch', Item: row }));
  });
  const found = await onTables(folder, ({ dynamodb }) =>
    dynamodb.send(new ScanCommand({ TableName: 'Tables-Batch', IndexName: UNDER_WAY })),
  );
  expect(found.Items).toEqual([marshall({ BatchId: 'b', Target: 't', UnderWay: 'ship', OldestAt: 1, TaskCount: 2 })]);
});
