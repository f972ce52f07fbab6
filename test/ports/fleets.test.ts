/** Fleets as a whole, and their nodes: listed, read, joined, kept alive, evicted and drained. */
import { expect, it } from 'vitest';
import { CHECKPOINT_MAX_BYTES, type Lease } from '../../src/domain/fleets/fleet.ts';
import type { FleetName, NodeKey } from '../../src/domain/fleets/ids.ts';
import { NOW } from '../factories/factories.ts';
import { aNode, fleet, held, nodeOf, partition } from '../factories/fleets.ts';
import { describeEach } from './describe-each.ts';
import { A, B, fleetsIn, newFleet, UNKNOWN } from './fleet-kit.ts';
import { storeKinds } from './stores.ts';

describeEach('fleets', storeKinds, (stores) => {
  const { store } = fleetsIn(stores);
  const nodeIn = async (name: FleetName, key: NodeKey) =>
    (await store().read(name)).nodes.find((node) => node.key === key);

  it('without a node have no rows and no name', async () => {
    const name = newFleet();
    expect(await store().read(name)).toEqual({ nodes: [], leases: [] });
    expect(await store().names()).not.toContain(name);
  });

  it('are listed by name once a node has joined, even after all have left', async () => {
    const [one, two] = [newFleet(), newFleet()];
    await store().join(two, aNode());
    await store().join(one, aNode());
    await store().leave(one, A);
    const names = await store().names();
    expect(names.filter((name) => name === one || name === two)).toEqual([one, two].toSorted());
    expect(await store().read(one)).toEqual({ nodes: [], leases: [], checkpointsApart: true });
  });

  it('show the nodes that joined, with their fields', async () => {
    const name = newFleet();
    const [a, b] = [
      aNode({ key: A, ttl: 41_000, readsApart: true }),
      aNode({ key: B, startedAt: NOW + 1, beatAt: NOW + 2 }),
    ];
    await store().join(name, b);
    await store().join(name, a);
    expect(await store().read(name)).toEqual({ nodes: [a, b], leases: [], checkpointsApart: true });
  });

  it('let a node join once: a repeated join undoes no eviction', async () => {
    const name = newFleet();
    await store().join(name, aNode());
    await store().beat(name, { key: A, beat: 1, ttl: 60_000, beatAt: NOW + 5 });
    await store().join(name, aNode());
    expect(await nodeIn(name, A)).toEqual(aNode({ beat: 1, ttl: 60_000, beatAt: NOW + 5 }));
    expect(await store().evict(name, A, 1, NOW)).toBe(true);
    await store().join(name, aNode());
    expect(await nodeIn(name, A)).toMatchObject({ beat: 1, evicted: true });
  });

  it('accept a heartbeat, and its repetition (P1)', async () => {
    const name = newFleet();
    await store().join(name, aNode());
    const beat = { key: A, beat: 1, ttl: 36_000, beatAt: NOW + 5_000 };
    for (const _ of ['once', 'again']) expect(await store().beat(name, beat)).toBe(true);
    expect(await nodeIn(name, A)).toEqual(aNode(beat));
  });

  it('keep the newer heartbeat if an older one arrives late (P1)', async () => {
    const name = newFleet();
    await store().join(name, aNode());
    const [early, late] = [
      { key: A, beat: 1, ttl: 30_000, beatAt: NOW + 5_000 },
      { key: A, beat: 2, ttl: 90_000, beatAt: NOW + 15_000 },
    ];
    expect(await store().beat(name, late)).toBe(true);
    expect(await store().beat(name, early), 'its node is alive all the same').toBe(true);
    expect(await nodeIn(name, A)).toEqual(aNode(late));
  });

  it('remember that a node is about to leave', async () => {
    const name = newFleet();
    await store().join(name, aNode());
    const beat = { key: A, ttl: 30_000, beatAt: NOW };
    expect(await store().beat(name, { ...beat, beat: 1, leaving: true })).toBe(true);
    expect(await store().beat(name, { ...beat, beat: 2 })).toBe(true);
    expect(await nodeIn(name, A)).toEqual(aNode({ beat: 2, leaving: true }));
  });

  it('remember that a node restarts, although an older heartbeat arrives late (P13)', async () => {
    const name = newFleet();
    await store().join(name, aNode({ restartWithin: 60_000 }));
    const last = { key: A, beat: 5, ttl: 60_000, beatAt: NOW + 9_000, restarting: true } as const;
    expect(await store().beat(name, last)).toBe(true);
    expect(await store().beat(name, { key: A, beat: 4, ttl: 30_000, beatAt: NOW + 8_000 })).toBe(true);
    expect(await nodeIn(name, A)).toEqual(aNode({ restartWithin: 60_000, ...last }));
  });

  it('refuse every heartbeat of an evicted node (P3)', async () => {
    const name = newFleet();
    await store().join(name, aNode());
    const beat = (n: number) => store().beat(name, { key: A, beat: n, ttl: 30_000, beatAt: NOW + n });
    expect(await beat(1)).toBe(true);
    expect(await store().evict(name, A, 1, NOW)).toBe(true);
    for (const n of [0, 1, 2]) expect([n, await beat(n)]).toEqual([n, false]);
    expect(await nodeIn(name, A)).toEqual(aNode({ beat: 1, beatAt: NOW + 1, evicted: true }));
  });

  it('refuse the heartbeat of a node without a row, and write no row', async () => {
    const name = newFleet();
    await store().join(name, aNode());
    for (const _ of ['once', 'again']) await store().leave(name, A);
    expect(await store().beat(name, { key: A, beat: 1, ttl: 30_000, beatAt: NOW })).toBe(false);
    expect(await store().read(name)).toEqual({ nodes: [], leases: [], checkpointsApart: true });
  });

  it('evict a node once, and not after a newer heartbeat (P3)', async () => {
    const name = newFleet();
    expect(await store().evict(name, A, 0, NOW), 'one that is not there').toBe(false);
    await store().join(name, aNode());
    await store().beat(name, { key: A, beat: 1, ttl: 30_000, beatAt: NOW });
    expect(await store().evict(name, A, 0, NOW)).toBe(false);
    expect(await nodeIn(name, A)).toEqual(aNode({ beat: 1 }));
    expect(await store().evict(name, A, 1, NOW)).toBe(true);
    expect(await store().evict(name, A, 1, NOW), 'twice').toBe(false);
  });

  it('set and clear the drain mark of existing nodes, also of evicted ones', async () => {
    const name = newFleet();
    await store().join(name, aNode());
    for (const _ of ['once', 'again']) expect(await store().drain(name, A, true)).toBe(true);
    expect(await nodeIn(name, A)).toEqual(aNode({ draining: true }));
    expect(await store().beat(name, { key: A, beat: 1, ttl: 30_000, beatAt: NOW })).toBe(true);
    expect(await nodeIn(name, A)).toEqual(aNode({ beat: 1, draining: true }));
    for (const _ of ['once', 'again']) expect(await store().drain(name, A, false)).toBe(true);
    expect(await nodeIn(name, A)).toEqual(aNode({ beat: 1 }));
    expect(await store().drain(name, B, true)).toBe(false);
    expect(await store().drain(name, B, false)).toBe(false);
    await store().evict(name, A, 1, NOW);
    expect(await store().drain(name, A, true)).toBe(true);
    expect(await store().read(name)).toEqual({
      nodes: [aNode({ beat: 1, evicted: true, draining: true })],
      leases: [],
      checkpointsApart: true,
    });
  });

  it('are read whole, beyond a megabyte, sorted by name', async () => {
    const name = newFleet();
    const names = Array.from({ length: 300 }, (_, n) => partition(`p-${String(n).padStart(3, '0')}`));
    for (let from = 0; from < names.length; from += 20)
      await Promise.all(
        names.slice(from, from + 20).map(async (id) => {
          const lease = (await store().take(name, { partition: id, fence: 0 }, A, NOW)) as Lease;
          await store().checkpoint(name, held(lease), `${id}:`.padEnd(CHECKPOINT_MAX_BYTES, 'x'), 1);
        }),
      );
    await store().join(name, aNode({ key: B }));
    await store().join(name, aNode({ key: A }));
    const { nodes, leases } = await store().read(name);
    expect(nodes.map(({ key }) => key)).toEqual([A, B]);
    expect(leases.map((lease) => lease.partition)).toEqual(names);
    expect(leases.map(({ checkpoint }) => [checkpoint?.slice(0, 6), checkpoint?.length])).toEqual(
      names.map((id) => [`${id}:`, CHECKPOINT_MAX_BYTES]),
    );
  });

  it('of one table are separate, even if one name begins with another', async () => {
    const one = newFleet();
    const two = fleet(`${one}:node`);
    await store().join(one, aNode());
    const mine = (await store().take(one, UNKNOWN, A, NOW)) as Lease;
    expect(await store().read(two)).toEqual({ nodes: [], leases: [] });
    const theirs = (await store().take(two, UNKNOWN, B, NOW + 1)) as Lease;
    expect(await store().checkpoint(two, held(mine), 'mine', 1)).toBe(false);
    expect(await store().drain(two, A, true)).toBe(false);
    expect(await store().beat(two, { key: A, beat: 1, ttl: 30_000, beatAt: NOW })).toBe(false);
    await store().leave(two, A);
    expect(await store().read(one)).toEqual({ nodes: [aNode()], leases: [mine], checkpointsApart: true });
    expect(await store().read(two)).toEqual({ nodes: [], leases: [theirs] });
  });

  it('accept every valid name, and return it unchanged', async () => {
    const name = fleet(`${newFleet()}.A_b:c-${'x'.repeat(60)}`);
    const partitions = ['0', 'A', 'a', 'Z.z', 'a-b', 'a.b', 'a:b', 'a_b', 'lease', 'node', '9'.repeat(128)].map(
      partition,
    );
    const keys = ['n@0', 'N.1:x_y-z@01jd', `${'n'.repeat(64)}@${'z'.repeat(26)}`].map(nodeOf);
    for (const key of keys) await store().join(name, aNode({ key }));
    for (const id of partitions) {
      const owner = keys[partitions.indexOf(id) % keys.length] as NodeKey;
      await store().take(name, { partition: id, fence: 0 }, owner, NOW);
    }
    const { nodes, leases } = await store().read(name);
    expect(nodes.map(({ key }) => key)).toEqual(keys.toSorted());
    expect(leases.map((lease) => lease.partition)).toEqual(partitions.toSorted());
    expect(new Set(leases.map(({ owner }) => owner))).toEqual(new Set(keys));
    expect(await store().names()).toContain(name);
  });
});
