import { describe, expect, it } from 'vitest';
import { numbered } from '../../src/domain/fan-out-ids.ts';
import { type FanOut, isTooMany, TOLERATED_MAX } from '../../src/domain/fan-outs/fan-out.ts';
import type { Position } from '../../src/domain/fan-outs/tree.ts';
import type { FanOuts } from '../../src/ports/fan-outs.ts';
import { noteFails, seal } from '../../src/steps/fan-outs/complete.ts';
import { itemsWith } from '../../src/steps/fan-outs/items.ts';
import { progressOf } from '../../src/steps/fan-outs/progress.ts';
import { NOW } from '../factories/factories.ts';
import { FAN_OUT, type FanOutKit, fanOutKit, itemsOf, token } from './kit.ts';

/** Runs `then` once, just before or after a call on the store. */
const once = <Name extends keyof FanOuts>(
  kit: FanOutKit,
  name: Name,
  when: 'before' | 'after',
  then: () => Promise<unknown>,
): void => {
  const inner = kit.fanOuts;
  const call = inner[name] as (...args: unknown[]) => Promise<unknown>;
  kit.fanOuts = {
    ...inner,
    [name]: async (...args: unknown[]) => {
      kit.fanOuts = inner;
      if (when === 'before') await then();
      const answer = await call(...args);
      if (when === 'after') await then();
      return answer;
    },
  };
};

/** The call takes effect, and its answer is lost. */
const lost = () => Promise.reject(new Error('reply lost'));

describe('an add', () => {
  it('takes groups of its own, the last one only as large as needed', async () => {
    const kit = fanOutKit();
    await kit.open();
    expect(await kit.add(7)).toEqual({
      kind: 'added',
      groups: [
        { n: 0, size: 3 },
        { n: 1, size: 3 },
        { n: 2, size: 1 },
      ],
    });
    expect(await kit.add(1)).toEqual({ kind: 'added', groups: [{ n: 3, size: 1 }] });
    expect(await kit.read()).toMatchObject({ groups: 4, total: 8 });
  });

  it('that is repeated with its token adds nothing, and returns the same answer', async () => {
    const kit = fanOutKit();
    await kit.open();
    const first = await kit.add(4, 'a');
    await kit.ack(['0:0']);
    expect(await kit.add(4, 'a')).toEqual(first);
    expect(await kit.read()).toMatchObject({ total: 4 });
    expect(await progressOf(kit.fanOuts, await kit.read()), 'acked items stay acked').toMatchObject({ succeeded: 1 });
    expect(await kit.add(5, 'a')).toEqual({ kind: 'other-count', count: 4 });
  });

  for (const call of ['reserve', 'putGroups'] as const)
    it(`whose reply is lost after ${call} adds no items when it is repeated`, async () => {
      const kit = fanOutKit();
      await kit.open();
      once(kit, call, 'after', lost);
      await expect(kit.add(4, 'a')).rejects.toThrow('reply lost');
      await seal(kit, FAN_OUT);
      const items = itemsOf(await kit.add(4, 'a'));
      expect(await kit.read()).toMatchObject({ total: 4 });
      expect((await kit.ack(items)).fanOuts).toEqual([{ id: FAN_OUT, complete: true }]);
    });

  it('after a concurrent seal is refused and adds nothing', async () => {
    const kit = fanOutKit();
    await kit.open();
    once(kit, 'reserve', 'before', () => seal(kit, FAN_OUT));
    expect(await kit.add(4)).toEqual({ kind: 'closed', status: 'complete' });
    expect(await kit.read()).toMatchObject({ status: 'complete', total: 0 });
    expect(await kit.fanOuts.reservation(FAN_OUT, token('add-1'))).toBeUndefined();
  });

  it('before a concurrent seal counts', async () => {
    const kit = fanOutKit();
    await kit.open();
    let items: string[] = [];
    once(kit, 'seal', 'before', async () => {
      items = itemsOf(await kit.add(4));
    });
    expect(await seal(kit, FAN_OUT)).toMatchObject({ complete: false });
    expect((await kit.ack(items)).fanOuts).toEqual([{ id: FAN_OUT, complete: true }]);
  });

  it('that was counted before the seal reports that, even if it reads after the seal', async () => {
    const kit = fanOutKit();
    await kit.open();
    once(kit, 'reservation', 'after', async () => {
      await kit.add(4, 'a');
      await seal(kit, FAN_OUT);
    });
    expect(await kit.add(4, 'a')).toMatchObject({ kind: 'added' });
    expect(await kit.read()).toMatchObject({ total: 4 });
  });

  it('that races others for the next groups gets its own', async () => {
    const kit = fanOutKit();
    await kit.open();
    const added = await Promise.all(Array.from({ length: 10 }, () => kit.add(4)));
    const items = added.flatMap(itemsOf);
    expect(new Set(items).size).toBe(40);
    expect(await kit.read()).toMatchObject({ total: 40, groups: 20 });
  });

  it('to an unknown or expired fan-out adds nothing', async () => {
    const kit = fanOutKit();
    expect(await kit.add(4)).toEqual({ kind: 'unknown' });
    await kit.open();
    const end = { status: 'expired', from: ['open'], because: 'idle', failed: 0, at: NOW, checkAt: NOW } as const;
    await kit.fanOuts.end(FAN_OUT, end);
    expect(await kit.add(4)).toEqual({ kind: 'closed', status: 'expired' });
  });

  it('after a concurrent expiry leaves no rows behind', async () => {
    const kit = fanOutKit();
    await kit.open();
    const end = { status: 'expired', from: ['open'], because: 'idle', failed: 0, at: NOW, checkAt: NOW } as const;
    once(kit, 'putGroups', 'before', () => kit.fanOuts.end(FAN_OUT, end));
    expect(await kit.add(4)).toEqual({ kind: 'closed', status: 'expired' });
    expect(await kit.fanOuts.node(FAN_OUT, { level: 0, n: 0 })).toBeUndefined();
  });
});

describe('the last ack', () => {
  const nearlyDone = async (): Promise<FanOutKit> => {
    const kit = fanOutKit();
    await kit.open();
    const items = itemsOf(await kit.add(11));
    await kit.ack(items.slice(0, -1));
    return kit;
  };

  // The seal happens just before or after the read of the header that follows the write of a node.
  for (const when of ['before', 'after'] as const)
    for (const call of ['ack', 'read'] as const)
      it(`completes the fan-out although it races the seal (${when} ${call})`, async () => {
        const kit = await nearlyDone();
        const sealed: unknown[] = [];
        once(kit, call, when, async () => sealed.push(await seal(kit, FAN_OUT)));
        const { fanOuts } = await kit.ack(['3:1']);
        expect(await kit.read()).toMatchObject({ status: 'complete' });
        expect([...fanOuts, ...sealed], 'one of the two answers shows the completion').toContainEqual(
          expect.objectContaining({ complete: true }),
        );
        expect(kit.sentCallbacks()).toHaveLength(1);
      });

  for (const call of ['ack', 'putNode', 'read', 'end'] as const)
    it(`that stops after ${call} is completed by its repeat`, async () => {
      const kit = await nearlyDone();
      await seal(kit, FAN_OUT);
      once(kit, call, 'after', lost);
      await kit.ack(['3:1']).catch(() => {});
      expect((await kit.ack(['3:1'])).fanOuts).toEqual([{ id: FAN_OUT, complete: true }]);
      expect(await kit.read()).toMatchObject({ status: 'complete', ended: { failed: 0 } });
    });

  it('completes the fan-out once if it arrives twice at the same time', async () => {
    const kit = await nearlyDone();
    await seal(kit, FAN_OUT);
    const answers = await Promise.all([kit.ack(['3:1']), kit.ack(['3:1'], 'failed'), kit.ack(['3:1'])]);
    for (const { fanOuts } of answers) expect(fanOuts).toEqual([{ id: FAN_OUT, complete: true }]);
    expect(kit.events.filter(({ event }) => event === 'fan-out-ended')).toHaveLength(1);
    expect(new Set(kit.sentCallbacks().map(({ id }) => id)).size).toBe(1);
  });
});

describe('fail fast', () => {
  it('completes after one failure more than tolerated, open or sealed', async () => {
    for (const isSealed of [false, true]) {
      const kit = fanOutKit();
      await kit.open({ failFast: { count: 2 }, userKey: 'u' });
      await kit.add(10);
      if (isSealed) await seal(kit, FAN_OUT);
      await kit.ack(['0:0', '0:1'], 'failed');
      await kit.ack(['0:0', '0:1'], 'failed');
      expect(await kit.read()).toMatchObject({ status: isSealed ? 'sealed' : 'open' });
      const { fanOuts } = await kit.ack(['2:2'], 'failed');
      expect(fanOuts).toEqual([{ id: FAN_OUT, complete: true, userKey: 'u' }]);
      expect(kit.sentCallbacks()).toMatchObject([
        { id: `f.${NOW}.completed`, data: { because: 'too-many-failed', failed: 3, total: 10 } },
      ]);
      expect(kit.sentCallbacks()[0]?.data).not.toHaveProperty('succeeded');
      expect(await kit.add(1)).toEqual({ kind: 'closed', status: 'complete' });
      expect(await seal(kit, FAN_OUT)).toMatchObject({ complete: true });
    }
  });

  it('tolerates as many failures as a row can hold, and no more', async () => {
    for (const [failed, status] of [
      [TOLERATED_MAX, 'open'],
      [TOLERATED_MAX + 1, 'complete'],
      [TOLERATED_MAX + 20, 'complete'],
    ] as const)
      for (const atOnce of [true, false]) {
        const kit = fanOutKit(undefined, TOLERATED_MAX + 50);
        await kit.open({ failFast: { count: TOLERATED_MAX } });
        const items = itemsOf(await kit.add(TOLERATED_MAX + 30)).slice(0, failed);
        if (atOnce) await noteFails(kit, FAN_OUT, 0, [...items.keys()]);
        else for (const item of items) await kit.ack([item], 'failed');
        expect([failed, atOnce, (await kit.read()).status]).toEqual([failed, atOnce, status]);
      }
  });

  it('that stopped before it noted the items is completed by a repeated ack', async () => {
    const kit = fanOutKit();
    await kit.open({ failFast: { count: 0 } });
    await kit.add(10);
    once(kit, 'noteFails', 'before', lost);
    await expect(kit.ack(['0:0'], 'failed')).rejects.toThrow('reply lost');
    expect((await kit.ack(['0:0'])).fanOuts).toMatchObject([{ complete: true }]);
  });

  it('by share waits for the seal, which fixes the number of items', async () => {
    const kit = fanOutKit();
    await kit.open({ failFast: { share: 0.25 } });
    await kit.add(8);
    await kit.ack(['0:0', '0:1', '0:2'], 'failed');
    expect(await kit.read()).toMatchObject({ status: 'open' });
    expect(await seal(kit, FAN_OUT)).toMatchObject({ complete: true });
    expect(kit.sentCallbacks()).toMatchObject([{ data: { because: 'too-many-failed', failed: 3 } }]);
  });

  it('by share tolerates exactly that share of all items', () => {
    const [id, fails] = [FAN_OUT, []];
    for (let percent = 0; percent <= 100; percent += 1)
      for (const total of [0, 1, 50, 100, 700, 45_000]) {
        const fanOut: FanOut = {
          ...{ id, fails, total, createdAt: NOW, touchedAt: NOW, status: 'sealed', groups: 1, version: 1 },
          failFast: { share: percent / 100 },
        };
        const most = Math.floor((percent * total) / 100);
        expect([isTooMany(fanOut, most), isTooMany(fanOut, most + 1)], `${percent}% of ${total}`).toEqual([
          false,
          true,
        ]);
      }
  });

  it('by a share that no row can hold is detected when groups are done', async () => {
    const kit = fanOutKit(undefined, 10);
    await kit.open({ failFast: { share: 0.1 } });
    const items = itemsOf(await kit.add(1_500));
    await seal(kit, FAN_OUT);
    await kit.ack(items.slice(0, 150), 'failed');
    expect(await kit.read(), 'still tolerated').toMatchObject({ status: 'sealed', fails: [] });
    await kit.ack(items.slice(150, 159), 'failed');
    expect(await kit.read(), 'no further group is done').toMatchObject({ status: 'sealed' });
    await kit.ack(items.slice(159, 160), 'failed');
    expect(await kit.read()).toMatchObject({ ended: { because: 'too-many-failed', failed: 160 } });
  });

  it('by such a share sums counts only for groups with failures', async () => {
    const kit = fanOutKit(undefined, 10);
    await kit.open({ failFast: { share: 0.1 } });
    const items = itemsOf(await kit.add(1_500));
    await seal(kit, FAN_OUT);
    const { counts } = kit.fanOuts;
    let sums = 0;
    kit.fanOuts.counts = (id, positions) => {
      // A sum over finished groups reads only their parents.
      if (positions[0]?.level === 1) sums += 1;
      return counts(id, positions);
    };
    await kit.ack(items.slice(0, 500));
    expect(sums).toBe(0);
    await kit.ack(items.slice(500, 501), 'failed');
    await kit.ack(items.slice(501, 510));
    expect(sums).toBe(1);
  });

  it('reads the header at most every two seconds for acks that succeed, and then sums', async () => {
    const kit = fanOutKit();
    await kit.open({ failFast: { share: 0.1 } });
    const items = itemsOf(await kit.add(1_500));
    // In order of places, so that no group is done.
    const firsts = items.filter((each) => each.endsWith(':0'));
    const store = kit.fanOuts;
    const calls = { read: 0, counts: 0 };
    const { read, counts } = store;
    store.read = (id) => {
      calls.read += 1;
      return read(id);
    };
    store.counts = (id, positions) => {
      calls.counts += positions.filter(({ level }) => level === 0).length;
      return counts(id, positions);
    };
    await seal(kit, FAN_OUT);
    await kit.ack(firsts.slice(0, 151), 'failed');
    kit.now += 3_000;
    expect(await kit.read()).toMatchObject({ status: 'sealed', summedAt: NOW });
    await kit.ack(firsts.slice(200, 201));
    calls.read = 0;
    await kit.ack(firsts.slice(201, 202));
    expect(calls.read, 'it was read a moment ago').toBe(0);
    kit.now += 2_000;
    calls.counts = 0;
    expect(await kit.ack(firsts.slice(202, 203))).toMatchObject({ fanOuts: [{ complete: true }] });
    expect(calls.counts).toBe(500);
    expect(await kit.read()).toMatchObject({ ended: { because: 'too-many-failed', failed: 151 } });
  });

  it('lists three pending items with few reads', async () => {
    const kit = fanOutKit();
    await kit.open();
    const items = itemsOf(await kit.add(1_500));
    const pending = ['7:1', '300:0', '499:2'];
    await kit.ack(items.filter((each) => !pending.includes(each)));
    await kit.ack(['20:0']);
    await seal(kit, FAN_OUT);
    const { node, counts } = kit.fanOuts;
    const read: string[] = [];
    const counting = {
      ...kit.fanOuts,
      node: (id: typeof FAN_OUT, position: Position) => {
        if (position.level === 0) read.push(`${position.n}`);
        return node(id, position);
      },
      counts: (id: typeof FAN_OUT, positions: readonly Position[]) => {
        for (const { n } of positions) read.push(`counts of ${n}`);
        return counts(id, positions);
      },
    };
    const fanOut = await kit.read();
    const from = { group: 0, index: 0 };
    const { places, next } = await itemsWith(counting, fanOut, 'pending', from, 1_000);
    expect(places.map(({ group, index }) => `${group}:${index}`)).toEqual(pending);
    expect(next).toBeUndefined();
    expect(read).toEqual(['7', '300', '499'].flatMap((n) => [`counts of ${n}`, n]));
    const done = await itemsWith(counting, fanOut, 'succeeded', from, 1_000);
    expect([done.places.length, done.places[0], done.next]).toEqual([1_000, from, { group: 334, index: 0 }]);
  });

  it('lists the pending items of a tracker, whose groups may have no row', async () => {
    const kit = fanOutKit();
    const id = numbered('l');
    await kit.fanOuts.open({ id, createdAt: NOW }, NOW);
    const tracker = { ...(await kit.fanOuts.read(id)), groups: 3, total: 7 } as FanOut;
    await kit.fanOuts.putNode(id, { level: 0, n: 2 }, { slots: new Map(), failed: 0, at: NOW });
    await kit.fanOuts.putNode(id, { level: 0, n: 1 }, { slots: new Map([[1, true]]), failed: 0, at: NOW });
    const from = { group: 0, index: 1 };
    const { places } = await itemsWith(kit.fanOuts, tracker, 'pending', from, 9);
    expect(places.map(({ group, index }) => `${group}:${index}`)).toEqual(['0:1', '0:2', '1:0', '1:2', '2:0']);
    expect((await itemsWith(kit.fanOuts, tracker, 'succeeded', from, 9)).places).toEqual([{ group: 1, index: 1 }]);
  });

  it('lists failed items, group by group', async () => {
    const kit = fanOutKit();
    await kit.open();
    await kit.add(1_600);
    await kit.ack(['0:1', '499:0', '500:2', '533:0'], 'failed');
    const fanOut = await kit.read();
    const from = { group: 0, index: 0 };
    const first = await itemsWith(kit.fanOuts, fanOut, 'failed', from, 9);
    const [next, place] = [
      { group: 500, index: 0 },
      { group: 0, index: 1 },
    ];
    expect(first).toEqual({ places: [place, { group: 499, index: 0 }], next });
    expect(await itemsWith(kit.fanOuts, fanOut, 'failed', next, 9)).toEqual({
      places: [
        { group: 500, index: 2 },
        { group: 533, index: 0 },
      ],
    });
    expect(await itemsWith(kit.fanOuts, fanOut, 'failed', from, 1)).toEqual({
      places: [place],
      next: { group: 499, index: 0 },
    });
  });
});
