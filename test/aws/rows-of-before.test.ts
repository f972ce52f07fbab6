/** Rows that an earlier release wrote. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { voidAttempts } from '../../src/aws/recovery.ts';
import { batchKey } from '../../src/rows/batch-rows.ts';
import { operationKey } from '../../src/rows/operation-rows.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { aStart, candidate, NOW, operationName } from '../factories/factories.ts';
import { fresh } from '../ports/names.ts';
import { dynamoDBStores, type Stores } from '../ports/stores.ts';

let resources: Resources;
let stores: Stores;
beforeAll(async () => {
  resources = await makeResources();
  stores = dynamoDBStores(resources);
});
afterAll(() => stores.stop());

/** A batch in its first attempt, whose row has no `Tries`, as before counted attempts existed. */
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

it('a batch row without Tries has as many counted attempts as attempts', async () => {
  const id = await running();
  expect(await stores.batches.get(id)).toMatchObject({ attempt: 1, countedAttempts: 1 });
});

it('a local start does not count the attempt that was interrupted', async () => {
  const id = await running();
  await voidAttempts(resources.clients.dynamodb, resources.tables.batch);
  expect(await stores.batches.get(id)).toMatchObject({ attempt: 1, countedAttempts: 0, runUntil: 0 });
});

it('a reserved call of 0.2.0 without a rate is read, and can be replaced', async () => {
  const operation = operationName('reserved-before');
  const { clients, tables } = resources;
  await clients.dynamodb.send(
    new UpdateCommand({
      TableName: tables.batchLock,
      Key: operationKey(operation),
      UpdateExpression: 'SET NextCallAt = :at',
      ExpressionAttributeValues: { ':at': NOW },
    }),
  );
  expect((await stores.operations.read(operation)).line).toEqual({ next: NOW });
  const line = { next: NOW + 5, rate: 1, since: NOW };
  expect(await stores.operations.reserveCall(operation, { next: NOW }, line)).toBe(true);
  expect((await stores.operations.read(operation)).line).toEqual(line);
});
