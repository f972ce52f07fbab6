/**
 * A claim and its end cost one write unit each in a list with twenty claims, and three with the most claims that a
 * list can have.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { metered, newBill, total } from '../../bench/meter.ts';
import { dynamoDBLists } from '../../src/aws/dynamodb-lists.ts';
import { claimId, type ListId, leaseKeyOf, listId, trackerOf } from '../../src/domain/lists/ids.ts';
import { CLAIMS_MAX, freed, type Lease, leaseEnd } from '../../src/domain/lists/list.ts';
import type { Lists } from '../../src/ports/lists.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { token } from '../factories/factories.ts';

/** Numbers as long as they get in a list of 100,000 jobs: DynamoDB charges for digits. */
const [JOBS, HANDED_OUT, COUNT] = [99_999, 87_651, 137];
const now = 1_790_000_000_123;

let resources: Resources;
const bill = newBill();
let lists: Lists;
beforeAll(async () => {
  resources = await makeResources();
  const { dynamodb } = metered(resources.clients, bill);
  lists = dynamoDBLists(dynamodb, resources.tables.fanOut, resources.tables.list);
});
afterAll(() => resources.stop());

/** The write units that a call consumes. */
const spent = async (call: () => Promise<unknown>): Promise<number> => {
  const before = total(bill.writeUnits);
  expect(await call()).toBeTruthy();
  return total(bill.writeUnits) - before;
};

const opened = async (name: string): Promise<ListId> => {
  const id = listId(name.padEnd(26, 'l')) as ListId;
  const named = { operation: 'o'.repeat(20), userKey: 'n'.repeat(20) };
  await lists.open({ id: trackerOf(id), createdAt: now, ...named }, now + 3_600_123);
  await lists.beginAppend(id, token('a'), { count: JOBS, hash: 'h' });
  await lists.publish(id, token('a'), { first: 0, count: JOBS, at: now + 987 });
  await lists.take(id, token('t'), { ranges: [{ first: 0, count: HANDED_OUT }], from: [], head: 0, fresh: HANDED_OUT });
  return id;
};

const claim = async (id: ListId, n: number) => {
  const name = claimId(`worker-${n}`);
  if (!name) throw new Error('that is an id');
  const until = leaseEnd(now, 299_000 + 1_000 * n);
  const take = { key: leaseKeyOf(name), count: COUNT, until, total: JOBS, most: CLAIMS_MAX };
  return lists.leaseFresh(id, take) as Promise<Lease>;
};

it.each([
  ['twenty', 20, 1],
  ['the most possible', CLAIMS_MAX, 3],
])('each write of a claim in a list with %s claims costs as promised', async (name, claims, most) => {
  const id = await opened(`l-${name.length}`);
  for (let n = 1; n < claims; n += 1) await claim(id, n);
  let mine: Lease | undefined;
  const claimed = await spent(async () => {
    mine = await claim(id, claims);
    return mine;
  });
  if (!mine) throw new Error('it was not claimed');
  const lease = mine;
  expect((await lists.read(id))?.leases).toHaveLength(claims);
  const renewed = await spent(() => lists.change(id, [lease], [{ ...lease, until: lease.until + 1_000 }], 'any-time'));
  const later = { ...lease, until: lease.until + 1_000 };
  const free = freed(lease);
  const released = await spent(() => lists.change(id, [later], [free], 'any-time'));
  const again = await spent(() => lists.change(id, [free], [lease], 'handing-out'));
  const completed = await spent(() => lists.change(id, [lease], [], 'any-time'));
  for (const units of [claimed, renewed, released, again, completed]) expect(units).toBeLessThanOrEqual(most);
});
