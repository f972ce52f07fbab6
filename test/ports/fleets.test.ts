import { expect, it } from 'vitest';
import { CHECKPOINT_MAX_BYTES, type Lease } from '../../src/domain/fleets/fleet.ts';
import type { FleetName, NodeKey } from '../../src/domain/fleets/ids.ts';
import { NOW } from '../factories/factories.ts';
import { aNode, fleet, held, nodeOf, partition } from '../factories/fleets.ts';
import { describeEach } from './describe-each.ts';
import { fresh } from './names.ts';
import { storeKinds } from './stores.ts';

const [A, B, C] = [nodeOf('a'), nodeOf('b'), nodeOf('c')];
const P = partition('p-00');
const UNKNOWN = { partition: P, fence: 0 };

describeEach('fleets', storeKinds, (stores) => {
  const store = () => stores().fleets;
  const newFleet = (): FleetName => fleet(`f-${fresh().t(1)}`);
  const leaseIn = async (name: FleetName, id = P): Promise<Lease | undefined> =>
    (await store().read(name)).leases.find(({ partition }) => partition === id);
  const nodeIn = async (name: FleetName, key: NodeKey) =>
    (await store().read(name)).nodes.find((node) => node.key === key);
  /** A fleet in which node `a` owns the partition. */
  const owned = async (): Promise<{ name: FleetName; lease: Lease }> => {
    const name = newFleet();
    const lease = await store().take(name, UNKNOWN, A, NOW);
    if (!lease) throw new Error('it was not taken');
    return { name, lease };
  };

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

  it('give a new partition to the first node that takes it (P4)', async () => {
    const name = newFleet();
    const lease = { partition: P, owner: A, fence: 1, since: NOW };
    expect(await store().take(name, UNKNOWN, A, NOW)).toEqual(lease);
    expect(await store().take(name, UNKNOWN, B, NOW)).toBeUndefined();
    expect(await store().read(name)).toEqual({ nodes: [], leases: [lease] });
  });

  it('give a lease that several nodes saw to one of them (P4)', async () => {
    const name = newFleet();
    const taken = await Promise.all([A, B, C].map((by) => store().take(name, UNKNOWN, by, NOW)));
    const [winner, ...others] = taken.filter((lease) => lease !== undefined);
    expect(others).toEqual([]);
    expect(await leaseIn(name)).toEqual(winner);
  });

  it("give a dead owner's lease to a node that saw its last state (P4)", async () => {
    const { name, lease } = await owned();
    await store().checkpoint(name, held(lease), 'as far as this', 1);
    await store().ask(name, lease, C);
    expect(await store().take(name, { ...lease, owner: C }, B, NOW), 'of another owner').toBeUndefined();
    expect(await store().take(name, { ...lease, fence: 2 }, B, NOW), 'of another fence').toBeUndefined();
    expect(await store().take(name, { partition: P, fence: 1 }, B, NOW), 'without an owner').toBeUndefined();
    expect(await store().take(name, UNKNOWN, B, NOW), 'as if it were new').toBeUndefined();
    const taken = await store().take(name, lease, B, NOW + 9);
    expect(taken).toEqual({ partition: P, owner: B, fence: 2, since: NOW + 9, checkpoint: 'as far as this' });
    expect(await store().take(name, lease, C, NOW + 9), 'that was taken').toBeUndefined();
    expect(await leaseIn(name)).toEqual(taken);
  });

  it('note the first node that asks for a lease, and no other (P6)', async () => {
    const { name, lease } = await owned();
    expect(await store().ask(name, { ...lease, fence: 2 }, B), 'of another fence').toBe(false);
    expect(await store().ask(name, { ...lease, owner: C }, B), 'of another owner').toBe(false);
    expect(await store().ask(name, lease, B)).toBe(true);
    expect(await store().ask(name, lease, C)).toBe(false);
    expect(await leaseIn(name)).toEqual({ ...lease, next: B });
    expect(await store().ask(name, { ...lease, partition: partition('other') }, B), 'of none').toBe(false);
    expect(await leaseIn(name, partition('other'))).toBeUndefined();
  });

  it('let only the owner decline a request for its lease (P6)', async () => {
    const { name, lease } = await owned();
    await store().ask(name, lease, B);
    expect(await store().decline(name, { ...held(lease), owner: C }, B), 'another node').toBe(false);
    expect(await store().decline(name, { ...held(lease), fence: 9 }, B), 'another fence').toBe(false);
    expect(await store().decline(name, held(lease), C), 'another asker').toBe(false);
    expect(await leaseIn(name)).toEqual({ ...lease, next: B });
    expect(await store().decline(name, held(lease), B)).toBe(true);
    expect(await store().decline(name, held(lease), B), 'twice').toBe(false);
    expect(await leaseIn(name)).toEqual(lease);
  });

  it('hand a lease over with a higher fence; checkpoint and pin stay (P6)', async () => {
    const { name, lease } = await owned();
    await store().checkpoint(name, held(lease), 'c', 1);
    await store().pin(name, P, B);
    await store().ask(name, lease, B);
    expect(await store().handOver(name, { ...held(lease), fence: 0 }, B, NOW)).toBe(false);
    expect(await store().handOver(name, { ...held(lease), owner: C }, B, NOW)).toBe(false);
    expect(await store().handOver(name, held(lease), B, NOW + 7)).toBe(true);
    expect(await leaseIn(name)).toEqual({
      partition: P,
      owner: B,
      fence: 2,
      since: NOW + 7,
      pin: B,
      checkpoint: 'c',
    });
    expect(await store().handOver(name, held(lease), C, NOW + 8), 'twice').toBe(false);
  });

  it('hand a lease over without an owner, for any node to take (P6)', async () => {
    const { name, lease } = await owned();
    await store().checkpoint(name, held(lease), 'c', 1);
    await store().pin(name, P, B);
    await store().ask(name, lease, B);
    expect(await store().handOver(name, held(lease), undefined, NOW)).toBe(true);
    const free = { partition: P, fence: 1, pin: B, checkpoint: 'c' };
    expect(await leaseIn(name)).toEqual(free);
    expect(await store().handOver(name, held(lease), B, NOW), 'to a node after that').toBe(false);
    expect(await store().take(name, lease, B, NOW), 'as it was before').toBeUndefined();
    expect(await store().take(name, free, A, NOW + 1)).toEqual({ ...free, owner: A, fence: 2, since: NOW + 1 });
  });

  it("replace an owner's checkpoint by its next one (P8)", async () => {
    const { name, lease } = await owned();
    for (const [index, text] of ['', 'one', 'ü'.repeat(CHECKPOINT_MAX_BYTES / 2)].entries()) {
      expect(await store().checkpoint(name, held(lease), text, index + 1)).toBe(true);
      expect(await leaseIn(name)).toEqual({ ...lease, checkpoint: text, stored: index + 1 });
    }
  });

  it('keep the newer checkpoint if an older one is late or repeated (P8)', async () => {
    const { name, lease } = await owned();
    for (const [text, count] of [
      ['two', 2],
      ['one', 1],
      ['two again', 2],
    ] as const)
      expect(await store().checkpoint(name, held(lease), text, count), text).toBe(true);
    expect(await leaseIn(name)).toEqual({ ...lease, checkpoint: 'two', stored: 2 });
    await store().handOver(name, held(lease), B, NOW);
    expect(await store().checkpoint(name, held(lease), 'three', 3)).toBe(false);
    expect(await store().checkpoint(name, { partition: P, owner: B, fence: 2 }, 'its first', 1)).toBe(true);
    expect(await leaseIn(name)).toMatchObject({ owner: B, checkpoint: 'its first', stored: 1 });
  });

  it('refuse checkpoints of an earlier owner (P8)', async () => {
    const { name, lease } = await owned();
    const stale = () => store().checkpoint(name, held(lease), 'stale', 1);
    expect(await store().checkpoint(name, { ...held(lease), partition: partition('x') }, 'stale', 1), 'of none').toBe(
      false,
    );
    await store().ask(name, lease, B);
    expect(await stale(), 'while it is still its own').toBe(true);
    await store().handOver(name, held(lease), undefined, NOW);
    expect(await stale(), 'when it is free').toBe(false);
    const others = (await store().take(name, { partition: P, fence: 1 }, B, NOW)) as Lease;
    expect(await stale(), "when it is another's").toBe(false);
    await store().handOver(name, held(others), A, NOW);
    expect(await stale(), 'when it is its own again, with another fence').toBe(false);
    expect(await leaseIn(name)).toMatchObject({ owner: A, fence: 3, checkpoint: 'stale' });
    expect(await store().checkpoint(name, { partition: P, owner: A, fence: 3 }, 'new', 1)).toBe(true);
  });

  it('keep the checkpoint of an owner that opened it in a row of its own (P8)', async () => {
    const { name, lease } = await owned();
    expect(await store().open(name, lease)).toEqual({});
    const mine = { ...held(lease), checkpointApart: true } as const;
    for (const [text, count] of [
      ['', 1],
      ['ü'.repeat(CHECKPOINT_MAX_BYTES / 2), 3],
      ['late', 2],
      ['again', 3],
    ] as const)
      expect(await store().checkpoint(name, mine, text, count), text).toBe(true);
    expect(await store().checkpointOf(name, P)).toBe('ü'.repeat(CHECKPOINT_MAX_BYTES / 2));
    expect(await leaseIn(name), 'none of it is in the lease').toEqual({ ...lease, checkpointApart: true });
    expect(await store().checkpointOf(name, partition('other'))).toBeUndefined();
  });

  it("accept the former owner's checkpoints until the new owner opens its own (P8)", async () => {
    const { name, lease } = await owned();
    await store().open(name, lease);
    const before = { ...held(lease), checkpointApart: true } as const;
    expect(await store().checkpoint(name, before, 'one', 7)).toBe(true);
    const taken = (await store().take(name, { ...lease, checkpointApart: true }, B, NOW)) as Lease;
    expect(taken).toEqual({ ...lease, owner: B, fence: 2, checkpointApart: true });
    expect(await store().checkpoint(name, before, 'two', 8), 'taken, and not opened').toBe(true);
    for (const _ of ['once', 'again']) expect(await store().open(name, taken)).toEqual({ checkpoint: 'two' });
    expect(await store().checkpoint(name, before, 'three', 9), 'opened').toBe(false);
    const mine = { ...held(taken), checkpointApart: true } as const;
    expect(await store().checkpoint(name, mine, 'its first', 1)).toBe(true);
    expect(await store().open(name, taken), 'late, when it works').toEqual({ checkpoint: 'its first' });
    expect(await store().checkpoint(name, mine, 'late, too', 1)).toBe(true);
    expect(await store().checkpointOf(name, P)).toBe('its first');
    expect(await store().checkpoint(name, mine, 'its second', 2)).toBe(true);
    expect(await store().open(name, { ...lease, checkpointApart: true }), 'by the owner of before').toBeUndefined();
    expect(await store().checkpointOf(name, P)).toBe('its second');
  });

  it('move the checkpoint of a 0.2.0 lease into a row of its own (P8)', async () => {
    const { name, lease } = await owned();
    await store().checkpoint(name, held(lease), 'in the lease', 1);
    const seen = (await leaseIn(name)) as Lease;
    await store().pin(name, P, C);
    const taken = (await store().take(name, seen, B, NOW)) as Lease;
    expect(await store().open(name, seen), 'by the owner of before').toBeUndefined();
    expect((await leaseIn(name))?.checkpoint).toBe('in the lease');
    for (const _ of ['once', 'again']) expect(await store().open(name, taken)).toEqual({ checkpoint: 'in the lease' });
    expect(await leaseIn(name)).toEqual({ ...lease, owner: B, fence: 2, pin: C, checkpointApart: true });
    expect(await store().checkpointOf(name, P)).toBe('in the lease');
    expect(await store().checkpoint(name, held(lease), 'stale', 2)).toBe(false);
    expect(await store().handOver(name, held(taken), undefined, NOW)).toBe(true);
    expect(await leaseIn(name)).toEqual({ partition: P, fence: 2, pin: C, checkpointApart: true });
  });

  it('store checkpoints in separate rows if they are new, or on request', async () => {
    const [isNew, older] = [newFleet(), newFleet()];
    await store().join(isNew, aNode());
    expect((await store().read(isNew)).checkpointsApart).toBe(true);
    await store().take(older, UNKNOWN, A, NOW);
    expect((await store().read(older)).checkpointsApart).toBeUndefined();
    for (const _ of ['once', 'again']) await store().separate(older);
    expect(await store().read(older)).toMatchObject({ nodes: [], checkpointsApart: true });
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

  it('set and clear the pin of existing partitions only', async () => {
    const { name, lease } = await owned();
    expect(await store().pin(name, P, B)).toBe(true);
    expect(await store().pin(name, P, C)).toBe(true);
    expect(await leaseIn(name)).toEqual({ ...lease, pin: C });
    const taken = await store().take(name, lease, B, NOW);
    expect(taken).toEqual({ ...lease, owner: B, fence: 2, pin: C });
    for (const _ of ['once', 'again']) expect(await store().pin(name, P, undefined)).toBe(true);
    expect(await leaseIn(name)).toEqual({ ...lease, owner: B, fence: 2 });
    expect(await store().pin(name, partition('x'), B)).toBe(false);
    expect(await store().pin(name, partition('x'), undefined)).toBe(false);
    expect((await store().read(name)).leases).toHaveLength(1);
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
