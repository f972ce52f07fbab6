import { describe, expect, it } from 'vitest';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { cancelRest, discard } from '../../src/steps/fan-outs/end.ts';
import { atEachCut, dyingAt, gateAt } from './cuts.ts';
import { expectWhole, LIST, listKit, MINUTE } from './kit.ts';

const TRACKER = `~${LIST}` as never;

describe('an append', () => {
  it('numbers jobs in the order in which they are added', async () => {
    const kit = listKit();
    await kit.open();
    expect(await kit.add(4)).toEqual({ kind: 'appended', first: 0, count: 4, total: 4 });
    expect(await kit.add(1)).toEqual({ kind: 'appended', first: 4, count: 1, total: 5 });
    expectWhole(kit);
  });

  it('adds the jobs of a token once, and always gives the same answer', async () => {
    const kit = listKit();
    await kit.open();
    const first = await kit.add(4, 'a');
    expect(await kit.add(4, 'a')).toEqual(first);
    await kit.add(2, 'b');
    expect(await kit.add(4, 'a')).toEqual({ ...first, total: 6 });
    expectWhole(kit);
  });

  it('refuses other jobs under a known token, and adds none', async () => {
    const kit = listKit();
    await kit.open();
    await kit.add(['x', 'y'], 'a');
    for (const others of [['x', 'z'], ['y', 'x'], ['x'], ['x', 'y', 'z']])
      expect(await kit.add(others, 'a')).toEqual({ kind: 'other-jobs' });
    expect(await kit.read()).toMatchObject({ total: 2 });
    expectWhole(kit);
  });

  it('refuses other jobs also under a token whose first jobs were never added', async () => {
    const kit = listKit();
    await kit.open();
    await expect(kit.behind(dyingAt(5, 'before').gate).add(['x'], 'a')).rejects.toThrow();
    expect(kit.tables.listAppends.size).toBe(1);
    expect(await kit.add(['z'], 'a')).toEqual({ kind: 'other-jobs' });
    expect(await kit.add(['x'], 'a')).toMatchObject({ kind: 'appended', first: 0 });
    expectWhole(kit);
  });

  for (const when of ['before', 'after'] as const)
    it(`that died ${when} any of its calls is done once by a repeat`, async () => {
      const cuts = await atEachCut(async (n) => {
        const kit = listKit();
        await kit.open();
        await kit.add(2, 'first');
        const { gate, isReached } = dyingAt(n, when);
        await kit
          .behind(gate)
          .add(4, 'a')
          .catch(() => {});
        expectWhole(kit);
        expect(await kit.add(4, 'a')).toEqual({ kind: 'appended', first: 2, count: 4, total: 6 });
        expectWhole(kit);
        return isReached();
      });
      expect(cuts).toBe(5);
    });

  it('that died and is repeated on a closed list reports whether it was done', async () => {
    let wasDone = 0;
    const cuts = await atEachCut(async (n) => {
      const kit = listKit();
      await kit.open();
      const { gate, isReached } = dyingAt(n, 'after');
      await kit
        .behind(gate)
        .add(4, 'a')
        .catch(() => {});
      await seal(kit, TRACKER);
      const { total } = await kit.read();
      const again = await kit.add(4, 'a');
      if (total === 4) expect(again).toEqual({ kind: 'appended', first: 0, count: 4, total: 4 });
      else expect(again).toEqual({ kind: 'closed', status: total === 0 ? 'complete' : 'sealed' });
      wasDone += total / 4;
      expectWhole(kit);
      return isReached();
    });
    expect([cuts, wasDone], 'its last call, and without any cut').toEqual([5, 2]);
  });

  it('by two processes under one token adds the jobs once, with one answer', async () => {
    const cuts = await atEachCut(async (n) => {
      const kit = listKit();
      await kit.open();
      let other: unknown;
      const { gate, isReached } = gateAt(n, 'before', async () => {
        other = await kit.add(4, 'a');
      });
      const answer = await kit.behind(gate).add(4, 'a');
      expect(answer).toEqual({ kind: 'appended', first: 0, count: 4, total: 4 });
      if (isReached()) expect(other).toEqual(answer);
      expectWhole(kit);
      return isReached();
    });
    expect(cuts).toBeGreaterThanOrEqual(5);
  });

  it('on a closed list reads again whether another attempt of its token was first', async () => {
    const kit = listKit();
    await kit.open();
    const { gate } = gateAt(2, 'before', async (call) => {
      expect(call).toBe('lists.read');
      await kit.add(4, 'a');
      await seal(kit, TRACKER);
    });
    expect(await kit.behind(gate).add(4, 'a')).toEqual({ kind: 'appended', first: 0, count: 4, total: 4 });
  });

  it('on a closed list is refused if its token has other jobs by then', async () => {
    const kit = listKit();
    await kit.open();
    const { gate } = gateAt(2, 'before', async () => {
      await kit.add(4, 'a');
      await seal(kit, TRACKER);
    });
    expect(await kit.behind(gate).add(5, 'a')).toEqual({ kind: 'other-jobs' });
  });

  it('by many processes under their own tokens gives each its own numbers', async () => {
    const kit = listKit();
    await kit.open();
    const sizes = [1, 2, 3, 4, 5, 6, 7, 8];
    const all = await Promise.all(sizes.map((size) => kit.add(size, `by-${size}`)));
    expect(all.map((each) => each.kind)).toEqual(sizes.map(() => 'appended'));
    expect(await kit.read()).toMatchObject({ total: 36, groups: 12 });
    expectWhole(kit);
  });

  it('to a sealed, cancelled or complete list adds nothing', async () => {
    for (const close of ['sealed', 'cancelled', 'complete'] as const) {
      const kit = listKit();
      const list = await kit.open();
      if (close !== 'complete') await kit.add(1, 'first');
      if (close === 'cancelled') await cancelRest(kit, list);
      else await seal(kit, list.id);
      expect(await kit.add(3, 'late')).toEqual({ kind: 'closed', status: close });
      expect(kit.tables.listJobs.size, 'no row, not even for a while').toBe(close === 'complete' ? 0 : 1);
      expectWhole(kit);
    }
  });

  it('to a deleted list is closed, also for a token that had its jobs', async () => {
    const kit = listKit();
    const list = await kit.open();
    await kit.add(3, 'a');
    await discard(kit, list);
    expect(await kit.add(3, 'a')).toEqual({ kind: 'closed', status: 'expired' });
    kit.now += MINUTE;
    await kit.patrol();
    expect(await kit.add(3, 'a')).toEqual({ kind: 'closed', status: 'expired' });
  });

  it('to an unknown list is unknown', async () => {
    expect(await listKit().add(1)).toEqual({ kind: 'unknown' });
  });

  it('throws ListBusy if other appends always win', async () => {
    const kit = listKit();
    await kit.open();
    kit.lists = { ...kit.lists, publish: async () => false };
    await expect(kit.add(1)).rejects.toMatchObject({ name: 'ListBusy', message: expect.stringContaining(LIST) });
  });
});
