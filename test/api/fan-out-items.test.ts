/** Items of a fan-out: added, acked, and listed if they failed. */
import { describe, expect, it } from 'vitest';
import { NOW } from '../factories/factories.ts';
import { ISO_NOW, started } from './fan-out-kit.ts';

describe('adding items to a fan-out', () => {
  it('returns the groups, and the same groups for the same token', async () => {
    const { ask } = started();
    await ask('', { id: 'f' });
    const { itemKey } = await ask('/f/items', { count: 451, token: 'a' });
    expect(itemKey).toMatch(/^[\w-]{43}$/);
    const first = {
      code: 200,
      itemKey,
      groups: [
        { id: 0, count: 450 },
        { id: 1, count: 1 },
      ],
    };
    expect(await ask('/f/items', { count: 451, token: 'a' })).toEqual(first);
    expect(await ask('/f/items', { count: 3 })).toEqual({ code: 200, itemKey, groups: [{ id: 2, count: 3 }] });
    expect(await ask('/f/items', { count: 3 })).toEqual({ code: 200, itemKey, groups: [{ id: 3, count: 3 }] });
    expect(await ask('/f/items', { count: 451, token: 'a' })).toEqual(first);
    expect(await ask('/f')).toMatchObject({ total: 457, pending: 457 });
    expect(await ask('/f/items', { count: 450, token: 'a' })).toMatchObject({
      code: 409,
      detail: 'the token was already used to add 451 items: use a new token for other items',
    });
  });

  it('is refused with all problems, and nothing is added', async () => {
    const { ask } = started();
    await ask('', { id: 'f' });
    const count = { path: 'count', reason: 'must be a whole number from 1 to 450000' };
    const token = { path: 'token', reason: 'must be well-formed text of 1 to 64 characters' };
    for (const [body, ...errors] of [
      [{}, count],
      [{ count: 0 }, count],
      [{ count: 450_001 }, count],
      [{ count: 1.5 }, count],
      [{ count: '1' }, count],
      [{ count: 1, token: '' }, token],
      [{ count: 1, token: 'x'.repeat(65) }, token],
      [{ count: 1, token: '\udc00' }, token],
      [{ count: 1, token: null }, token],
      [{ count: -1, token: 1 }, count, token],
      [
        { count: 1, first: 1 },
        { path: 'first', reason: 'is unknown; known are count, token' },
      ],
    ] as const)
      expect([body, await ask('/f/items', body)]).toMatchObject([body, { code: 400, errors }]);
    expect(await ask('/f')).toMatchObject({ total: 0 });
  });

  it('is refused after its seal or end, but not for a known token', async () => {
    const { ask } = started();
    await ask('', { id: 'f' });
    await ask('/f/items', { count: 1, token: 'a' });
    await ask('/f/seal', {});
    expect(await ask('/f/items', { count: 1 })).toMatchObject({
      code: 409,
      detail: expect.stringContaining('f is sealed'),
    });
    expect(await ask('/f/items', { count: 1, token: 'a' })).toMatchObject({ code: 200, groups: [{ id: 0, count: 1 }] });
    await ask('/acks', { items: ['f:0:0'] });
    expect(await ask('/f/items', { count: 1 })).toMatchObject({
      code: 409,
      detail: expect.stringContaining('f is complete'),
    });
  });

  it('answers 503 with retry-after under contention, and adds nothing', async () => {
    const { ask, request, kit } = started();
    await ask('', { id: 'f' });
    const { reserve } = kit.fanOuts;
    kit.fanOuts.reserve = async () => false;
    const busy = await request('/f/items', { count: 1, token: 'a' });
    expect([busy.status, busy.headers.get('retry-after'), busy.headers.get('content-type')]).toEqual([
      503,
      '1',
      'application/problem+json',
    ]);
    expect(await busy.json()).toMatchObject({
      title: 'Busy',
      status: 503,
      detail: expect.stringContaining('same token'),
    });
    kit.fanOuts.reserve = reserve;
    expect(await ask('/f/items', { count: 1, token: 'a' })).toMatchObject({ groups: [{ id: 0, count: 1 }] });
  });
});

describe('acks', () => {
  it('of several fan-outs return the state of each, and unknown items', async () => {
    const { ask, told } = started();
    for (const id of ['f', 'g']) {
      await ask('', { id, userKey: `key of ${id}` });
      await ask(`/${id}/items`, { count: 2 });
      await ask(`/${id}/seal`, {});
    }
    const items = ['f:0:0', { item: 'f:0:1', outcome: 'failed' }, { item: 'g:0:1' }, 'g:0:2', 'h:0:0', 'f:1:0'];
    const { code, fanOuts, unknown } = await ask('/acks', { items });
    expect([code, fanOuts]).toEqual([
      200,
      [
        { id: 'f', complete: true, userKey: 'key of f' },
        { id: 'g', complete: false },
      ],
    ]);
    expect((unknown as string[]).toSorted()).toEqual(['f:1:0', 'g:0:2', 'h:0:0']);
    expect(told()).toMatchObject([{ id: `f.${NOW}.completed`, data: { total: 2, succeeded: 1, failed: 1 } }]);
    expect(await ask('/f')).toEqual({
      code: 200,
      id: 'f',
      status: 'complete',
      total: 2,
      succeeded: 1,
      failed: 1,
      pending: 0,
      userKey: 'key of f',
      because: 'all-done',
      createdAt: ISO_NOW,
      endedAt: ISO_NOW,
    });
    expect(await ask('/acks', { items: ['f:0:0'] })).toMatchObject({ fanOuts: [{ id: 'f', complete: true }] });
    expect(told()).toHaveLength(1);
  });

  it('of more failures than tolerated end the fan-out', async () => {
    const { ask, told } = started();
    await ask('', { id: 'f', failFast: { count: 1 } });
    await ask('/f/items', { count: 5 });
    const failed = (index: number) => ({ items: [{ item: `f:0:${index}`, outcome: 'failed' }] });
    expect(await ask('/acks', failed(0))).toMatchObject({ fanOuts: [{ id: 'f', complete: false }] });
    expect(await ask('/acks', failed(4))).toMatchObject({ fanOuts: [{ id: 'f', complete: true }] });
    const shown = await ask('/f');
    expect(shown).toMatchObject({ status: 'complete', because: 'too-many-failed', failed: 2 });
    expect(shown).not.toHaveProperty('pending');
    expect(told()).toMatchObject([{ data: { because: 'too-many-failed' } }]);
  });

  it('with malformed items are refused by path, and none counts', async () => {
    const { ask } = started();
    await ask('', { id: 'f' });
    await ask('/f/items', { count: 3 });
    const id = 'must be the id of an item, such as "01J9ZQ4:0:17" (fanOutId:groupId:index), with or without its token';
    const items = ['f:0:0', 'f:0', 'f:00:1', { item: 'f:0:1', outcome: 'lost', by: 'me' }, { outcome: 'failed' }, 7];
    expect(await ask('/acks', { items, more: 1 })).toMatchObject({
      code: 400,
      errors: [
        { path: 'more', reason: 'is unknown; known are items' },
        { path: 'items[1]', reason: id },
        { path: 'items[2]', reason: id },
        { path: 'items[3].by', reason: 'is unknown; known are item, outcome' },
        { path: 'items[3].outcome', reason: 'must be succeeded or failed' },
        { path: 'items[4].item', reason: id },
        { path: 'items[5]', reason: id },
      ],
    });
    expect(await ask('/f')).toMatchObject({ pending: 3 });
  });

  it('come 1 to 1,000 at a time, and their errors stay short', async () => {
    const { ask, request } = started();
    for (const items of [[], Array.from({ length: 1_001 }, () => 'f:0:0'), 'f:0:0', undefined])
      expect(await ask('/acks', { items })).toMatchObject({
        code: 400,
        errors: [{ path: 'items', reason: 'must be a list of 1 to 1000 items' }],
      });
    const wrong = await request('/acks', { items: Array.from({ length: 1_000 }, () => 'x'.repeat(5_000)) });
    const text = await wrong.text();
    expect(JSON.parse(text).errors).toHaveLength(1_000);
    expect(text.length).toBeLessThan(150_000);
  });
});

describe('failed items of a fan-out', () => {
  it('are listed page by page', async () => {
    const { ask } = started();
    await ask('', { id: 'f' });
    // One item in each of 501 groups. A page reads 500 groups.
    for (let n = 0; n < 501; n += 1) await ask('/f/items', { count: 1 });
    const failed = ['f:0:0', 'f:499:0', 'f:500:0'];
    await ask('/acks', { items: failed.map((item) => ({ item, outcome: 'failed' })) });
    expect(await ask('/f/failed')).toEqual({ code: 200, items: ['f:0:0', 'f:499:0'], cursor: '500' });
    expect(await ask('/f/failed?cursor=500')).toEqual({ code: 200, items: ['f:500:0'] });
    expect(await ask('/f/failed?cursor=9999')).toEqual({ code: 200, items: [] });
  });

  it('fill a page up to the size of an answer', async () => {
    const { ask } = started();
    const id = 'f'.repeat(64);
    await ask('', { id });
    await ask(`/${id}/items`, { count: 45_000 });
    for (let group = 0; group < 100; group += 2) {
      const items = [0, 1].flatMap((n) =>
        Array.from({ length: 450 }, (_, index) => ({ item: `${id}:${group + n}:${index}`, outcome: 'failed' })),
      );
      await ask('/acks', { items });
    }
    const seen: string[] = [];
    let cursor = '0';
    while (cursor !== undefined) {
      const page = await ask(`/${id}/failed?cursor=${cursor}`);
      seen.push(...(page.items as string[]));
      expect((page.items as string[]).length).toBeLessThan(11_000);
      cursor = page.cursor as string;
    }
    expect(new Set(seen).size).toBe(45_000);
  });

  it('are not listed from an invalid cursor', async () => {
    const { ask } = started();
    await ask('', { id: 'f' });
    for (const cursor of ['-1', '1e3', '00', '9999999999', 'x'])
      expect([cursor, await ask(`/f/failed?cursor=${cursor}`)]).toMatchObject([
        cursor,
        { code: 400, errors: [{ path: 'cursor' }] },
      ]);
  });
});
