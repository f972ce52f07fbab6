/**
 * The reason for a retry and the record of its calls are written together with other attributes, and do not raise the
 * cost of any write of a full batch. The index of batches under way costs a unit when a batch enters it, one for each
 * further failed attempt, and one when the batch ends. A batch that ends in its first attempt pays nothing for it.
 */
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { metered, newBill, total } from '../../bench/meter.ts';
import { dynamoDBBatches } from '../../src/aws/dynamodb-batches.ts';
import { lastAttempt } from '../../src/domain/batches/batch.ts';
import type { Batches } from '../../src/ports/batches.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { aPostponed, aStart, batchId, candidate, NOW, operationName, target } from '../factories/factories.ts';

let resources: Resources;
const bill = newBill();
let batches: Batches;
beforeAll(async () => {
  resources = await makeResources();
  batches = dynamoDBBatches(metered(resources.clients, bill).dynamodb, resources.tables.batch);
});
afterAll(() => resources.stop());

/** The write units that a call consumes. */
const spent = async (call: () => Promise<unknown>): Promise<number> => {
  const before = total(bill.writeUnits);
  expect(await call()).toBeTruthy();
  return total(bill.writeUnits) - before;
};

/** A sealed batch of a hundred tasks. */
const sealed = async (number: number) => {
  const where = target('report-flights/origin=MUC');
  const id = batchId(`${where}#17#${number}`);
  const ids = Array.from({ length: 100 }, (_, n) => `01JD2Y0FQZ4XB8R5MTWV7KQ${String(n).padStart(3, '0')}`);
  const candidates = ids.map((each) => candidate(each));
  const formed = await batches.form({ id, target: where, sealedBy: 'full', candidates, oldestAt: NOW, createdAt: NOW });
  await batches.seal(formed, [], NOW, 1_000);
  return id;
};
const end = { status: 'succeeded', counts: { succeeded: 100, failed: 0 }, at: NOW + 60, keep: 1_000 } as const;
const why = { reason: "answered 404 (check the operation's downstream url and access)", quote: 'x'.repeat(4_000) };
const call = { attempt: 1, at: NOW, took: 40, isError: true, items: 100, ...why, quote: 'x'.repeat(100) };

it('a batch that succeeds at once pays nothing for the index and for the record of its call', async () => {
  const id = await sealed(1);
  const started = await spent(() => batches.start(id, aStart(1, NOW, NOW + 100)));
  const calls = [{ attempt: 1, at: NOW, took: 40, isError: false, reason: 'all-succeeded', items: 100 }];
  expect(await spent(() => batches.finish(id, 1, { ...end, calls }))).toBe(started);
});

it('a batch pays one unit to enter the index, one for each failed attempt, one at its end', async () => {
  const id = await sealed(4);
  const started = await spent(() => batches.start(id, aStart(1, NOW, NOW + 100)));
  const fail = (attempt: number, at: number) =>
    spent(() =>
      batches.postpone(
        id,
        attempt,
        aPostponed(at + 10, {
          lastAttempt: lastAttempt(why, { attempt, endedAt: at, open: 100, pending: 0 }),
          calls: Array.from({ length: attempt }, () => call),
        }),
      ),
    );
  const postponed = await fail(1, NOW + 40);
  const again = await spent(() => batches.start(id, aStart(2, NOW + 51, NOW + 500)));
  const postponedAgain = await fail(2, NOW + 60);
  await batches.start(id, aStart(3, NOW + 71, NOW + 500));
  const finished = await spent(() => batches.finish(id, 3, end));
  expect([postponed, again, postponedAgain, finished]).toEqual([started + 1, started, started + 1, started + 1]);
  expect(await batches.get(id)).toMatchObject({ calls: [call, call] });
  expect((await batches.get(id))?.lastAttempt?.quote).toHaveLength(200);
});

it('batches that release 0.2.0 finished in the index hide no other batch', async () => {
  const client = resources.clients.dynamodb;
  const row = (n: number, more: object = {}) => ({
    BatchId: `left/a=b#1#${n}`,
    Target: 'left/a=b',
    UnderWay: 'left',
    OldestAt: n,
    TaskCount: 1,
    ...more,
  });
  for (const n of [1, 2, 3, 4, 5])
    await client.send(
      new PutCommand({ TableName: resources.tables.batch, Item: row(n, { ExpiresAt: 9_999_999_999 }) }),
    );
  for (const n of [6, 7]) await client.send(new PutCommand({ TableName: resources.tables.batch, Item: row(n) }));
  const page = await batches.underWay(operationName('left'), 1);
  expect(page).toMatchObject({ items: [{ id: 'left/a=b#1#6' }], cursor: expect.any(String) });
  const next = await batches.underWay(operationName('left'), 5, page.cursor);
  expect(next).toEqual({ items: [expect.objectContaining({ id: 'left/a=b#1#7', tasks: 1 })] });
});
