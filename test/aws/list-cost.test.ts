/**
 * A claim and its end cost one write unit each in a list with twelve claims of named workers, and five with the most
 * claims that the list's row can have. A claim beyond these costs twice as much once, and one unit for each later write.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { metered, newBill, total } from '../../bench/meter.ts';
import { dynamoDBLists } from '../../src/aws/dynamodb-lists.ts';
import { endedOf } from '../../src/domain/lists/deliveries.ts';
import {
  type ClaimId,
  type ClaimKey,
  claimId,
  claimKeyOf,
  type ListId,
  listId,
  trackerOf,
} from '../../src/domain/lists/ids.ts';
import {
  CLAIMS_MAX,
  freed,
  type Holder,
  type Lease,
  leased,
  leaseEnd,
  type StoredClaim,
} from '../../src/domain/lists/list.ts';
import type { LeaseChange, Lists } from '../../src/ports/lists.ts';
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
  const ranges = [{ first: 0, count: HANDED_OUT }];
  const taking = { ranges, from: [], head: 0, fresh: HANDED_OUT, wanted: `${HANDED_OUT} jobs`, gone: [] };
  await lists.take(id, token('t'), taking);
  return id;
};

const keyOf = (n: number): ClaimKey => claimKeyOf(claimId(`worker-${n}`) as ClaimId);
const untilOf = (n: number) => leaseEnd(now, 299_000 + 1_000 * n);
const FIRST = { deliveries: 1, isSuspect: false };
/** @param name of the worker, of eight characters as in a name such as `worker-3` */
const holderOf = (name: string | undefined): Holder => ({ since: now, ...(name === undefined ? {} : { name }) });

/** @param name of the worker */
const claim = async (id: ListId, n: number, name: string | undefined) => {
  const wanted = leased(keyOf(n), 0, { first: 0, count: COUNT, ...FIRST }, untilOf(n));
  const begins = { claim: keyOf(n), holder: holderOf(name) };
  const take = { total: JOBS, most: CLAIMS_MAX, apart: 'none' as const, begins };
  return lists.leaseFresh(id, wanted, take) as Promise<Lease>;
};

const change = (id: ListId, from: readonly Lease[], to: readonly Lease[], fields: Partial<LeaseChange> = {}) =>
  lists.change(id, { from, to, gone: [], ...fields });

it.each([
  ['twelve named', 12, 1, 'worker-3'],
  ['fourteen anonymous', 14, 1, undefined],
  ['twenty named', 20, 2, 'worker-3'],
  ['the most anonymous', CLAIMS_MAX, 4, undefined],
  ['the most named', CLAIMS_MAX, 5, 'worker-3'],
  ['the most with the longest names', CLAIMS_MAX, 6, 'w'.repeat(32)],
])('each write of a claim in a list with %s claims costs as promised', async (title, claims, most, name) => {
  const id = await opened(`l-${title.length}`);
  for (let n = 1; n < claims; n += 1) await claim(id, n, name);
  let mine: Lease | undefined;
  const claimed = await spent(async () => {
    mine = await claim(id, claims, name);
    return mine;
  });
  if (!mine) throw new Error('it was not claimed');
  const lease = mine;
  const { leases, holders = {} } = (await lists.read(id)) ?? {};
  expect([leases?.length, Object.keys(holders).length]).toEqual([claims, claims]);
  const later = { ...lease, until: lease.until + 1_000 };
  const renewed = await spent(() => change(id, [lease], [later]));
  const free = freed(lease, FIRST);
  const released = await spent(() => change(id, [later], [free], { gone: [{ claim: keyOf(claims) }] }));
  const second = leased(lease.claim as ClaimKey, 0, { ...lease, deliveries: 2 }, lease.until);
  const again = await spent(() =>
    change(id, [free], [second], {
      isHandingOut: true,
      apart: 'none',
      begins: { claim: keyOf(claims), holder: holderOf(name) },
    }),
  );
  const completed = await spent(() => change(id, [second], [], { gone: [{ claim: keyOf(claims) }] }));
  const all = { claimed, renewed, released, again, completed };
  expect(Math.max(...Object.values(all)), JSON.stringify(all)).toBe(most);
});

/** The list with a claim in a row of its own. */
const withApart = async (name: string, ranges: number) => {
  const id = await opened(name);
  for (let n = 1; n <= CLAIMS_MAX; n += 1) await claim(id, n, 'worker-3');
  const first = HANDED_OUT + CLAIMS_MAX * COUNT;
  const each = Math.floor(COUNT / ranges);
  const leases = Array.from({ length: ranges }, (_, n) =>
    leased(keyOf(0), n, { first: first + n * each, count: each, ...FIRST }, untilOf(0)),
  );
  const stored: StoredClaim = { key: keyOf(0), leases, holder: holderOf('worker-3') };
  const becomes = { count: 1, until: untilOf(0) };
  const put = () =>
    lists.putApart(id, stored, {
      from: [],
      to: [],
      isHandingOut: true,
      gone: [],
      fresh: { head: first, count: COUNT },
      apart: 'none',
      becomes,
    });
  return { id, stored, becomes, put };
};

it.each([
  ['one range', 1],
  ['twenty ranges', 20],
])('a claim of %s in a row of its own costs more at first, and then one unit for each write', async (title, ranges) => {
  const { id, stored, becomes, put } = await withApart(`l-${title.length}`, ranges);
  const claimed = await spent(put);
  const later = stored.leases.map((lease) => ({ ...lease, until: lease.until + 1_000 }));
  const renewed = await spent(() => lists.changeApart(id, stored, later));
  const completed = await spent(() => lists.changeApart(id, stored, []));
  // A transaction costs twice the units of its rows.
  expect({ claimed, renewed, completed }).toEqual({ claimed: 2 * (5 + 1), renewed: 1, completed: 1 });
  expect(await lists.read(id)).toMatchObject({ apart: becomes });
});

it('a broken claim costs as much as a released one, and apart as much as a new one', async () => {
  const { id, stored, put } = await withApart('l-break', 1);
  const [lease] = (await lists.read(id))?.leases ?? [];
  if (!lease) throw new Error('it was not claimed');
  const broken = await spent(() => change(id, [lease], [freed(lease, endedOf(lease))]));
  expect(broken).toBe(5);
  await put();
  const to = stored.leases.map((each) => freed(each, endedOf(each)));
  const apart = await spent(() => lists.gather(id, [{ claim: stored, keep: [] }], to));
  expect(apart).toBe(2 * (5 + 1));
});
