import { describe, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { type ListId, trackerOf } from '../../src/domain/lists/ids.ts';
import { NOW } from '../factories/factories.ts';
import { reportingOps } from '../fan-out/kit.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const ISO_NOW = new Date(NOW).toISOString();

/** An API whose fan-outs report their end to `ops`. */
const started = () => {
  const kit = stepKit(memoryStores(), reportingOps());
  let ids = 0;
  const newId = (): string => {
    ids += 1;
    return `new-${ids}`;
  };
  const app = api({ ...kit, newId, onError: (cause) => console.error(cause) });
  const request = (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') =>
    app.request(`/v1/fan-outs${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const ask = async (path: string, body?: unknown, method?: string) => {
    const response = await request(path, body, method);
    return { ...((await response.json()) as Record<string, unknown>), code: response.status } as Record<
      string,
      unknown
    >;
  };
  const told = () => kit.sent.callbacks.map(({ event }) => JSON.parse(event));
  return { kit, request, ask, told };
};

const SOME = { status: 'open', total: 0, succeeded: 0, failed: 0, pending: 0, createdAt: ISO_NOW };

it('the list of active fan-outs shows them without counting their items', async () => {
  const { kit, ask } = started();
  for (const [n, fields] of [{ id: 'first', userKey: 'büro' }, { id: 'second' }, { id: 'third' }].entries()) {
    kit.now = NOW + n;
    await ask('', fields);
  }
  await ask('/first/items', { count: 3 });
  await ask('/first/seal', {});
  await ask('/second', undefined, 'DELETE');
  await kit.lists.open({ id: trackerOf('list' as ListId), createdAt: NOW }, NOW);
  const outline = { id: 'first', status: 'sealed', total: 3, userKey: 'büro', createdAt: ISO_NOW };
  const page = await ask('?limit=1');
  expect(page).toEqual({ code: 200, fanOuts: [outline], cursor: expect.any(String) });
  const rest = (await ask(`?cursor=${page.cursor}`)) as { fanOuts: { id: string }[] };
  expect(rest.fanOuts.map(({ id }) => id).toSorted()).toEqual(['second', 'third']);
  expect(rest.fanOuts.find(({ id }) => id === 'second')).toMatchObject({ status: 'expired', because: 'deleted' });
});

describe('opening a fan-out', () => {
  it('without an id gives it one', async () => {
    const { ask } = started();
    expect(await ask('', {})).toEqual({ code: 201, id: 'new-1', ...SOME });
    expect(await ask('/new-1')).toEqual({ code: 200, id: 'new-1', ...SOME });
  });

  it('stores its user key, callback and tolerance', async () => {
    const { ask } = started();
    const fields = { userKey: 'Ü'.repeat(128), callback: 'ops', failFast: { share: 0.1 } };
    const shown = { id: 'catalog-7', ...SOME, ...fields };
    expect(await ask('', { id: 'catalog-7', ...fields })).toEqual({ code: 201, ...shown });
    expect(await ask('/catalog-7')).toEqual({ code: 200, ...shown });
  });

  it('again returns the same fan-out; other fields are refused', async () => {
    const { ask } = started();
    const fields = { id: 'f', userKey: 'a', callback: 'ops', failFast: { count: 3 } };
    await ask('', fields);
    await ask('/f/items', { count: 2 });
    expect(await ask('', fields)).toMatchObject({ code: 200, id: 'f', total: 2 });
    for (const [other, what] of [
      [{ ...fields, userKey: 'b' }, 'userKey'],
      [{ id: 'f', callback: 'ops', failFast: { count: 3 } }, 'userKey'],
      [{ id: 'f', userKey: 'a', failFast: { count: 3 } }, 'callback'],
      [{ ...fields, failFast: { count: 4 } }, 'failFast'],
      [{ ...fields, failFast: { share: 0 } }, 'failFast'],
    ] as const)
      expect(await ask('', other)).toMatchObject({
        code: 409,
        detail: `fan-out f already exists with another ${what}: use another id, or the same ${what}`,
      });
  });

  it('is refused with all problems, and nothing is opened', async () => {
    const { ask, kit } = started();
    const text = 'must be well-formed text of 1 to 256 bytes';
    const form = 'must be {"count": 0 to 100} or {"share": 0 to 1}: the failed items to tolerate';
    const count = 'must be a whole number from 0 to 100';
    const share = 'must be 0, or a number from 1e-12 to 1';
    const unknown = expect.stringMatching(/^is unknown; known are /);
    for (const [body, ...errors] of [
      [{ id: 'a:b' }, ['id', expect.stringContaining('1 to 64 characters')]],
      [{ id: 7, more: 1 }, ['more', unknown], ['id', expect.any(String)]],
      [{ id: 'ok', userKey: '' }, ['userKey', text]],
      [{ id: 'ok', userKey: 'Ü'.repeat(129) }, ['userKey', text]],
      [{ id: 'ok', userKey: '\ud800' }, ['userKey', text]],
      [{ id: 'ok', userKey: null }, ['userKey', text]],
      [{ id: 'ok', callback: 'nobody' }, ['callback', 'is unknown: "nobody"; configured are ops']],
      [
        { id: 'ok', callback: 'http://169.254.169.254/' },
        ['callback', 'must be the name of a destination; configured are ops'],
      ],
      [{ id: 'ok', callback: ['ops'] }, ['callback', 'must be the name of a configured destination']],
      [{ id: 'ok', failFast: 3 }, ['failFast', form]],
      [{ id: 'ok', failFast: {} }, ['failFast', form]],
      [{ id: 'ok', failFast: { count: 1, share: 1 } }, ['failFast', form]],
      [{ id: 'ok', failFast: { percent: 1 } }, ['failFast', form]],
      [{ id: 'ok', failFast: { count: 101 } }, ['failFast.count', count]],
      [{ id: 'ok', failFast: { count: 0.5 } }, ['failFast.count', count]],
      [{ id: 'ok', failFast: { count: '1' } }, ['failFast.count', count]],
      [{ id: 'ok', failFast: { share: 1.01 } }, ['failFast.share', share]],
      [{ id: 'ok', failFast: { share: 1e-200 } }, ['failFast.share', share]],
    ] as const)
      expect([body, await ask('', body)]).toMatchObject([
        body,
        { code: 400, errors: errors.map(([path, reason]) => ({ path, reason })) },
      ]);
    expect(await kit.fanOuts.due(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  });
});

describe('adding items to a fan-out', () => {
  it('returns the groups, and the same groups for the same token', async () => {
    const { ask } = started();
    await ask('', { id: 'f' });
    const first = {
      code: 200,
      groups: [
        { id: 0, count: 450 },
        { id: 1, count: 1 },
      ],
    };
    expect(await ask('/f/items', { count: 451, token: 'a' })).toEqual(first);
    expect(await ask('/f/items', { count: 3 })).toEqual({ code: 200, groups: [{ id: 2, count: 3 }] });
    expect(await ask('/f/items', { count: 3 })).toEqual({ code: 200, groups: [{ id: 3, count: 3 }] });
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
    expect(await ask('/f/items', { count: 1, token: 'a' })).toEqual({ code: 200, groups: [{ id: 0, count: 1 }] });
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

describe('sealing a fan-out', () => {
  it('completes it if no item is open, and can be repeated', async () => {
    const { ask, told } = started();
    await ask('', { id: 'f', userKey: 'k' });
    expect(await ask('/f/seal', {})).toEqual({ code: 200, complete: true });
    expect(await ask('/f/seal', undefined, 'POST')).toEqual({ code: 200, complete: true });
    expect(told()).toMatchObject([{ id: `f.${NOW}.completed`, data: { total: 0, userKey: 'k' } }]);
    await ask('', { id: 'g' });
    await ask('/g/items', { count: 1 });
    expect(await ask('/g/seal', {})).toEqual({ code: 200, complete: false });
    expect(await ask('/g')).toMatchObject({ status: 'sealed', pending: 1 });
  });

  it('refuses a body', async () => {
    const { ask } = started();
    await ask('', { id: 'f' });
    expect(await ask('/f/seal', { count: 1 })).toMatchObject({ code: 400, errors: [{ path: 'count' }] });
    expect(await ask('/f')).toMatchObject({ status: 'open' });
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
    const id = 'must be the id of an item, such as "01J9ZQ4:0:17" (fanOutId:groupId:index)';
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

describe('deleting a fan-out', () => {
  it('ends it without an event, deletes its rows, and can be repeated', async () => {
    const { ask, kit, told } = started();
    await ask('', { id: 'f' });
    await ask('/f/items', { count: 451 });
    const ended = { code: 200, id: 'f', status: 'expired', because: 'deleted', total: 451, endedAt: ISO_NOW };
    expect(await ask('/f', undefined, 'DELETE')).toMatchObject(ended);
    expect(await ask('/f', undefined, 'DELETE')).toMatchObject(ended);
    expect(told()).toEqual([]);
    const id = (await kit.fanOuts.read('f' as never))?.id as never;
    expect(
      await kit.fanOuts.counts(id, [
        { level: 0, n: 0 },
        { level: 0, n: 1 },
      ]),
    ).toEqual([undefined, undefined]);
    expect(await ask('/acks', { items: ['f:0:0'] })).toEqual({ code: 200, fanOuts: [], unknown: ['f:0:0'] });
    for (const path of ['/f/items', '/f/seal'])
      expect(await ask(path, path === '/f/seal' ? {} : { count: 1 })).toMatchObject({
        code: 409,
        detail: expect.stringMatching(/^fan-out f has expired: .* Open a new one with another id$/),
      });
  });

  it('has to wait for the event of its end', async () => {
    const { ask, kit } = started();
    await ask('', { id: 'f' });
    const { forgetEvent } = kit.fanOuts;
    kit.fanOuts.forgetEvent = async () => {};
    await ask('/f/seal', {});
    expect(await ask('/f', undefined, 'DELETE')).toMatchObject({
      code: 409,
      detail: 'the event of the end of fan-out f is being sent: try again in a moment',
    });
    kit.fanOuts.forgetEvent = forgetEvent;
    await ask('/f/seal', {});
    await forgetEvent.call(kit.fanOuts, 'f' as never, NOW + 1);
    expect(await ask('/f', undefined, 'DELETE')).toMatchObject({ code: 200, status: 'expired', because: 'deleted' });
  });

  it('refuses a body', async () => {
    const { ask } = started();
    await ask('', { id: 'f' });
    expect(await ask('/f', { dryRun: true }, 'DELETE')).toMatchObject({ code: 400, errors: [{ path: 'dryRun' }] });
    expect(await ask('/f')).toMatchObject({ status: 'open' });
  });
});

it('an unknown fan-out is answered 404 in every call', async () => {
  const { ask } = started();
  for (const name of ['nobody', 'a%3Ab', '%F0%9F%98%80', 'x'.repeat(65), 'acks'])
    for (const [path, body, method] of [
      [`/${name}`, undefined, 'GET'],
      [`/${name}`, undefined, 'DELETE'],
      [`/${name}/failed`, undefined, 'GET'],
      [`/${name}/items`, { count: 1 }, 'POST'],
      [`/${name}/seal`, {}, 'POST'],
    ] as const)
      expect([path, method, await ask(path, body, method)]).toMatchObject([
        path,
        method,
        { code: 404, detail: expect.stringContaining('there is no fan-out "') },
      ]);
});

it('a fan-out path answers 405 with the allowed methods to others', async () => {
  const { request } = started();
  for (const [path, method, allowed] of [
    ['', 'PUT', 'GET, POST'],
    ['/f', 'POST', 'GET, DELETE'],
    ['/f/failed', 'POST', 'GET'],
    ['/f/items', 'GET', 'POST'],
    ['/f/seal', 'GET', 'POST'],
    ['/acks', 'PUT', 'POST'],
  ] as const) {
    const response = await request(path, undefined, method);
    expect([path, method, response.status, response.headers.get('allow')]).toEqual([path, method, 405, allowed]);
  }
});
