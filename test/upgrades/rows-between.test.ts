/**
 * A release that reads a new version of rows but still writes the old one, beside the next release, which writes the
 * new one (docs/how-to/upgrade.md).
 */
import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { FleetName, NodeKey, PartitionId } from '../../src/domain/fleets/ids.ts';
import type { Token } from '../../src/domain/ids.ts';
import { leaseKey } from '../../src/rows/fleet-rows.ts';
import type { Item } from '../../src/rows/item.ts';
import { lockKey } from '../../src/rows/lock-rows.ts';
import { operationKey } from '../../src/rows/operation-rows.ts';
import { payloadRow } from '../../src/rows/task-rows.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { aTask, id, NOW, operationName } from '../factories/factories.ts';
import { fresh } from '../ports/names.ts';
import { dynamoDBStores, type Stores } from '../ports/stores.ts';

vi.mock(import('../../src/rows/row-version.ts'), async (original) => ({
  ...(await original()),
  readsUpTo: () => 2,
  readable: <Row extends Item>(_: string, row: Row): Row => row,
}));

let resources: Resources;
let stores: Stores;
beforeAll(async () => {
  resources = await makeResources();
  stores = dynamoDBStores(resources);
});
afterAll(() => stores.stop());

const pause = { id: 'p-1', by: 'person', since: NOW } as const;
const ship = operationName('between-ship');
const fleet = 'between' as FleetName;
const lease = { partition: 'p' as PartitionId, fence: 1 };

/** Writes without a read before, or of a part of the row only. @param target of locks */
const WRITES = (target: ReturnType<typeof fresh>['target']): Record<string, () => Promise<unknown>> => ({
  pause: () => stores.locks.pause(target, pause),
  resume: () => stores.locks.resume(target, pause.id, NOW),
  flush: () => stores.locks.flush(target, NOW),
  skipFence: () => stores.locks.skipFence(target, 2, 1, NOW),
  acquire: () =>
    stores.locks.acquire(target, {
      fence: 3,
      token: 't' as Token,
      seen: { fence: 2, flushedAt: NOW },
      now: NOW,
      until: NOW + 1,
    } as never),
  'pause an operation': () => stores.operations.pause(ship, pause),
  'count a failure': () => stores.operations.addFailure(ship),
  'take a lease': () => stores.fleets.take(fleet, lease, 'n@1' as NodeKey, NOW),
});

const versionsIn = async (table: keyof Resources['tables'], key: Item): Promise<unknown[]> => {
  const { Items = [] } = await resources.clients.dynamodb.send(
    new ScanCommand({ TableName: resources.tables[table], ConsistentRead: true }),
  );
  return Items.filter((row) => Object.entries(key).every(([name, value]) => row[name] === value)).map(
    ({ Version }) => Version,
  );
};

it("a write to a part of a row keeps the row's newer version", async () => {
  const { target } = fresh();
  const keys = [
    ['batchLock', lockKey(target)],
    ['batchLock', operationKey(ship)],
    ['fleet', leaseKey(fleet, lease.partition)],
  ] as const;
  for (const [table, key] of keys)
    await resources.clients.dynamodb.send(
      new PutCommand({ TableName: resources.tables[table], Item: { ...key, Fence: 1, Version: 2 } }),
    );
  for (const [name, write] of Object.entries(WRITES(target))) {
    expect([name, await write()]).not.toEqual([name, false]);
    for (const [table, key] of keys) expect([name, await versionsIn(table, key)]).toEqual([name, [2]]);
  }
});

it("a write of a whole row, or of a new one, sets the writer's version", async () => {
  const { target } = fresh();
  await stores.locks.pause(target, pause);
  expect(await versionsIn('batchLock', lockKey(target))).toEqual([1]);
  const large = aTask({ id: id('between-1'), payload: JSON.stringify('x'.repeat(2_000)) });
  const row = payloadRow({ ...large, run: 1 });
  const left = { ...row, Version: 2, CreatedAt: large.createdAt - 1, Payload: 'in another form' };
  await resources.clients.dynamodb.send(new PutCommand({ TableName: resources.tables.task, Item: left }));
  await stores.tasks.storePayloads([{ ...large, run: 1 }]);
  expect(await versionsIn('task', { Id: row.Id, Payload: large.payload })).toEqual([1]);
});
