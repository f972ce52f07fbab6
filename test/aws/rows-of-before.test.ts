/** Rows that an earlier release wrote. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { voidAttempts } from '../../src/aws/recovery.ts';
import { NEW_OPERATION } from '../../src/domain/operations/slots.ts';
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

it('an operation with calls reserved by an earlier release is read, without these', async () => {
  const operation = operationName('reserved-before');
  const { clients, tables } = resources;
  await clients.dynamodb.send(
    new UpdateCommand({
      TableName: tables.batchLock,
      Key: operationKey(operation),
      UpdateExpression: 'SET NextCallAt = :at, CallRate = :rate, CallsSince = :at',
      ExpressionAttributeValues: { ':at': NOW, ':rate': 1 },
    }),
  );
  expect(await stores.operations.read(operation)).toEqual(NEW_OPERATION);
});
