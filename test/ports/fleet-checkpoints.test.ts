/** Checkpoints of partitions, in the lease or in a row of their own. */
import { expect, it } from 'vitest';
import { CHECKPOINT_MAX_BYTES, type Lease } from '../../src/domain/fleets/fleet.ts';
import { NOW } from '../factories/factories.ts';
import { aNode, held, partition } from '../factories/fleets.ts';
import { describeEach } from './describe-each.ts';
import { A, B, C, fleetsIn, newFleet, P, UNKNOWN } from './fleet-kit.ts';
import { storeKinds } from './stores.ts';

describeEach('fleets', storeKinds, (stores) => {
  const { store, leaseIn, owned } = fleetsIn(stores);

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
});
