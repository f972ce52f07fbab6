import { describe, expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { type ClaimId, handleOf, type ListId } from '../../src/domain/lists/ids.ts';
import { memoryFanOuts } from '../../src/memory/fan-outs.ts';
import { memoryLists } from '../../src/memory/lists.ts';
import { emptyTables } from '../../src/memory/tables.ts';
import { openGate } from '../../src/virtual/gate.ts';
import { NOW } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';
import { type Answer, ISO_NOW, listConfig, someJobs, startedLists } from './list-kit.ts';

const NONE = { total: 0, available: 0, leased: 0, started: 0, done: 0, succeeded: 0, failed: 0 };
const SOME = { status: 'open', ...NONE, createdAt: ISO_NOW };

describe('opening a list', () => {
  it('without an id gives it one', async () => {
    const { ask } = startedLists();
    expect(await ask('', {})).toEqual({ code: 201, id: 'new-1', ...SOME });
    expect(await ask('/new-1')).toEqual({ code: 200, id: 'new-1', ...SOME });
  });

  it('stores its operation, name and callback', async () => {
    const { ask } = startedLists();
    const fields = { operation: 'ship', name: 'ü'.repeat(32), callback: 'ops' };
    const shown = { id: 'night-7', ...SOME, ...fields };
    expect(await ask('', { id: 'night-7', ...fields })).toEqual({ code: 201, ...shown });
    expect(await ask('/night-7')).toEqual({ code: 200, ...shown });
  });

  it('again returns the same list; other fields are refused', async () => {
    const { ask } = startedLists();
    const fields = { id: 'f', operation: 'ship', name: 'a', callback: 'ops' };
    await ask('', fields);
    await ask('/f/jobs', { jobs: someJobs(2) });
    expect(await ask('', fields)).toMatchObject({ code: 200, id: 'f', total: 2 });
    for (const what of ['operation', 'name', 'callback']) {
      const detail = `list f already exists with another ${what}: use another id, or the same ${what}`;
      expect(await ask('', { ...fields, [what]: undefined })).toMatchObject({ code: 409, detail });
    }
    expect(await ask('', { ...fields, name: 'b' })).toMatchObject({ code: 409 });
    expect(await ask('/f')).toMatchObject({ operation: 'ship', name: 'a', callback: 'ops', total: 2 });
  });

  it('is refused with all problems, and nothing is opened', async () => {
    const { ask, tables } = startedLists();
    const text = 'must be well-formed text of 1 to 64 bytes';
    const unknown = expect.stringMatching(/^is unknown; known are /);
    for (const [body, ...errors] of [
      [{ id: 'a:b' }, ['id', expect.stringContaining('1 to 64 characters')]],
      [{ id: '~f', more: 1 }, ['more', unknown], ['id', expect.any(String)]],
      [{ id: 'ok', operation: 'fly' }, ['operation', 'is unknown: "fly"; configured are ship']],
      [{ id: 'ok', operation: '__proto__' }, ['operation', expect.stringContaining('is unknown')]],
      [{ id: 'ok', operation: 7 }, ['operation', 'must be the name of a configured operation']],
      [{ id: 'ok', name: '' }, ['name', text]],
      [{ id: 'ok', name: 'ü'.repeat(33) }, ['name', text]],
      [{ id: 'ok', name: '\ud800' }, ['name', text]],
      [{ id: 'ok', name: null }, ['name', text]],
      [{ id: 'ok', callback: 'nobody' }, ['callback', 'is unknown: "nobody"; configured are ops']],
      [
        { id: 7, operation: null, name: 7, callback: ['ops'] },
        ['id', expect.any(String)],
        ['operation', expect.any(String)],
        ['name', text],
        ['callback', 'must be the name of a configured destination'],
      ],
    ] as const)
      expect([body, await ask('', body)]).toMatchObject([
        body,
        { code: 400, errors: errors.map(([path, reason]) => ({ path, reason })) },
      ]);
    expect(tables.fanOuts.size).toBe(0);
  });
});

describe('adding jobs to a list', () => {
  it('returns their numbers, and the same numbers for the same token', async () => {
    const { ask } = startedLists();
    await ask('', { id: 'f' });
    const jobs = someJobs(1_000);
    expect(await ask('/f/jobs', { jobs, token: 'a' })).toEqual({ code: 200, first: 0, count: 1_000, total: 1_000 });
    expect(await ask('/f/jobs', { jobs: someJobs(3) })).toEqual({ code: 200, first: 1_000, count: 3, total: 1_003 });
    expect(await ask('/f/jobs', { jobs: someJobs(3) })).toMatchObject({ first: 1_003, total: 1_006 });
    expect(await ask('/f/jobs', { jobs, token: 'a' })).toMatchObject({ first: 0, count: 1_000, total: 1_006 });
    expect(await ask('/f/jobs', { jobs: someJobs(1), token: 'a' })).toMatchObject({
      code: 409,
      detail: 'the token was already used with other jobs: use a new token',
    });
    expect(await ask('/f')).toMatchObject({ total: 1_006, available: 1_006, done: 0 });
  });

  it('is refused with all problems, and nothing is added', async () => {
    const { ask, tables } = startedLists();
    await ask('', { id: 'f' });
    const list = { path: 'jobs', reason: 'must be a list of 1 to 1000 jobs' };
    const token = { path: 'token', reason: 'must be well-formed text of 1 to 64 characters' };
    const payload = (n: number) => ({ path: `jobs[${n}].payload`, reason: 'must be a JSON object' });
    const job = (n: number) => ({ path: `jobs[${n}]`, reason: 'must be an object such as {"payload": {…}}' });
    const odd = { path: 'jobs[2].id', reason: 'is unknown; known are payload' };
    for (const [body, ...errors] of [
      [{}, list],
      [{ jobs: [] }, list],
      [{ jobs: { length: 1 } }, list],
      [{ jobs: someJobs(1_001) }, list],
      [{ jobs: 7, token: '', more: 1 }, { path: 'more', reason: 'is unknown; known are jobs, token' }, list, token],
      [{ jobs: someJobs(1), token: '\udc00' }, token],
      [
        { jobs: [{ payload: {} }, 7, { id: 'x' }, null, [], { payload: [] }, { payload: null }] },
        job(1),
        odd,
        payload(2),
        job(3),
        job(4),
        payload(5),
        payload(6),
      ],
    ] as const)
      expect(await ask('/f/jobs', body)).toMatchObject({ code: 400, errors });
    expect(await ask('/f')).toMatchObject({ total: 0 });
    expect([tables.listAppends.size, tables.listJobs.size]).toEqual([0, 0]);
  });
});

describe('sealing a list', () => {
  it('completes it if no job is open, and can be repeated', async () => {
    const { ask, told } = startedLists();
    await ask('', { id: 'f', name: 'k' });
    const complete = { code: 200, id: 'f', name: 'k', ...SOME, status: 'complete', endedAt: ISO_NOW };
    expect(await ask('/f/seal', {})).toEqual(complete);
    expect(await ask('/f/seal', undefined, 'POST')).toEqual(complete);
    expect(told()).toMatchObject([{ type: 'groupage.list.completed', data: { id: 'f', total: 0, name: 'k' } }]);
    await ask('', { id: 'g' });
    await ask('/g/jobs', { jobs: someJobs(1), token: 'a' });
    expect(await ask('/g/seal', {})).toMatchObject({ status: 'sealed', total: 1, available: 1 });
    const detail = 'list g is sealed: no more jobs can be added';
    expect(await ask('/g/jobs', { jobs: someJobs(1) })).toMatchObject({ code: 409, detail });
    expect(await ask('/g/jobs', { jobs: someJobs(1), token: 'a' })).toMatchObject({ code: 200, first: 0 });
  });

  it('refuses a body, as cancelling does', async () => {
    const { ask } = startedLists();
    await ask('', { id: 'f' });
    for (const path of ['/f/seal', '/f/cancel'])
      expect(await ask(path, { count: 1 })).toMatchObject({ code: 400, errors: [{ path: 'count' }] });
    expect(await ask('/f')).toMatchObject({ status: 'open' });
  });
});

describe('cancelling a list', () => {
  it('stops waiting jobs, but not those that were handed out', async () => {
    const { ask, holding, told, registerAll } = startedLists();
    await holding(10, { operation: 'ship' });
    await ask('/f/triggers', { count: 2 });
    const { claimId } = await ask('/f/claims', { count: 3, leaseSeconds: 60 });
    const cancelled = {
      status: 'cancelled',
      total: 10,
      available: 0,
      leased: 3,
      started: 2,
      done: 0,
      endedAt: ISO_NOW,
    };
    expect(await ask('/f/cancel', {})).toMatchObject({ code: 200, ...cancelled });
    expect(await ask('/f/cancel', undefined, 'POST')).toMatchObject({ code: 200, ...cancelled });
    for (const [path, body] of [
      ['/f/jobs', { jobs: someJobs(1) }],
      ['/f/triggers', { count: 1 }],
      ['/f/claims', { count: 1, leaseSeconds: 60 }],
      ['/f/seal', {}],
    ] as const)
      expect(await ask(path, body)).toMatchObject({
        code: 409,
        detail: expect.stringMatching(/^list f is cancelled: /),
      });
    await registerAll();
    expect(await ask(`/f/claims/${claimId}/complete`, {})).toEqual({ code: 200, complete: false });
    expect(await ask('/f')).toMatchObject({ status: 'cancelled', leased: 0, started: 2, done: 3, succeeded: 3 });
    expect(told()).toEqual([]);
  });

  it('that is complete is refused', async () => {
    const { ask } = startedLists();
    await ask('', { id: 'f' });
    await ask('/f/seal', {});
    const detail = 'list f is complete: it can no longer be cancelled';
    expect(await ask('/f/cancel', {})).toMatchObject({ code: 409, detail });
    expect(await ask('/f')).toMatchObject({ status: 'complete' });
  });
});

describe('deleting a list', () => {
  it('ends it without an event, deletes its rows, and can be repeated', async () => {
    const { ask, holding, tables, told, kit } = startedLists();
    await holding(10, { name: 'k' });
    const { claimId } = await ask('/f/claims', { count: 5, leaseSeconds: 60 });
    await ask(`/f/claims/${claimId}/complete`, {
      jobs: [
        { token: 0, result: 1 },
        { token: 1, status: 'failed' },
      ],
    });
    const deleted = {
      code: 200,
      id: 'f',
      name: 'k',
      status: 'deleted',
      total: 10,
      createdAt: ISO_NOW,
      endedAt: ISO_NOW,
    };
    const counts = { available: 5, leased: 3, started: 0, done: 2, succeeded: 1, failed: 1 };
    expect(await ask('/f', undefined, 'DELETE')).toEqual({ ...deleted, ...counts });
    expect(await ask('/f', undefined, 'DELETE')).toEqual(deleted);
    expect(told()).toEqual([]);
    const { listJobs, listSegments, listResults, listTriggers, fanOutNodes } = tables;
    expect([listJobs, listSegments, listResults, listTriggers, fanOutNodes].map(({ size }) => size)).toEqual([
      0, 0, 0, 0, 0,
    ]);
    kit.now += 16 * 60_000;
    expect(await ask('/f', undefined, 'DELETE')).toEqual(deleted);
    expect(tables.listAppends.size).toBe(0);
  });

  it('makes every later call answer that it was deleted', async () => {
    const { ask, holding } = startedLists();
    await holding(10);
    const { claimId } = await ask('/f/claims', { count: 5, leaseSeconds: 60 });
    await ask('/f', undefined, 'DELETE');
    for (const [path, body, method] of callsOf('/f', claimId as string).filter(
      ([path, , method]) => path !== '/f' || method !== 'DELETE',
    ))
      expect([path, method, await ask(path, body, method)]).toMatchObject([
        path,
        method,
        { code: 404, detail: 'list f was deleted' },
      ]);
    expect(await ask('', { id: 'f' })).toMatchObject({
      code: 409,
      detail: 'list f was deleted: use another id',
    });
  });

  it('has to wait for the event of its end', async () => {
    const { ask, kit, trackerOf } = startedLists();
    await ask('', { id: 'f' });
    const { forgetEvent } = kit.fanOuts;
    kit.fanOuts.forgetEvent = async () => {};
    await ask('/f/seal', {});
    const detail = 'the event of the end of list f is being sent: try again in a moment';
    expect(await ask('/f', undefined, 'DELETE')).toMatchObject({ code: 409, detail });
    expect(await ask('/f')).toMatchObject({ status: 'complete' });
    kit.fanOuts.forgetEvent = forgetEvent;
    await forgetEvent.call(kit.fanOuts, trackerOf(), NOW + 1);
    expect(await ask('/f', undefined, 'DELETE')).toMatchObject({ code: 200, status: 'deleted' });
  });

  it('refuses a body', async () => {
    const { ask } = startedLists();
    await ask('', { id: 'f' });
    expect(await ask('/f', { dryRun: true }, 'DELETE')).toMatchObject({ code: 400, errors: [{ path: 'dryRun' }] });
    expect(await ask('/f')).toMatchObject({ status: 'open' });
  });
});

const callsOf = (list: string, claim: string) =>
  [
    [list, undefined, 'GET'],
    [list, undefined, 'DELETE'],
    [`${list}/jobs`, undefined, 'GET'],
    [`${list}/jobs`, { jobs: someJobs(1) }, 'POST'],
    [`${list}/seal`, {}, 'POST'],
    [`${list}/cancel`, {}, 'POST'],
    [`${list}/triggers`, { count: 1 }, 'POST'],
    [`${list}/claims`, { count: 1, leaseSeconds: 60 }, 'POST'],
    [`${list}/claims`, undefined, 'GET'],
    [`${list}/claims/${claim}`, undefined, 'DELETE'],
    [`${list}/claims/${claim}`, { leaseSeconds: 60 }, 'PUT'],
    [`${list}/claims/${claim}/complete`, {}, 'POST'],
    [`${list}/claims/${claim}/release`, {}, 'POST'],
  ] as const;

it('an unknown list is answered 404 in every call', async () => {
  const { ask } = startedLists();
  for (const name of ['nobody', 'a%3Ab', '%F0%9F%98%80', 'x'.repeat(65), '~nobody'])
    for (const [path, body, method] of callsOf(
      `/${name}`,
      handleOf(name as ListId, 'c' as ClaimId, [{ first: 0, count: 1 }]),
    ))
      expect([path, method, await ask(path, body, method)]).toMatchObject([
        path,
        method,
        { code: 404, detail: expect.stringContaining('there is no list "') },
      ]);
});

it('a list cannot be read or acked as a fan-out', async () => {
  const { ask, kit, holding } = startedLists();
  await holding(1);
  const app = api({ ...kit, newId: () => 'x', onError: (cause) => console.error(cause) });
  for (const id of ['f', '~f', '%7Ef']) expect((await app.request(`/v1/fan-outs/${id}`)).status).toBe(404);
  const acks = await app.request('/v1/fan-outs/acks', { method: 'POST', body: '{"items":["~f:0:0"]}' });
  expect(acks.status).toBe(400);
  expect(await ask('/f')).toMatchObject({ available: 1, done: 0 });
});

it('a list under contention answers 503 with retry-after', async () => {
  const { ask, request, holding, kit } = startedLists();
  await holding(3, { operation: 'ship' });
  kit.lists.publish = async () => false;
  kit.lists.take = async () => false;
  kit.lists.leaseFresh = async () => undefined;
  for (const [path, body] of [
    ['/f/jobs', { jobs: someJobs(1), token: 'a' }],
    ['/f/triggers', { count: 1, token: 'a' }],
    ['/f/claims', { count: 1, leaseSeconds: 60, claimId: 'a' }],
  ] as const) {
    const busy = await request(path, body);
    expect([path, busy.status, busy.headers.get('retry-after')]).toEqual([path, 503, '1']);
    expect(await busy.json()).toMatchObject({
      title: 'Busy',
      detail: expect.stringContaining('same token or claimId'),
    });
  }
  expect(await ask('/f')).toMatchObject({ total: 3, available: 3 });
});

it('a running list that is too large to count says so', async () => {
  const kit = stepKit(memoryStores(), listConfig());
  const tables = emptyTables();
  const narrow = { width: 3, acksAtOnce: 2 };
  const app = api({
    ...kit,
    fanOuts: memoryFanOuts(tables, openGate, narrow),
    lists: memoryLists(tables, openGate, narrow),
    newId: () => `t${tables.listAppends.size}`,
    onError: (cause) => console.error(cause),
  });
  const ask = async (path: string, body?: object): Promise<Answer> => {
    const response = await app.request(`/v1/lists${path}`, body && { method: 'POST', body: JSON.stringify(body) });
    return (await response.json()) as Answer;
  };
  await ask('', { id: 'f' });
  for (let n = 0; n < 16; n += 1) await ask('/f/jobs', { jobs: someJobs(1_000) });
  const { claimId } = await ask('/f/claims', { count: 2, leaseSeconds: 60 });
  await ask(`/f/claims/${claimId}/complete`, { jobs: [{ token: 0, status: 'failed' }] });
  const { failed, ...shown } = await ask('/f');
  expect(shown).toEqual({
    id: 'f',
    status: 'open',
    total: 16_000,
    available: 15_998,
    leased: 1,
    countsAreAtLeast: true,
    createdAt: ISO_NOW,
  });
  expect(failed).toBeLessThanOrEqual(1);
});

it('a list path answers 405 with the allowed methods to others', async () => {
  const { request } = startedLists();
  for (const [path, method, allowed] of [
    ['', 'PUT', 'GET, POST'],
    ['/f', 'POST', 'GET, DELETE'],
    ['/f/jobs', 'PUT', 'GET, POST'],
    ['/f/seal', 'GET', 'POST'],
    ['/f/cancel', 'DELETE', 'POST'],
    ['/f/triggers', 'GET', 'POST'],
    ['/f/claims', 'PUT', 'GET, POST'],
    ['/f/claims/c', 'GET', 'PUT, DELETE'],
    ['/f/claims/c/complete', 'PUT', 'POST'],
    ['/f/claims/c/release', 'DELETE', 'POST'],
  ] as const) {
    const response = await request(path, undefined, method);
    expect([path, method, response.status, response.headers.get('allow')]).toEqual([path, method, 405, allowed]);
  }
});
