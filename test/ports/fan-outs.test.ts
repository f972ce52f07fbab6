import { expect, it } from 'vitest';
import { type FanOutId, fanOutId, type ItemId } from '../../src/domain/fan-out-ids.ts';
import type { FanOut } from '../../src/domain/fan-outs/fan-out.ts';
import type { Token } from '../../src/domain/ids.ts';
import { type ListId, listId, trackerOf } from '../../src/domain/lists/ids.ts';
import type { Page } from '../../src/domain/page.ts';
import type { Slots } from '../../src/ports/fan-outs.ts';
import { NOW } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { fresh } from './names.ts';
import { storeKinds } from './stores.ts';

const token = (text: string): Token => text as Token;
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);
const slots = (indexes: readonly number[], ok: (index: number) => boolean = () => true, at = NOW): Slots => ({
  slots: new Map(indexes.map((index) => [index, ok(index)])),
  failed: indexes.filter((index) => !ok(index)).length,
  at,
});
const LEAF = { level: 0, n: 0 };
const CHECK = NOW + 60_000;

describeEach('fan-outs', storeKinds, (stores) => {
  const store = () => stores().fanOuts;
  const newId = (): FanOutId => fanOutId(`f-${fresh().t(1)}`) as FanOutId;
  const opened = async (fields = {}): Promise<FanOutId> => {
    const id = newId();
    await store().open({ id, createdAt: NOW, ...fields }, CHECK);
    return id;
  };
  const reserved = (id: FanOutId, name: string, first: number, count: number, groups = 1): Promise<boolean> =>
    store().reserve(id, token(name), { first, count, openedAt: NOW, groups, at: NOW + 1 });

  it('are opened once, with the fields of the first request', async () => {
    const id = newId();
    const said = { id, createdAt: NOW, userKey: 'büro', callback: 'ops', failFast: { share: 0.25 } };
    expect(await store().read(id)).toBeUndefined();
    const first = await store().open(said, CHECK);
    expect(first.isNew).toBe(true);
    expect(first.stored).toEqual({
      ...said,
      status: 'open',
      groups: 0,
      total: 0,
      version: 0,
      touchedAt: NOW,
      fails: [],
      checkAt: CHECK,
    });
    const again = await store().open({ id, createdAt: NOW + 9 }, CHECK + 9);
    expect(again).toEqual({ isNew: false, stored: first.stored });
    expect(await store().read(id)).toEqual(first.stored);
  });

  it('give groups to one token at a time', async () => {
    const id = await opened();
    expect(await store().reservation(id, token('a'))).toBeUndefined();
    expect(await reserved(id, 'a', 0, 900, 2)).toBe(true);
    expect(await store().reservation(id, token('a'))).toEqual({ first: 0, count: 900, openedAt: NOW });
    expect(await store().read(id)).toMatchObject({ groups: 2, total: 900, version: 1, touchedAt: NOW + 1 });
    expect(await reserved(id, 'b', 0, 5), 'a caller that saw fewer groups').toBe(false);
    expect(await reserved(id, 'a', 2, 5), 'a token that has taken some').toBe(false);
    expect(await store().reservation(id, token('b'))).toBeUndefined();
    expect(await reserved(id, 'b', 2, 5)).toBe(true);
    expect(await store().read(id)).toMatchObject({ groups: 3, total: 905, version: 2 });
    expect(await reserved(newId(), 'a', 0, 1), 'a fan-out that is not there').toBe(false);
    const ofAnother = { first: 3, count: 1, openedAt: NOW - 1, groups: 1, at: NOW + 1 };
    expect(await store().reserve(id, token('c'), ofAnother), 'one that had its id before').toBe(false);
  });

  it('give no groups once they are sealed', async () => {
    const id = await opened();
    expect(await store().seal(id, NOW + 5)).toMatchObject({ status: 'sealed', touchedAt: NOW + 5, version: 1 });
    expect(await store().seal(id, NOW + 7)).toMatchObject({ status: 'sealed', touchedAt: NOW + 5, version: 1 });
    expect(await reserved(id, 'a', 0, 1)).toBe(false);
    expect(await store().seal(newId(), NOW)).toBeUndefined();
  });

  it('accept acks of empty slots, all of a call or none', async () => {
    const id = await opened();
    await store().putGroups(id, [{ n: 0, size: 5 }], NOW);
    const first = await store().ack(
      id,
      LEAF,
      slots([0, 2], (index) => index === 0, NOW + 1),
    );
    expect(first).toEqual({ isWritten: true, node: { left: 3, failed: 1, seenAt: NOW + 1 } });
    const node = { left: 3, failed: 1, seenAt: NOW + 1, slots: [true, null, false, null, null] };
    expect(await store().ack(id, LEAF, slots([1, 2]))).toEqual({ isWritten: false, node });
    expect(await store().ack(id, LEAF, slots([4, 5])), 'an index that is not there').toEqual({
      isWritten: false,
      node,
    });
    expect(await store().node(id, LEAF)).toEqual(node);
    expect(await store().ack(id, { level: 0, n: 1 }, slots([0]))).toEqual({ isWritten: false, node: undefined });
    expect(await store().node(id, { level: 0, n: 1 }), 'nothing was made').toBeUndefined();
  });

  it('accept `acksAtOnce` acks in one call, up to a full group', async () => {
    const { width, acksAtOnce } = store();
    const id = await opened();
    await store().putGroups(id, [{ n: 0, size: width }], NOW);
    const ok = (index: number): boolean => index % 3 > 0;
    for (let from = 0; from < width; from += acksAtOnce) {
      const acked = await store().ack(id, LEAF, slots(range(from, Math.min(width, from + acksAtOnce)), ok));
      expect(acked.isWritten).toBe(true);
    }
    expect(await store().node(id, LEAF)).toEqual({
      slots: range(0, width).map(ok),
      left: 0,
      failed: width / 3,
      seenAt: NOW,
    });
  });

  it('keep a group unchanged if it is put again', async () => {
    const id = await opened();
    const groups = range(0, 60).map((n) => ({ n, size: 2 }));
    await store().putGroups(id, groups.slice(0, 30), NOW);
    await store().ack(id, LEAF, slots([1]));
    await store().putGroups(id, groups, NOW);
    const counts = await store().counts(id, [LEAF, { level: 0, n: 59 }, { level: 0, n: 60 }, { level: 1, n: 0 }]);
    expect(counts).toEqual([
      { left: 1, failed: 0, seenAt: NOW },
      { left: 2, failed: 0, seenAt: NOW },
      undefined,
      undefined,
    ]);
    expect(await store().counts(id, [])).toEqual([]);
  });

  it('create a parent node once', async () => {
    const id = await opened();
    const { width } = store();
    const parent = { level: 1, n: 0 };
    expect(await store().putNode(id, parent, { ...slots([3]), failed: 7 })).toBe(true);
    expect(await store().putNode(id, parent, slots([4]))).toBe(false);
    expect(await store().node(id, parent)).toMatchObject({ left: width - 1, failed: 7 });
    expect(await store().ack(id, parent, { ...slots([4]), failed: 2 })).toMatchObject({
      isWritten: true,
      node: { left: width - 2, failed: 9 },
    });
    expect((await store().node(id, parent))?.slots.slice(0, 6)).toEqual([null, null, null, true, true, null]);
  });

  it('note failed items up to a limit', async () => {
    const id = await opened();
    expect(await store().noteFails(id, ['0:1', '0:2'], 2)).toMatchObject({ fails: ['0:1', '0:2'] });
    expect((await store().noteFails(id, ['0:2', '1:1'], 2))?.fails.toSorted()).toEqual(['0:1', '0:2', '1:1']);
    expect((await store().noteFails(id, ['9:9'], 2))?.fails.length, 'there are enough').toBe(3);
    expect(await store().noteFails(newId(), ['0:1'], 2)).toBeUndefined();
  });

  const ending = {
    status: 'complete',
    from: ['sealed'],
    because: 'all-done',
    failed: 3,
    at: NOW + 10,
    checkAt: NOW + 70,
  } as const;

  it('end once, and only from the named statuses', async () => {
    const id = await opened();
    expect(await store().end(id, ending), 'it is open').toBe(false);
    await store().seal(id, NOW);
    expect(await store().end(id, { ...ending, version: 0 }), 'something changed').toBe(false);
    const event = { to: 'ops', event: '{"id":"x"}' };
    expect(await store().end(id, { ...ending, version: 1, event })).toBe(true);
    expect(await store().end(id, ending)).toBe(false);
    const ended = { at: NOW + 10, because: 'all-done', failed: 3 };
    expect(await store().read(id)).toMatchObject({ status: 'complete', ended, event, checkAt: NOW + 70, version: 2 });
    expect(await reserved(id, 'a', 0, 1)).toBe(false);
    expect(await store().seal(id, NOW)).toMatchObject({ status: 'complete' });
    expect(await store().end(newId(), ending)).toBe(false);
  });

  it('note each event once, and until it is sent', async () => {
    const id = await opened();
    const firstFailure = { item: `${id}:0:1` as ItemId, at: NOW };
    const failure = { notice: 'first-failure', firstFailure } as const;
    expect(await store().note(id, failure, NOW + 1)).toMatchObject({ firstFailure, checkAt: NOW + 1 });
    const other = { ...failure, firstFailure: { item: `${id}:0:2` as ItemId, at: NOW } };
    expect(await store().note(id, other, NOW + 2)).toMatchObject({ firstFailure, unsent: ['first-failure'] });
    const success = { notice: 'all-succeeded', at: NOW } as const;
    expect(await store().note(id, success, NOW + 3), 'not complete').not.toHaveProperty('allSucceededAt');
    await store().seal(id, NOW);
    await store().end(id, ending);
    const both = { allSucceededAt: NOW, unsent: expect.arrayContaining(['first-failure', 'all-succeeded']) };
    expect(await store().note(id, success, NOW + 4)).toMatchObject(both);
    await store().noticeSent(id, 'first-failure');
    expect(await store().read(id)).toMatchObject({ unsent: ['all-succeeded'], checkAt: NOW + 4 });
    await store().noticeSent(id, 'all-succeeded');
    expect(await store().read(id)).not.toHaveProperty('unsent');
    expect(await store().note(newId(), success, NOW)).toBeUndefined();
  });

  it('correct failed items only, and forget their failures', async () => {
    const id = await opened();
    await store().putGroups(id, [{ n: 0, size: 3 }], NOW);
    await store().ack(id, LEAF, {
      slots: new Map([
        [0, true],
        [1, false],
        [2, false],
      ]),
      failed: 2,
      at: NOW,
    });
    const corrected = await store().correct(id, 0, [1], NOW + 5);
    expect(corrected).toEqual({ isWritten: true, node: { left: 0, failed: 1, seenAt: NOW + 5 } });
    const slots = [true, true, false];
    expect(await store().correct(id, 0, [1, 2], NOW + 6)).toMatchObject({
      isWritten: false,
      node: { slots, failed: 1 },
    });
    expect(await store().correct(id, 7, [0], NOW)).toEqual({ isWritten: false, node: undefined });
    await store().noteFails(id, ['0:1', '0:2'], 9);
    expect((await store().forgetFails(id, ['0:1', '5:5']))?.fails).toEqual(['0:2']);
    await store().noteCorrection(id);
    expect(await store().noteFailedGroup(id, undefined, 4)).toBe(true);
    expect(await store().noteFailedGroup(id, undefined, 5)).toBe(false);
    expect(await store().noteFailedGroup(id, 4, 5)).toBe(true);
    expect(await store().beginSum(id, undefined, NOW)).toBe(true);
    expect(await store().beginSum(id, undefined, NOW)).toBe(false);
    expect(await store().beginSum(id, NOW, NOW + 1)).toBe(true);
    expect(await store().read(id)).toMatchObject({ corrected: true, failedGroup: 5, summedAt: NOW + 1 });
  });

  it('cannot end another way while their event is being sent', async () => {
    const id = await opened();
    await store().seal(id, NOW);
    await store().end(id, { ...ending, event: { to: 'ops', event: '{}' } });
    const discarded = { ...ending, status: 'expired', from: ['complete'], because: 'deleted' } as const;
    expect(await store().end(id, discarded)).toBe(false);
    await store().forgetEvent(id, NOW + 99);
    expect(await store().read(id)).toMatchObject({ checkAt: NOW + 99 });
    expect(await store().read(id)).not.toHaveProperty('event');
    await store().forgetEvent(id, NOW + 1);
    expect(await store().read(id), 'once').toMatchObject({ checkAt: NOW + 99 });
    expect(await store().end(id, discarded)).toBe(true);
    expect(await store().read(id)).toMatchObject({ status: 'expired' });
  });

  it('are due at their check time, until they are buried', async () => {
    const [early, late, never] = [newId(), newId(), newId()];
    // Negative times come before all rows that other tests left.
    await store().open({ id: late, createdAt: NOW }, -20);
    await store().open({ id: early, createdAt: NOW }, -30);
    await store().open({ id: never, createdAt: NOW }, NOW * 2);
    await expect.poll(() => store().due(-10, 10)).toEqual([early, late]);
    expect(await store().due(-25, 10)).toEqual([early]);
    expect(await store().due(-10, 1)).toEqual([early]);
    const walk = { next: 4, groups: 3, failed: 1, seenAt: NOW };
    expect(await store().checkAgain(early, -31, { checkAt: NOW })).toBe(false);
    expect(await store().checkAgain(early, -30, { checkAt: -15, walk })).toBe(true);
    expect(await store().read(early)).toMatchObject({ checkAt: -15, walk });
    await expect.poll(() => store().due(-10, 10)).toEqual([late, early]);
    expect(await store().checkAgain(early, -15, { checkAt: NOW * 2 })).toBe(true);
    expect(await store().read(early)).not.toHaveProperty('walk');
    await store().bury(late, NOW);
    expect(await store().read(late)).not.toHaveProperty('checkAt');
    await expect.poll(() => store().due(-10, 10)).toEqual([]);
  });

  it('are listed in the order of their check times, page by page', async () => {
    const { lists } = stores();
    const [later, soon, ended, buried] = [newId(), newId(), newId(), newId()];
    const list = listId(`l-${fresh().t(1)}`) as ListId;
    // Negative times come before all rows that other tests left.
    await store().open({ id: later, createdAt: NOW, userKey: 'later' }, -110);
    await store().open({ id: soon, createdAt: NOW }, -130);
    await store().open({ id: ended, createdAt: NOW }, -140);
    await store().open({ id: buried, createdAt: NOW }, -120);
    await lists.open({ id: trackerOf(list), createdAt: NOW, operation: 'ship' }, -125);
    await reserved(later, 'a', 0, 3);
    const ending = { status: 'complete', from: ['open'], because: 'all-done', failed: 1, at: NOW } as const;
    await store().end(ended, { ...ending, checkAt: -100 });
    await store().bury(buried, NOW);
    const listed = async <Header extends FanOut>(
      limit: number,
      page: (limit: number, cursor?: string) => Promise<Page<Header>>,
    ): Promise<Header[]> => {
      const all: Header[] = [];
      let cursor: string | undefined;
      do {
        const { items, cursor: next } = await page(limit, cursor);
        expect(items.length).toBeLessThanOrEqual(limit);
        all.push(...items);
        cursor = next;
        // The pages after these hold rows of other tests, possibly many.
      } while (cursor !== undefined && (all.at(-1)?.checkAt ?? -100) <= -100);
      return all.filter(({ checkAt = 0 }) => checkAt <= -100);
    };
    for (const limit of [1, 2, 100]) {
      await expect
        .poll(async () => (await listed(limit, store().page)).map(({ id }) => id))
        .toEqual([soon, later, ended]);
      await expect.poll(() => listed(limit, lists.page)).toMatchObject([{ id: trackerOf(list), operation: 'ship' }]);
    }
    expect(await listed(9, store().page)).toMatchObject([
      { status: 'open', total: 0 },
      { status: 'open', total: 3, userKey: 'later' },
      { status: 'complete', ended: { because: 'all-done', failed: 1 } },
    ]);
    for (const [id, checkAt] of [
      [later, -110],
      [soon, -130],
      [ended, -100],
      [trackerOf(list), -125],
    ] as const)
      await store().checkAgain(id, checkAt, { checkAt: NOW * 2 });
  });

  it('lose the nodes that are removed, whether these exist or not', async () => {
    const id = await opened();
    await store().putGroups(id, [{ n: 0, size: 1 }], NOW);
    await store().removeNodes(id, [LEAF, { level: 3, n: 7 }]);
    expect(await store().node(id, LEAF)).toBeUndefined();
    expect(await store().ack(id, LEAF, slots([0]))).toEqual({ isWritten: false, node: undefined });
    expect(await store().read(id)).toBeDefined();
  });
});
