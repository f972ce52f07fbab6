/** A sealed list is complete with its last job. The progress of a list shows which jobs are left. */
import { describe, expect, it } from 'vitest';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { NOW } from '../factories/factories.ts';
import { atEachCut, dyingAt } from './cuts.ts';
import { DAY, holding, items, looks, TRACKER } from './ends-kit.ts';
import { expectWhole, LIST, MINUTE, result, tokensIn } from './kit.ts';

const FULL = { width: 450, acksAtOnce: 150 };

describe('a sealed list', () => {
  it('is complete with its last job, and reports that once', async () => {
    const kit = await holding(7);
    await kit.trigger(3);
    await kit.end(await kit.start(), 'failed');
    const { handle } = await kit.got('a', 2);
    expect(await seal(kit, TRACKER)).toMatchObject({ complete: false });
    await kit.complete(handle);
    expect(await kit.read(), 'two jobs are fresh').toMatchObject({ status: 'sealed' });
    const last = await kit.got('b', 9);
    expect(tokensIn(last)).toEqual([5, 6]);
    expect(await kit.complete(last.handle)).toEqual({ kind: 'done', complete: true });
    const data = { id: LIST, name: 'name', status: 'complete', because: 'all-done', total: 7, succeeded: 4, failed: 3 };
    expect(kit.sentCallbacks()).toMatchObject([{ id: `${LIST}.${NOW}.completed`, data }]);
    expect(await seal(kit, TRACKER)).toMatchObject({ complete: true });
    await kit.patrolFor(DAY / 2);
    expect(kit.sentCallbacks()).toHaveLength(1);
    expectWhole(kit);
  });

  it('is complete if all jobs are done before the seal, or without jobs (T9)', async () => {
    for (const count of [0, 1, 2, 3, 4, 9, 10, 28]) {
      const kit = await holding(count);
      await kit.end(items(kit, 0, count));
      expect(await kit.read()).toMatchObject({ status: 'open' });
      expect(await seal(kit, TRACKER), `of ${count} jobs`).toMatchObject({ complete: true });
      expect(kit.sentCallbacks()).toMatchObject([{ data: { total: count, succeeded: count, failed: 0 } }]);
    }
  });

  it('is complete with its last job, for any number and order of jobs (T9)', async () => {
    for (const count of [1, 449, 450, 451, 899, 900, 901, 1_350])
      for (const order of ['first to last', 'last to first', 'before the seal'] as const) {
        const kit = await holding(count, FULL);
        if (order !== 'before the seal') await seal(kit, TRACKER);
        const all = items(kit, 0, count);
        const inOrder = order === 'last to first' ? all.toReversed() : all;
        for (let at = 0; at < count; at += 100) {
          expect(await kit.read(), `${count} jobs, ${at} are done`).not.toHaveProperty('ended');
          await kit.end(inOrder.slice(at, at + 100));
        }
        if (order === 'before the seal') await seal(kit, TRACKER);
        expect(await kit.read(), `${count} jobs, ${order}`).toMatchObject({ status: 'complete', total: count });
        expect(kit.sentCallbacks()).toHaveLength(1);
      }
  });

  it('waits for jobs that were added after the last group was done (T9)', async () => {
    for (const [before, more] of [
      [1, 1],
      [2, 1],
      [3, 1],
      [3, 3],
      [5, 4],
      [9, 1],
      [9, 20],
    ] as const) {
      const kit = await holding(before);
      await kit.end(items(kit, 0, before));
      await kit.add(more, 'more');
      expect(await seal(kit, TRACKER), `${before} and ${more}`).toMatchObject({ complete: false });
      await kit.end(items(kit, before, more - 1));
      expect(await kit.read()).toMatchObject({ status: 'sealed' });
      await kit.end(items(kit, before + more - 1, 1));
      expect(await kit.read()).toMatchObject({ status: 'complete', ended: { failed: 0 } });
      expect(kit.sentCallbacks()).toMatchObject([{ data: { total: before + more } }]);
    }
  });

  it('is completed once by the patrol if the worker of the last jobs died', async () => {
    for (const count of [2, 3, 7, 28]) {
      const cuts = await atEachCut(async (n) => {
        const kit = await holding(count);
        const { handle } = await kit.got('a', count);
        await seal(kit, TRACKER);
        const { gate, isReached } = dyingAt(n, 'after');
        await kit
          .behind(gate)
          .complete(handle)
          .catch(() => {});
        await kit.patrolFor(5 * MINUTE);
        // Other workers do the jobs that the dead one did not do: some at a time, because one may have ended it.
        for (let n = 0; ; n += 1) {
          const next = await kit.claim(`b-${n}`, count);
          if (next.kind !== 'claimed') break;
          await kit.complete(next.handle);
        }
        expect(await kit.read()).toMatchObject({ status: 'complete', ended: { because: 'all-done', failed: 0 } });
        expect(new Set(kit.sentCallbacks().map(({ id }) => id)).size).toBe(1);
        return isReached();
      });
      expect(cuts).toBeGreaterThan(5);
    }
  });

  it('never expires while it waits', async () => {
    const kit = await holding(4);
    await seal(kit, TRACKER);
    kit.now += 90 * DAY;
    await kit.patrol();
    expect(await kit.read()).toMatchObject({ status: 'sealed' });
    expect(tokensIn(await kit.claim('a', 4))).toEqual([0, 1, 2, 3]);
  });
});

describe('the progress of a list', () => {
  it('adds up to its total, whichever workers have jobs', async () => {
    const kit = await holding(20);
    const [a, b] = [await kit.got('a', 5), await kit.got('b', 3)];
    await kit.trigger(4);
    await kit.complete(a.handle, [result(0), result(2, { outcome: 'failed' })]);
    await kit.release(b.handle);
    await kit.end((await kit.start()).slice(0, 1));
    expect(await looks(kit)).toEqual({ available: 11, leased: 3, started: 3, succeeded: 2, failed: 1 });
    kit.now += 5 * MINUTE;
    expect(await looks(kit), 'once the lease has ended').toEqual({
      ...{ available: 14, leased: 0, started: 3, succeeded: 2, failed: 1 },
    });
  });
});
