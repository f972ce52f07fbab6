/**
 * The reason for a retry is written together with other attributes, and does not raise the cost of any write of a full
 * batch.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { metered, newBill, total } from '../../bench/meter.ts';
import { dynamoDBBatches } from '../../src/aws/dynamodb-batches.ts';
import { lastAttempt } from '../../src/domain/batches/batch.ts';
import type { Batches } from '../../src/ports/batches.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { aPostponed, aStart, batchId, candidate, NOW, target } from '../factories/factories.ts';

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

it('a batch of a hundred tasks pays nothing extra for the quoted answer of its downstream', async () => {
  const where = target('report-flights/origin=MUC');
  const id = batchId(`${where}#17#4`);
  const ids = Array.from({ length: 100 }, (_, n) => `01JD2Y0FQZ4XB8R5MTWV7KQ${String(n).padStart(3, '0')}`);
  const candidates = ids.map((each) => candidate(each));
  const formed = await batches.form({ id, target: where, sealedBy: 'full', candidates, oldestAt: NOW, createdAt: NOW });
  await batches.seal(formed, [], NOW, 1_000);
  const why = { reason: "answered 404 (check the operation's downstream url and access)", quote: 'x'.repeat(4_000) };
  const started = await spent(() => batches.start(id, aStart(1, NOW, NOW + 100)));
  const postponed = await spent(() =>
    batches.postpone(id, 1, aPostponed(NOW + 50, { lastAttempt: lastAttempt(why, NOW + 40) })),
  );
  const again = await spent(() => batches.start(id, aStart(2, NOW + 51, NOW + 500)));
  const end = { status: 'succeeded', counts: { succeeded: 100, failed: 0 }, at: NOW + 60, keep: 1_000 } as const;
  const finished = await spent(() => batches.finish(id, 2, end));
  expect([postponed, again, finished]).toEqual([started, started, started]);
  expect((await batches.get(id))?.lastAttempt?.quote).toHaveLength(200);
});
