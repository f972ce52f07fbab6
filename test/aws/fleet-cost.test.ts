/**
 * The cost of a fleet. Each write costs one write unit, for any number of partitions, except for checkpoints, whose
 * rows have keys of their own. A read of 64 partitions and 4 nodes costs three read units, for any checkpoints.
 */
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import pLimit from 'p-limit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { metered, newBill, total } from '../../bench/meter.ts';
import { dynamoDBFleets } from '../../src/aws/dynamodb-fleets.ts';
import type { Lease } from '../../src/domain/fleets/fleet.ts';
import type { FleetName, NodeKey } from '../../src/domain/fleets/ids.ts';
import type { Fleets, Held } from '../../src/ports/fleets.ts';
import { backendName } from '../backends/given.ts';
import { makeResources, type Resources } from '../backends/resources.ts';
import { aNode, fleet, held, nodeOf, partition } from '../factories/fleets.ts';
import { answerOf, QUERY_THAT_FINDS_NOTHING } from '../ports/differences.ts';

/** Realistically long names and numbers: DynamoDB charges for characters and digits. */
const now = 1_790_000_000_123;
const NODES = [1, 2, 3, 4].map((n) =>
  nodeOf(`ip-10-0-12-${n}.eu-central-1.compute.internal-4711@01kbdm4z1f9x2p7q8r5t6v3w0y`),
);
const [A, B] = NODES as [NodeKey, NodeKey];
const partitionAt = (n: number) => partition(`flights-${String(n).padStart(2, '0')}`);

let resources: Resources;
const bill = newBill();
let fleets: Fleets;
beforeAll(async () => {
  resources = await makeResources();
  const { dynamodb } = metered(resources.clients, bill);
  fleets = dynamoDBFleets(dynamodb, resources.tables.fleet);
});
afterAll(() => resources.stop());

const apart = (lease: Lease): Held => ({ ...held(lease), checkpointApart: true });

/** The write and read units that a call consumes. */
const spent = async (call: () => Promise<unknown>): Promise<{ writes: number; reads: number }> => {
  const [writes, reads] = [total(bill.writeUnits), total(bill.readUnits)];
  expect(await call()).not.toBe(false);
  return { writes: total(bill.writeUnits) - writes, reads: total(bill.readUnits) - reads };
};

/** A fleet of 4 nodes with 16 partitions each. */
const settled = async (name: FleetName): Promise<readonly Lease[]> => {
  for (const key of NODES) await fleets.join(name, aNode({ key, startedAt: now, beatAt: now }));
  const leases: Lease[] = [];
  for (let n = 0; n < 64; n += 1)
    leases.push(
      (await fleets.take(name, { partition: partitionAt(n), fence: 0 }, NODES[n % 4] as NodeKey, now)) as Lease,
    );
  return leases;
};

it('a heartbeat costs one write unit for all partitions of its node', async () => {
  const name = fleet('beats');
  await settled(name);
  const beat = { key: A, beat: 12_345, ttl: 30_000, beatAt: now + 5_000 };
  expect(await spent(() => fleets.beat(name, beat))).toEqual({ writes: 1, reads: 0 });
  expect(await spent(() => fleets.beat(name, { ...beat, beat: 12_346, leaving: true }))).toEqual({
    writes: 1,
    reads: 0,
  });
});

it("each change of a partition's lease costs one write unit", async () => {
  const name = fleet('leases');
  const one = { writes: 1, reads: 0 };
  let lease: Lease | undefined;
  const take = async () => {
    lease = await fleets.take(name, { partition: partitionAt(7), fence: 0 }, A, now);
    return lease !== undefined;
  };
  expect(await spent(take)).toEqual(one);
  const mine = lease as unknown as Lease;
  expect(await spent(() => fleets.ask(name, mine, B))).toEqual(one);
  expect(await spent(() => fleets.decline(name, held(mine), B))).toEqual(one);
  expect(await spent(() => fleets.checkpoint(name, held(mine), 'x'.repeat(512), 1))).toEqual(one);
  expect(await spent(() => fleets.handOver(name, held(mine), B, now + 1))).toEqual(one);
  const theirs = { ...held(mine), owner: B, fence: 2 };
  expect(await spent(() => fleets.handOver(name, theirs, undefined, now + 2))).toEqual(one);
  expect(await spent(() => fleets.pin(name, partitionAt(7), A))).toEqual(one);
});

it('a checkpoint costs a write unit for each kilobyte, and again for each new owner', async () => {
  const name = fleet('checkpoints');
  const lease = (await fleets.take(name, { partition: partitionAt(0), fence: 0 }, A, now)) as Lease;
  // A new partition: its checkpoint's row, and the lease row that refers to it.
  expect(await spent(() => fleets.open(name, lease))).toEqual({ writes: 2, reads: 0 });
  const mine = apart(lease);
  expect(await spent(() => fleets.checkpoint(name, mine, 'x'.repeat(4_096), 1))).toEqual({ writes: 5, reads: 0 });
  expect(await spent(() => fleets.handOver(name, mine, B, now))).toEqual({ writes: 1, reads: 0 });
  const theirs = { ...lease, owner: B, fence: 2, checkpointApart: true } as const;
  expect(await spent(() => fleets.open(name, theirs))).toEqual({ writes: 5, reads: 0 });
  expect(await spent(() => fleets.checkpointOf(name, lease.partition))).toEqual({ writes: 0, reads: 2 });
});

it('the first join of a fleet costs 5 write units; later joins, evictions and leaves 1', async () => {
  const name = fleet('lives');
  const key = A;
  // The read that checks whether the fleet exists.
  const reads = Number(answerOf(QUERY_THAT_FINDS_NOTHING, backendName()));
  expect(await spent(() => fleets.join(name, aNode({ key })))).toEqual({ writes: 5, reads });
  expect(await spent(() => fleets.join(name, aNode({ key: B })))).toEqual({ writes: 1, reads: 1 });
  expect(await spent(() => fleets.evict(name, key, 0, now))).toEqual({ writes: 1, reads: 0 });
  expect(await spent(() => fleets.leave(name, key))).toEqual({ writes: 1, reads: 0 });
});

it('a read of 64 partitions and 4 nodes costs a read unit for each 4 KB of rows', async () => {
  const name = fleet('readings');
  const leases = await settled(name);
  expect(await spent(() => fleets.read(name))).toEqual({ writes: 0, reads: 3 });
  for (const lease of leases) await fleets.open(name, lease);
  for (const lease of leases) await fleets.checkpoint(name, apart(lease), 'x'.repeat(4_096), 1);
  expect(await spent(() => fleets.read(name))).toEqual({ writes: 0, reads: 3 });
});

it.each([
  ['in their leases, as 0.2.0 has them', false, 105],
  ['in rows of their own', true, 4],
])('a read of 100 partitions with checkpoints of 4 KB %s costs as promised', async (_, isApart, reads) => {
  const name = fleet(`hundred-${isApart}`);
  const each = pLimit(16);
  await each.map(Array.from({ length: 100 }).keys(), async (n) => {
    const lease = (await fleets.take(
      name,
      { partition: partitionAt(n), fence: 0 },
      NODES[n % 4] as NodeKey,
      now,
    )) as Lease;
    if (isApart) await fleets.open(name, lease);
    await fleets.checkpoint(name, isApart ? apart(lease) : held(lease), 'x'.repeat(4_096), 1);
  });
  expect(await spent(() => fleets.read(name))).toEqual({ writes: 0, reads });
});

it('rows of nodes expire a day after their last heartbeat, leases and names never', async () => {
  const name = fleet('expiry');
  await settled(name);
  await fleets.beat(name, { key: A, beat: 1, ttl: 30_000, beatAt: now + 5_000 });
  const rowsUnder = async (key: string) => {
    const query = {
      TableName: resources.tables.fleet,
      KeyConditionExpression: 'Fleet = :key',
      ExpressionAttributeValues: { ':key': key },
      ConsistentRead: true,
    };
    return (await resources.clients.dynamodb.send(new QueryCommand(query))).Items ?? [];
  };
  const rows = await rowsUnder(name);
  const expiring = rows.filter(({ ExpiresAt }) => ExpiresAt !== undefined);
  expect(expiring.map(({ Entry }) => Entry)).toEqual(NODES.map((key) => `node#${key}`));
  const aDayAfter = (at: number): number => at / 1_000 + 24 * 3_600;
  const expected = [aDayAfter(now + 5_000), ...NODES.slice(1).map(() => aDayAfter(now))];
  // By DynamoDB's clock, of which its answers give the second.
  for (const [index, { ExpiresAt }] of expiring.entries())
    expect(Math.abs(ExpiresAt - (expected[index] as number))).toBeLessThan(5);
  // 64 leases, 4 nodes, and the row that keeps 0.2.0 out.
  expect(rows).toHaveLength(69);
  expect((await rowsUnder('~fleets')).map(({ ExpiresAt }) => ExpiresAt).filter((at) => at !== undefined)).toEqual([]);
});
