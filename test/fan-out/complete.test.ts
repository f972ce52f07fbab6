import { describe, expect, it } from 'vitest';
import { ackItems } from '../../src/steps/fan-outs/ack-items.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { itemsWith } from '../../src/steps/fan-outs/items.ts';
import { progressOf } from '../../src/steps/fan-outs/progress.ts';
import { NOW } from '../factories/factories.ts';
import { FAN_OUT, fanOutKit, itemId, itemsOf } from './kit.ts';

const shuffled = <T>(all: readonly T[], seed: number): T[] =>
  all
    .map((each, index) => ({ each, key: Math.sin(seed * 997 + index * 131) }))
    .sort((a, b) => a.key - b.key)
    .map(({ each }) => each);

describe('a fan-out', () => {
  // In groups of three: one item, a full group, several groups, and trees of two, three and four levels.
  for (const count of [1, 2, 3, 4, 9, 10, 27, 28, 60, 100])
    it(`of ${count} items completes with its last item, in any order`, async () => {
      for (const seed of [1, 2, 3]) {
        const kit = fanOutKit();
        await kit.open({ userKey: 'catalog-7' });
        const items = shuffled(itemsOf(await kit.add(count)), seed);
        expect(await seal(kit, FAN_OUT)).toMatchObject({ kind: 'sealed', complete: false });
        for (const [index, item] of items.entries()) {
          const { fanOuts, unknown } = await kit.ack([item], index % 4 === 3 ? 'failed' : 'succeeded');
          expect(unknown).toEqual([]);
          const isLast = index === count - 1;
          expect(fanOuts).toEqual([{ id: FAN_OUT, complete: isLast, ...(isLast ? { userKey: 'catalog-7' } : {}) }]);
        }
        const failed = Math.floor(count / 4);
        expect(await kit.read()).toMatchObject({ status: 'complete', ended: { failed, because: 'all-done' } });
        expect(kit.sentCallbacks()).toMatchObject([
          {
            id: `f.${NOW}.completed`,
            type: 'groupage.fan-out.completed',
            data: { total: count, failed, userKey: 'catalog-7' },
          },
        ]);
      }
    });

  for (const count of [1, 3, 5, 9, 12, 40])
    it(`of ${count} items completes when it is sealed after all are done`, async () => {
      const kit = fanOutKit();
      await kit.open();
      // Two calls, so that the last group of each may be smaller.
      const items = [...itemsOf(await kit.add(count)), ...itemsOf(await kit.add(2))];
      const { fanOuts } = await kit.ack(shuffled(items, count));
      expect(fanOuts).toEqual([{ id: FAN_OUT, complete: false }]);
      expect(await seal(kit, FAN_OUT)).toMatchObject({ complete: true });
      expect(kit.sentCallbacks()).toMatchObject([{ data: { total: count + 2, succeeded: count + 2, failed: 0 } }]);
      expect(await seal(kit, FAN_OUT), 'repeated').toMatchObject({ complete: true });
      expect(kit.sentCallbacks()).toHaveLength(1);
    });

  it('without items completes when it is sealed', async () => {
    const kit = fanOutKit();
    await kit.open();
    expect(await seal(kit, FAN_OUT)).toMatchObject({ kind: 'sealed', complete: true });
    expect(kit.sentCallbacks()).toMatchObject([
      { id: `f.${NOW}.completed`, data: { total: 0, succeeded: 0, failed: 0 } },
    ]);
  });

  it('answers a repeated ack like the first, and counts it once', async () => {
    const kit = fanOutKit();
    await kit.open();
    const items = itemsOf(await kit.add(10));
    await seal(kit, FAN_OUT);
    for (const item of items) await kit.ack([item, item]);
    for (const item of items) expect((await kit.ack([item])).fanOuts).toEqual([{ id: FAN_OUT, complete: true }]);
    expect(kit.sentCallbacks()).toHaveLength(1);
    expect(await kit.read()).toMatchObject({ total: 10, ended: { failed: 0 } });
  });

  it('keeps the first outcome of an item', async () => {
    const kit = fanOutKit();
    await kit.open();
    const items = itemsOf(await kit.add(4));
    await seal(kit, FAN_OUT);
    await kit.ack(['0:1'], 'failed');
    await kit.ack(items, 'succeeded');
    await kit.ack(['0:0'], 'failed');
    const fanOut = await kit.read();
    expect(fanOut.ended).toMatchObject({ because: 'all-done', failed: 1 });
    expect(await itemsWith(kit.fanOuts, fanOut, 'failed', { group: 0, index: 0 }, 9)).toEqual({
      places: [{ group: 0, index: 1 }],
    });
  });

  it('keeps the first outcome of an item that one ack has twice', async () => {
    for (const [first, second] of [
      ['succeeded', 'failed'],
      ['failed', 'succeeded'],
    ] as const) {
      const kit = fanOutKit();
      await kit.open();
      await kit.add(2);
      const item = { fanOut: FAN_OUT, group: 0, index: 1 };
      await ackItems(kit, [
        { item, outcome: first },
        { item, outcome: second },
      ]);
      expect(await progressOf(kit.fanOuts, await kit.read())).toMatchObject({ succeeded: 0, failed: 0, [first]: 1 });
    }
  });

  it('returns its progress', async () => {
    const kit = fanOutKit();
    await kit.open();
    const items = itemsOf(await kit.add(20));
    await kit.ack(items.slice(0, 11));
    await kit.ack(items.slice(11, 14), 'failed');
    expect(await progressOf(kit.fanOuts, await kit.read())).toEqual({ succeeded: 11, failed: 3, pending: 6 });
    await seal(kit, FAN_OUT);
    await kit.ack(items);
    expect(await progressOf(kit.fanOuts, await kit.read())).toEqual({ succeeded: 17, failed: 3, pending: 0 });
  });

  it('reports unknown items and ignores them', async () => {
    const kit = fanOutKit();
    await kit.open();
    await kit.add(4);
    const answer = await kit.ack(['0:0', '0:3', '1:1', '7:0']);
    expect(answer.unknown.toSorted()).toEqual([itemId('0:3'), itemId('1:1'), itemId('7:0')]);
    expect(answer.fanOuts).toEqual([{ id: FAN_OUT, complete: false }]);
    expect(await progressOf(kit.fanOuts, await kit.read())).toMatchObject({ pending: 3 });
    // The answer does not contain a fan-out of which all given items are unknown.
    expect(await kit.ack(['0:9', '1:1'])).toEqual({ fanOuts: [], unknown: [itemId('0:9'), itemId('1:1')] });
  });
});
