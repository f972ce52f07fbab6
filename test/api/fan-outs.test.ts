/** Fan-outs as a whole: listed, opened, sealed and deleted. */
import { describe, expect, it } from 'vitest';
import { type ListId, trackerOf } from '../../src/domain/lists/ids.ts';
import { NOW } from '../factories/factories.ts';
import { ISO_NOW, SOME, started } from './fan-out-kit.ts';

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
    ['/f/items', 'PUT', 'GET, POST'],
    ['/f/seal', 'GET', 'POST'],
    ['/acks', 'PUT', 'POST'],
  ] as const) {
    const response = await request(path, undefined, method);
    expect([path, method, response.status, response.headers.get('allow')]).toEqual([path, method, 405, allowed]);
  }
});
