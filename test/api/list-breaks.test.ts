/** What became of claims: deliveries, releases with attempted jobs, the list of claims, and claims that people end. */
import { describe, expect, it } from 'vitest';
import { claimKeyOf } from '../../src/domain/lists/ids.ts';
import { NOW } from '../factories/factories.ts';
import { startedLists } from './list-kit.ts';

const MINUTE = 60_000;
const iso = (at: number): string => new Date(at).toISOString();
const keyOf = (name: string) => claimKeyOf(name as never);
const error = { code: 'no-depot', message: 'MUC is closed' };

const claimed = async (count = 10, jobs = 25, fields: object = {}) => {
  const started = startedLists();
  await started.holding(jobs, fields);
  const claim = (more: object = {}) => started.ask('/f/claims', { count, leaseSeconds: 60, ...more });
  const { claimId } = await claim({ claimId: 'worker-3', holder: 'Worker 3' });
  return { ...started, claim, handle: claimId as string };
};
const paths = (handle: string) => [handle, 'worker-3', keyOf('worker-3')];

describe('a claim is named', () => {
  it('by the claimId of the answer, by its id, or by its name in the list', async () => {
    for (const which of [0, 1, 2]) {
      const { ask, handle } = await claimed();
      const path = `/f/claims/${paths(handle)[which]}`;
      expect(await ask(path, { leaseSeconds: 90 }, 'PUT')).toMatchObject({ expiresAt: iso(NOW + 1.5 * MINUTE) });
      expect(await ask(`${path}/complete`, { jobs: [{ token: 3 }] })).toEqual({ code: 200, complete: false });
      expect(await ask(`${path}/release`, { attempted: [{ token: 4 }] })).toMatchObject({ released: 9, failed: 0 });
      expect(await ask(`${path}/release`, {}), 'again').toMatchObject({ code: 200, released: 0 });
      expect(await ask(path, { leaseSeconds: 90 }, 'PUT')).toMatchObject({ code: 409 });
    }
  });

  it('by one text that may be an id or a name in the list, whichever exists', async () => {
    const { ask, claim } = await claimed();
    // An id of eight characters has the form of a name in the list.
    await claim({ claimId: 'worker-4' });
    expect(await ask('/f/claims/worker-4', undefined, 'DELETE')).toMatchObject({ claim: keyOf('worker-4') });
    expect(await ask('/f/claims/12345678', undefined, 'DELETE')).toMatchObject({ code: 404 });
  });

  it('with all of its ranges, however many it has', async () => {
    const { ask, claim } = await claimed(2, 6);
    const ids = ['worker-3', 'b', 'c'];
    for (const claimId of ids) await claim({ claimId });
    for (const id of ids) await ask(`/f/claims/${id}/release`, { attempted: [] });
    const { claimId, jobs } = await claim({ claimId: 'all', count: 5 });
    expect(jobs).toHaveLength(5);
    expect(claimId).toMatch(/^all\.0\.2\.2\.2\.4\.1\.[\w-]{6}$/);
    const reason = 'must be the token of a job of this claim: a whole number from 0 to 1, 2 to 3, 4 to 4';
    expect(await ask(`/f/claims/${claimId}/complete`, { jobs: [{ token: 5 }] })).toMatchObject({
      code: 400,
      errors: [{ path: 'jobs[0].token', reason }],
    });
    expect(await ask(`/f/claims/all/release`, { attempted: [{ token: 5 }] })).toMatchObject({
      errors: [{ path: 'attempted[0].token', reason }],
    });
    expect(await ask(`/f/claims/${claimId}/complete`, {})).toMatchObject({ code: 200 });
    expect(await ask('/f')).toMatchObject({ done: 5, available: 1, leased: 0 });
  });
});

describe('a release', () => {
  it('counts as a delivery of the attempted jobs only', async () => {
    const { ask, claim, handle } = await claimed(3, 3);
    expect(await ask(`/f/claims/${handle}/release`, { attempted: [{ token: 1, error }] })).toMatchObject({
      code: 200,
      released: 3,
      failed: 0,
    });
    const { jobs } = await claim();
    expect((jobs as { token: number; deliveries: number }[]).map((job) => [job.token, job.deliveries])).toEqual([
      [0, 1],
      [2, 1],
      [1, 2],
    ]);
  });

  it('fails a job in its last delivery with its error, and shows it with the job', async () => {
    const { ask, claim, handle } = await claimed(3, 3, { maxDeliveries: 2 });
    await ask(`/f/claims/${handle}/release`, { attempted: [{ token: 1, error }, { token: 2 }] });
    const { claimId } = await claim();
    const released = await ask(`/f/claims/${claimId}/release`, { attempted: [{ token: 1, error }, { token: 2 }] });
    expect(released).toMatchObject({ code: 200, released: 1, failed: 2 });
    expect(await ask('/f')).toMatchObject({ available: 1, leased: 0, done: 2, failed: 2, maxDeliveries: 2 });
    const message = 'handed out 2 times without an outcome: its worker died, released it, or lost it';
    expect(await ask('/f/jobs')).toMatchObject({
      jobs: [
        { token: 0, status: 'waiting' },
        { token: 1, status: 'failed', error },
        { token: 2, status: 'failed', error: { code: 'too-many-deliveries', message } },
      ],
    });
  });

  it('with an invalid body changes nothing, and names each wrong field', async () => {
    const { ask, handle } = await claimed();
    const token = 'must be the token of a job of this claim: a whole number from 0 to 9';
    const list = 'must be a list of 0 to 10 jobs of the claim';
    for (const [body, ...errors] of [
      [{ jobs: [] }, { path: 'jobs', reason: 'is unknown; known are attempted' }],
      [{ attempted: null }, { path: 'attempted', reason: list }],
      [{ attempted: {} }, { path: 'attempted', reason: list }],
      [{ attempted: Array.from({ length: 11 }, () => ({ token: 1 })) }, { path: 'attempted', reason: list }],
      [{ attempted: [7] }, { path: 'attempted[0]', reason: 'must be an object such as {"token": 17}' }],
      [
        { attempted: [{}, { token: 10 }, { token: -1 }, { token: '1' }, { token: 1.5 }] },
        ...[0, 1, 2, 3, 4].map((n) => ({ path: `attempted[${n}].token`, reason: token })),
      ],
      [
        { attempted: [{ token: 1 }, { token: 2 }, { token: 1 }] },
        { path: 'attempted[2].token', reason: 'is also the token of attempted[0]: list each job once' },
      ],
      [
        { attempted: [{ token: 1, status: 'failed' }] },
        { path: 'attempted[0].status', reason: 'is unknown; known are token, error' },
      ],
      [
        { attempted: [{ token: 1, error: 'broken' }] },
        { path: 'attempted[0].error', reason: 'must be {"code": "…", "message": "…"}' },
      ],
      [
        { attempted: [{ token: 1, error: { code: 'x'.repeat(129), message: '' } }] },
        { path: 'attempted[0].error.code' },
        { path: 'attempted[0].error.message' },
      ],
    ] as const)
      expect([body, await ask(`/f/claims/${handle}/release`, body)]).toMatchObject([body, { code: 400, errors }]);
    expect(await ask('/f')).toMatchObject({ available: 15, leased: 10, done: 0 });
  });
});

describe('the claims of a list', () => {
  it('are listed with their holders, by the end of their leases', async () => {
    const { ask, claim, handle, kit } = await claimed(10, 25);
    await claim({ claimId: 'short', count: 5, leaseSeconds: 1 });
    await ask(`/f/claims/${handle}/complete`, { jobs: [{ token: 2 }, { token: 9 }] });
    expect(await ask('/f/claims')).toEqual({
      code: 200,
      claims: [
        {
          claim: keyOf('short'),
          since: iso(NOW),
          state: 'running',
          expiresAt: iso(NOW + 1_000),
          availableAgainAt: iso(NOW + 61_000),
          jobs: 5,
          deliveries: 1,
          ranges: [{ first: 10, count: 5 }],
        },
        {
          claim: keyOf('worker-3'),
          holder: 'Worker 3',
          since: iso(NOW),
          state: 'running',
          expiresAt: iso(NOW + MINUTE),
          availableAgainAt: iso(NOW + 2 * MINUTE),
          jobs: 8,
          deliveries: 1,
          ranges: [{ first: 0, count: 10 }],
        },
      ],
    });
    const states = async () => ((await ask('/f/claims')).claims as { state: string }[]).map(({ state }) => state);
    kit.now += 1_001;
    expect(await states()).toEqual(['ended', 'running']);
    kit.now += MINUTE;
    expect(await states()).toEqual(['available', 'ended']);
  });

  it('are none without claims, and include those beyond 64', async () => {
    const { ask, holding } = startedLists();
    await holding(100);
    expect(await ask('/f/claims')).toEqual({ code: 200, claims: [] });
    for (let n = 0; n < 70; n += 1) await ask('/f/claims', { count: 1, leaseSeconds: 60 + n });
    const claims = (await ask('/f/claims')).claims as { ranges: { first: number }[] }[];
    expect(claims.map(({ ranges }) => ranges[0]?.first)).toEqual(Array.from({ length: 70 }, (_, n) => n));
    expect(await ask('/f')).toMatchObject({ available: 30, leased: 70 });
  });
});

describe('a claim that a person ends', () => {
  it('frees its open jobs at once, and is lost to its worker', async () => {
    for (const which of [0, 1, 2]) {
      const { ask, claim, handle } = await claimed();
      await ask(`/f/claims/${handle}/complete`, { jobs: [{ token: 0 }] });
      const path = `/f/claims/${paths(handle)[which]}`;
      expect(await ask(path, undefined, 'DELETE')).toEqual({ code: 200, claim: keyOf('worker-3'), released: 9 });
      expect(await ask('/f')).toMatchObject({ available: 24, leased: 0, done: 1 });
      expect(await ask(`/f/claims/${handle}/complete`, {})).toMatchObject({
        code: 409,
        detail: expect.stringContaining('or the claim was broken'),
      });
      expect(await ask(path, undefined, 'DELETE'), 'again').toMatchObject({ code: 404 });
      expect(await claim({ count: 25 })).toMatchObject({ jobs: Array.from({ length: 15 }, () => ({ deliveries: 1 })) });
      expect(await ask('/f/claims/worker-3', undefined, 'DELETE')).toMatchObject({ code: 404 });
    }
  });

  it('is ended also if it has other jobs than the claimId names', async () => {
    const { ask, claim, handle } = await claimed();
    await ask(`/f/claims/${handle}/release`, { attempted: [] });
    await claim({ claimId: 'worker-3', count: 2 });
    expect(await ask(`/f/claims/${handle}`, undefined, 'DELETE')).toMatchObject({ code: 200, released: 2 });
  });

  it('is refused with its reason if there is none, and with a body', async () => {
    const { ask, holding, handle } = await claimed();
    await holding(1, {}, 'g');
    const other = { code: 409, detail: 'the claim belongs to another list than g' };
    expect(await ask(`/g/claims/${handle}`, undefined, 'DELETE')).toMatchObject(other);
    for (const name of ['nobody', keyOf('nobody'), 'a.b', '-', 'x'.repeat(900)])
      expect(await ask(`/f/claims/${name}`, undefined, 'DELETE')).toEqual({
        code: 404,
        status: 404,
        type: expect.any(String),
        title: expect.any(String),
        detail: `list f has no claim "${name.slice(0, 200)}": use the claimId from the answer of the claim, or a claim that groupage lists claims or GET /lists/f/claims lists`,
      });
    expect(await ask('/f/claims/worker-3', { force: true }, 'DELETE')).toMatchObject({
      code: 400,
      errors: [{ path: 'force' }],
    });
    expect(await ask('/f')).toMatchObject({ leased: 10 });
  });
});

describe('a list', () => {
  it('keeps its own number of deliveries, and can only be opened again with it', async () => {
    const { ask } = startedLists();
    expect(await ask('', { id: 'f', maxDeliveries: 3 })).toMatchObject({ code: 201, maxDeliveries: 3 });
    expect(await ask('', { id: 'f', maxDeliveries: 3 })).toMatchObject({ code: 200 });
    const detail = 'list f already exists with another maxDeliveries: use another id, or the same maxDeliveries';
    for (const fields of [{ maxDeliveries: 4 }, {}])
      expect(await ask('', { id: 'f', ...fields })).toMatchObject({ code: 409, detail });
    expect(await ask('')).toMatchObject({ lists: [{ id: 'f', maxDeliveries: 3 }] });
    for (const maxDeliveries of [0, 101, 1.5, '3', null])
      expect(await ask('', { id: 'g', maxDeliveries })).toMatchObject({
        code: 400,
        errors: [{ path: 'maxDeliveries', reason: 'must be a whole number from 1 to 100' }],
      });
  });

  it('refuses the token of a trigger with another amount', async () => {
    const { ask, holding } = startedLists();
    await holding(10, { operation: 'ship' });
    expect(await ask('/f/triggers', { count: 2, token: 't' })).toMatchObject({ triggered: 2, left: 8 });
    const detail = 'the token was already used to trigger 2 jobs of list f: use a new token, or the same amount';
    for (const wanted of [{ count: 3 }, { percent: 20 }])
      expect(await ask('/f/triggers', { ...wanted, token: 't' })).toMatchObject({ code: 409, detail });
    expect(await ask('/f/triggers', { count: 2, token: 't' })).toMatchObject({ triggered: 2, left: 8 });
  });
});
