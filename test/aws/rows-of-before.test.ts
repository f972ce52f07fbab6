/** Rows that an earlier version wrote, and that a deployment finds. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchKey } from '../../src/aws/batch-rows.ts';
import { voidAttempts } from '../../src/aws/recovery.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { fresh } from '../contract/names.ts';
import { dynamoDBStores, type Stores } from '../contract/stores.ts';
import { aStart, candidate, NOW } from '../factories/factories.ts';

let resources: Resources;
let stores: Stores;
beforeAll(async () => {
  resources = await makeResources();
  stores = dynamoDBStores(resources);
});
afterAll(() => stores.stop());

/** A batch amid its first attempt, from before tries were counted apart from attempts. */
const running = async () => {
  const { batch: id, target } = fresh();
  const forming = {
    id,
    target,
    sealedBy: 'full' as const,
    candidates: [candidate('a')],
    oldestAt: NOW,
    createdAt: NOW,
  };
  await stores.batches.seal(await stores.batches.form(forming), [], NOW, 1_000);
  await stores.batches.start(id, aStart(1, NOW, NOW + 1_000));
  const { clients, tables } = resources;
  await clients.dynamodb.send(
    new UpdateCommand({ TableName: tables.batch, Key: batchKey(id), UpdateExpression: 'REMOVE Tries' }),
  );
  return id;
};

it('a batch without tries has had as many as attempts', async () => {
  const id = await running();
  expect(await stores.batches.get(id)).toMatchObject({ attempt: 1, tries: 1 });
});

it('a local start takes back the attempt that was cut short', async () => {
  const id = await running();
  await voidAttempts(resources.clients.dynamodb, resources.tables.batch);
  expect(await stores.batches.get(id)).toMatchObject({ attempt: 1, tries: 0, runUntil: 0 });
});
