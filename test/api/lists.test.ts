import { describe, expect, it } from 'vitest';
import { ISO_NOW, someJobs, startedLists } from './list-kit.ts';

const NONE = { total: 0, available: 0, leased: 0, started: 0, done: 0, succeeded: 0, failed: 0 };
const SOME = { status: 'open', ...NONE, createdAt: ISO_NOW };

describe('opening', () => {
  it('gives an id to a list that brings none', async () => {
    const { ask } = startedLists();
    expect(await ask('', {})).toEqual({ code: 201, id: 'new-1', ...SOME });
    expect(await ask('/new-1')).toEqual({ code: 200, id: 'new-1', ...SOME });
  });

  it('keeps what its jobs become, its name and whom to tell', async () => {
    const { ask } = startedLists();
    const fields = { operation: 'ship', name: 'ü'.repeat(32), callback: 'ops' };
    const shown = { id: 'night-7', ...SOME, ...fields };
    expect(await ask('', { id: 'night-7', ...fields })).toEqual({ code: 201, ...shown });
    expect(await ask('/night-7')).toEqual({ code: 200, ...shown });
  });

  it('again is the same one, for who lost the answer; another one does not take its id', async () => {
    const { ask } = startedLists();
    const fields = { id: 'f', operation: 'ship', name: 'a', callback: 'ops' };
    await ask('', fields);
    await ask('/f/jobs', { jobs: someJobs(2) });
    expect(await ask('', fields)).toMatchObject({ code: 200, id: 'f', total: 2 });
    for (const what of ['operation', 'name', 'callback']) {
      const detail = `list f is there already, with another ${what}: take another id, or the same`;
      expect(await ask('', { ...fields, [what]: undefined })).toMatchObject({ code: 409, detail });
    }
    expect(await ask('', { ...fields, name: 'b' })).toMatchObject({ code: 409 });
    expect(await ask('/f')).toMatchObject({ operation: 'ship', name: 'a', callback: 'ops', total: 2 });
  });

  it('is refused with everything that is wrong, and nothing is opened', async () => {
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

describe('adding', () => {
  it('answers where its jobs are, the same for the same token', async () => {
    const { ask } = startedLists();
    await ask('', { id: 'f' });
    const jobs = someJobs(1_000);
    expect(await ask('/f/jobs', { jobs, token: 'a' })).toEqual({ code: 200, first: 0, count: 1_000, total: 1_000 });
    expect(await ask('/f/jobs', { jobs: someJobs(3) })).toEqual({ code: 200, first: 1_000, count: 3, total: 1_003 });
    expect(await ask('/f/jobs', { jobs: someJobs(3) })).toMatchObject({ first: 1_003, total: 1_006 });
    expect(await ask('/f/jobs', { jobs, token: 'a' })).toMatchObject({ first: 0, count: 1_000, total: 1_006 });
    expect(await ask('/f/jobs', { jobs: someJobs(1), token: 'a' })).toMatchObject({
      code: 409,
      detail: 'the token stands for other jobs already: another addition takes another one',
    });
    expect(await ask('/f')).toMatchObject({ total: 1_006, available: 1_006, done: 0 });
  });

  it('is refused with everything that is wrong, and nothing is added', async () => {
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
