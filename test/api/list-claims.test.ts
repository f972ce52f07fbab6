import { describe, expect, it } from 'vitest';
import { NOW } from '../factories/factories.ts';
import { startedLists } from './list-kit.ts';

const MINUTE = 60_000;
const iso = (at: number): string => new Date(at).toISOString();
const jobsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({ token: first + n, payload: { depot: 'MUC', n: first + n } }));

const claimed = async (count = 10, jobs = 25) => {
  const started = startedLists();
  await started.holding(jobs);
  const claim = (fields: object = {}) => started.ask('/f/claims', { count, leaseSeconds: 60, ...fields });
  const { claimId } = await claim({ claimId: 'mine' });
  return { ...started, claim, mine: `/f/claims/${claimId}` };
};

describe('claiming', () => {
  it('gets the next jobs for a while, and the same ones again under the same id', async () => {
    const { ask, holding } = startedLists();
    await holding(25);
    const first = await ask('/f/claims', { count: 10, leaseSeconds: 60, claimId: 'a' });
    expect(first).toEqual({
      code: 200,
      claimId: expect.stringMatching(/^a\.0\.10\.[\w-]{6}$/),
      jobs: jobsFrom(0, 10),
      expiresAt: iso(NOW + MINUTE),
    });
    expect(await ask('/f/claims', { count: 10, leaseSeconds: 60, claimId: 'a' })).toEqual(first);
    expect(await ask('/f/claims', { count: 10, leaseSeconds: 60 })).toMatchObject({ jobs: jobsFrom(10, 10) });
    expect(await ask('/f/claims', { count: 1_000, leaseSeconds: 60 })).toMatchObject({ jobs: jobsFrom(20, 5) });
    expect(await ask('/f/claims', { count: 10, leaseSeconds: 60 })).toEqual({ code: 200, jobs: [], status: 'open' });
    expect(await ask('/f')).toMatchObject({ total: 25, available: 0, leased: 25, started: 0, done: 0 });
  });
});

describe('a claim', () => {
  it('is renewed, done, or given back', async () => {
    const { ask, mine, kit } = await claimed();
    kit.now += MINUTE / 2;
    expect(await ask(mine, { leaseSeconds: 60 }, 'PUT')).toEqual({ code: 200, expiresAt: iso(NOW + 1.5 * MINUTE) });
    expect(await ask(`${mine}/complete`, { jobs: [{ token: 3 }] })).toEqual({ code: 200, complete: false });
    expect(await ask('/f')).toMatchObject({ available: 15, leased: 9, done: 1, succeeded: 1 });
    expect(await ask(`${mine}/release`, {})).toEqual({ code: 200, released: 10 });
    expect(await ask(`${mine}/release`, {})).toEqual({ code: 200, released: 0 });
    expect(await ask('/f')).toMatchObject({ available: 24, leased: 0, done: 1, started: 0 });
  });
});
