import { describe, expect, it } from 'vitest';
import { itemIdOf } from '../../src/domain/fan-out-ids.ts';
import { SETTLED } from '../../src/domain/fan-outs/fan-out.ts';
import { itemOf, trackerOf } from '../../src/domain/lists/ids.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { cancelRest, discard } from '../../src/steps/fan-outs/end.ts';
import { patrolFanOuts } from '../../src/steps/fan-outs/patrol.ts';
import { listProgress } from '../../src/steps/lists/jobs.ts';
import { NOW } from '../factories/factories.ts';
import { atEachCut, dyingAt, gateAt } from './cuts.ts';
import {
  expectWhole,
  LIST,
  type ListKit,
  listKit,
  MINUTE,
  type Process,
  reportingOps,
  result,
  rowsLeft,
  tokensIn,
} from './kit.ts';

const TRACKER = `~${LIST}` as never;
const DAY = 24 * 60 * MINUTE;
const FULL = { width: 450, acksAtOnce: 150 };
const items = (kit: ListKit, first: number, count: number): string[] =>
  Array.from({ length: count }, (_, n) => itemIdOf(itemOf(LIST, first + n, kit.fanOuts.width)));
const holding = async (count: number, size = {}, config = reportingOps()): Promise<ListKit> => {
  const kit = listKit(size, config);
  await kit.open({ userKey: 'name' });
  for (let left = count, n = 0; left > 0; left -= 1_000, n += 1) await kit.add(Math.min(left, 1_000), `add${n}-`);
  return kit;
};
const cancel = async (by: Process) => cancelRest(by, await seen(by));
const remove = async (by: Process) => discard(by, await seen(by));
const seen = async ({ lists }: Process) => {
  const list = await lists.read(LIST);
  if (!list) throw new Error('there is no list');
  return list;
};
const looks = async (kit: ListKit) => listProgress(kit.fanOuts, await seen(kit), kit.now);

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
        // Another worker does the jobs that the dead one did not do.
        const next = await kit.claim('b', count);
        if (next.kind === 'claimed') await kit.complete(next.handle);
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

describe('a cancelled list', () => {
  it('hands out nothing more, and claimed or triggered jobs go on', async () => {
    const kit = await holding(9);
    const { handle } = await kit.got('a', 2);
    const over = await kit.got('b', 1);
    await kit.release(over.handle);
    await kit.trigger(3);
    expect(await cancel(kit)).toMatchObject({ status: 'cancelled' });
    expect(await kit.claim('c', 1)).toEqual({ kind: 'closed', status: 'cancelled' });
    expect(await kit.trigger(1, 'u')).toEqual({ kind: 'closed', status: 'cancelled' });
    expect(await kit.add(1)).toEqual({ kind: 'closed', status: 'cancelled' });
    expect(await seal(kit, TRACKER)).toMatchObject({ complete: false, fanOut: { status: 'cancelled' } });
    expect(tokensIn(await kit.claim('a', 2)), 'the claim keeps its jobs').toEqual([0, 1]);
    expect(await kit.renew(handle)).toMatchObject({ kind: 'renewed' });
    const tasks = await kit.start();
    expect(tasks).toHaveLength(3);
    await kit.end(tasks);
    expect(await kit.complete(handle, [result(0), result(1, { outcome: 'failed' })])).toMatchObject({ kind: 'done' });
    expect(await looks(kit)).toEqual({ available: 0, leased: 0, started: 0, succeeded: 4, failed: 1 });
    expect([await kit.read(), kit.sentCallbacks()]).toMatchObject([{ status: 'cancelled' }, []]);
    expectWhole(kit);
  });

  it('loses its rows when its time is over', async () => {
    const kit = await holding(9);
    await kit.end(items(kit, 0, 4));
    await cancel(kit);
    await kit.patrolFor(DAY - MINUTE);
    expect(rowsLeft(kit)).toBeGreaterThan(10);
    kit.now += 2 * MINUTE;
    await kit.patrol();
    expect(rowsLeft(kit)).toBe(0);
    expect(await kit.read(), 'the header remains').toMatchObject({ status: 'cancelled' });
  });

  it('gets no ack row shortly before or after its rows are deleted', async () => {
    const kit = await holding(9);
    await kit.trigger(9);
    // Three groups, one task of each.
    const [early, late, tooLate] = (await kit.start()).filter((_, job) => job % 3 === 0) as [string, string, string];
    await cancel(kit);
    kit.now += DAY - SETTLED - 1;
    const before = rowsLeft(kit);
    await kit.end([early]);
    expect(rowsLeft(kit)).toBe(before + 1);
    kit.now += 1;
    await kit.end([late]);
    expect(rowsLeft(kit)).toBe(before + 1);
    await kit.patrolFor(DAY);
    await kit.end([tooLate]);
    expect(rowsLeft(kit)).toBe(0);
  });

  it('is unknown to claims once its rows are gone, and reports no stale counts', async () => {
    const kit = await holding(9);
    await kit.got('a', 3);
    await cancel(kit);
    kit.now += 24 * 60 * MINUTE;
    await kit.patrolFor(2 * MINUTE);
    expect(rowsLeft(kit)).toBe(0);
    expect(await kit.claim('a', 3)).toEqual({ kind: 'unknown' });
    expect(await looks(kit)).toEqual({ available: 0, leased: 0, failed: 0 });
  });
});

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

describe('the id of an ended list', () => {
  const freeAt = async (end: (kit: ListKit) => Promise<unknown>, keepTasks: number): Promise<number | undefined> => {
    const config = reportingOps();
    const operations = Object.entries(config.operations).map(([name, each]) => [name, { ...each, keepTasks }]);
    const kit = listKit({}, { ...config, operations: Object.fromEntries(operations) });
    await kit.open();
    await end(kit);
    const { bury } = kit.fanOuts;
    let free: number | undefined;
    kit.fanOuts.bury = (id, expires) => {
      free = expires;
      return bury(id, expires);
    };
    await kit.patrol();
    kit.now += DAY + MINUTE;
    await kit.patrol();
    return free;
  };

  it('stays taken while tasks named after it are stored', async () => {
    for (const end of [remove, cancel, (kit: ListKit) => seal(kit, TRACKER)])
      expect(await freeAt(end, 30 * DAY)).toBe(NOW + 30 * DAY);
  });

  it('stays taken while the list can be read, if that is longer', async () => {
    expect(await freeAt(cancel, MINUTE)).toBe(NOW + DAY + MINUTE);
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
