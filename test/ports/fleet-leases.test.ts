/** Leases of partitions: taken, asked for, declined, handed over and pinned. */
import { expect, it } from 'vitest';
import { NOW } from '../factories/factories.ts';
import { held, partition } from '../factories/fleets.ts';
import { describeEach } from './describe-each.ts';
import { A, B, C, fleetsIn, newFleet, P, UNKNOWN } from './fleet-kit.ts';
import { storeKinds } from './stores.ts';

describeEach('fleets', storeKinds, (stores) => {
  const { store, leaseIn, owned } = fleetsIn(stores);

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
});
