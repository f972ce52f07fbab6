/** A deleted list leaves no row behind, whatever other processes do at that moment. */
import { describe, expect, it } from 'vitest';
import { SETTLED } from '../../src/domain/fan-outs/fan-out.ts';
import { trackerOf } from '../../src/domain/lists/ids.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { discard } from '../../src/steps/fan-outs/end.ts';
import { patrolFanOuts } from '../../src/steps/fan-outs/patrol.ts';
import { atEachCut, gateAt } from './cuts.ts';
import { holding, items, remove, TRACKER } from './ends-kit.ts';
import { type ListKit, MINUTE, type Process, result, rowsLeft } from './kit.ts';

describe('a deleted list', () => {
  const empty = async (kit: ListKit): Promise<void> => {
    await kit.patrol();
    kit.now += SETTLED + MINUTE;
    await kit.patrol();
    expect(rowsLeft(kit)).toBe(0);
    expect(kit.sentCallbacks()).toEqual([]);
  };

  it('leaves no row behind', async () => {
    const kit = await holding(30);
    const { handle } = await kit.got('a', 5);
    await kit.complete(handle, [result(1, { result: '1' })]);
    await kit.trigger(7);
    await kit.end((await kit.start()).slice(2));
    expect(rowsLeft(kit)).toBeGreaterThan(30);
    expect(await remove(kit)).toMatchObject({ status: 'expired', ended: { because: 'deleted' } });
    const before = rowsLeft(kit);
    await kit.end(items(kit, 20, 1));
    expect(rowsLeft(kit)).toBe(before);
    await empty(kit);
    await kit.end(items(kit, 20, 1));
    expect(rowsLeft(kit)).toBe(0);
  });

  const amid: Readonly<Record<string, (by: Process, kit: ListKit) => Promise<unknown>>> = {
    'an append': (by) => by.add(5, 'more'),
    'a claim': (by) => by.claim('b', 5),
    'a completion': async (by, kit) =>
      by.complete(
        (await kit.got('a', 4)).handle,
        [0, 1, 2, 3].map((job) => result(job, { result: '1' })),
      ),
    'a trigger': (by) => by.trigger(5),
    'a seal': (by) => seal(by, TRACKER),
  };
  for (const [name, step] of Object.entries(amid))
    it(`leaves no row if deleted during ${name}, which may go on or die`, async () => {
      let cuts = 0;
      for (const then of ['goes on', 'dies', 'died before the patrol']) {
        cuts = await atEachCut(async (n) => {
          const kit = await holding(9);
          await kit.got('a', 4);
          const { gate, isReached } = gateAt(n, 'before', async () => {
            await remove(kit);
            if (then !== 'died before the patrol') await kit.patrol();
            if (then !== 'goes on') throw new Error('gone');
          });
          await step(kit.behind(gate), kit).catch((cause: Error) => expect(cause.message).toBe('gone'));
          await kit.start();
          if (!isReached()) await remove(kit);
          await empty(kit);
          return isReached();
        });
        expect(cuts).toBeGreaterThan(0);
      }
    });

  it('is cleared after completion, with its event sent once', async () => {
    const kit = await holding(3);
    await seal(kit, TRACKER);
    await kit.complete((await kit.got('a', 3)).handle);
    expect(kit.sentCallbacks()).toHaveLength(1);
    expect(await remove(kit)).toMatchObject({ status: 'expired' });
    await kit.patrol();
    kit.now += SETTLED + MINUTE;
    await kit.patrol();
    expect(rowsLeft(kit)).toBe(0);
    expect(kit.sentCallbacks()).toHaveLength(1);
  });

  it('is cleared in parts if time is short', async () => {
    const kit = await holding(30);
    await kit.end(items(kit, 0, 30));
    await remove(kit);
    const { clear } = kit.lists;
    let asked = 0;
    kit.lists = {
      ...kit.lists,
      clear: (id, groups, from, how) => {
        asked += 1;
        return asked % 3 === 0 ? clear(id, groups, from, how) : Promise.resolve(from);
      },
    };
    await kit.patrolFor(SETTLED + 10 * MINUTE);
    expect(rowsLeft(kit)).toBe(0);
    expect((await kit.read()).checkAt).toBeUndefined();
  });

  it('is cleared in a number of sweeps that only grows with its length', async () => {
    const kit = await holding(120, { width: 3, acksAtOnce: 2 });
    for (const worker of ['a', 'b', 'c']) {
      const { handle, jobs } = await kit.got(worker, 40);
      await kit.complete(
        handle,
        jobs.map(({ token }) => result(token, { result: 'true' })),
      );
    }
    await remove(kit);
    kit.now += SETTLED + MINUTE;
    let sweeps = 0;
    for (; rowsLeft(kit) > 0 && sweeps < 100; sweeps += 1, kit.now += MINUTE) {
      let looks = 6;
      await patrolFanOuts(kit, () => {
        looks -= 1;
        return looks > 0;
      });
    }
    // Each sweep clears some of the 40 groups.
    expect(sweeps).toBeLessThan(30);
    expect(rowsLeft(kit)).toBe(0);
  });

  it('leaves no row behind even if clearing lasts until late writes end', async () => {
    for (const isDoneAtOnce of [true, false]) {
      const kit = await holding(9);
      await discard(kit, await kit.read());
      const { clear } = kit.lists;
      let asked = 0;
      kit.lists = {
        ...kit.lists,
        clear: async (id, groups, from, how) => {
          asked += 1;
          if (asked > 1) return clear(id, groups, from, how);
          // A function that read the list before its end is writing an ack.
          await kit.fanOuts.putNode(trackerOf(id), { level: 0, n: 1 }, { slots: new Map(), failed: 0, at: kit.now });
          const rest = await clear(id, groups, from, how);
          kit.now += SETTLED;
          return isDoneAtOnce ? rest : groups;
        },
      };
      await kit.patrolFor(SETTLED + 10 * MINUTE);
      expect(rowsLeft(kit), isDoneAtOnce ? 'at once' : 'in parts').toBe(0);
      expect((await kit.read()).checkAt).toBeUndefined();
    }
  });
});
