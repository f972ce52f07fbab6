import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ClaimLoopOptions,
  claimLoop,
  createListClient,
  type DeferredList,
  type HandledJob,
  JobFailed,
  type ListedJob,
  type ListToCreate,
} from '../../src/client/client.ts';
import { eventually } from '../end-to-end/flow.ts';
import { type ServedApi, servedApi } from './served-api.ts';

let served: ServedApi;
beforeEach(async () => {
  served = await servedApi();
  // Random pauses become 0.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await served.stop();
});

interface Numbered {
  readonly n: number;
}
type Handler = (job: HandledJob<Numbered>) => unknown;

const numbered = (count: number): Numbered[] => Array.from({ length: count }, (_, n) => ({ n }));
const holding = async (count: number, fields: ListToCreate = {}): Promise<DeferredList<Numbered>> => {
  const list = await createListClient({ api: served.url }).createList<Numbered>(fields);
  await list.add(numbered(count));
  return list;
};
const sealed = async (count: number, fields: ListToCreate = {}) => {
  const list = await holding(count, fields);
  await list.seal();
  return list;
};
const work = (list: DeferredList<Numbered>, handler: Handler, options: Partial<ClaimLoopOptions> = {}) =>
  claimLoop(list, handler, { count: 10, leaseSeconds: 60, ...options });
const jobsOf = async (list: DeferredList<Numbered>): Promise<ListedJob[]> => {
  const jobs: ListedJob[] = [];
  for await (const job of list.jobs()) jobs.push(job);
  return jobs;
};
/** With so many deliveries left, the next claim gets as many jobs of a lost claim as it asks for. */
const MANY_DELIVERIES = { maxDeliveries: 100 };
/** A handler that waits until `open` is called, and records its jobs. */
const gated = () => {
  const seen: HandledJob<Numbered>[] = [];
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const handler: Handler = async (job) => {
    seen.push(job);
    await gate;
    return 'late';
  };
  return { seen, handler, open };
};
const asked = (method: string, end: string) =>
  served.asked.filter((each) => each.method === method && each.path.endsWith(end));
/** The error that a promise rejects with. */
const thrown = (working: Promise<unknown>): Promise<unknown> =>
  working.then(
    () => 'nothing was thrown',
    (cause: unknown) => cause,
  );

describe('a claim loop', () => {
  it('does each job once, and stores its result or error', async () => {
    const list = await sealed(95);
    const seen: number[] = [];
    const handler: Handler = ({ token, payload: { n } }) => {
      expect(token).toBe(n);
      seen.push(n);
      if (n % 10 === 3) throw new JobFailed('odd', n === 3 ? '' : `${n}: ${'ü'.repeat(5_000)}`);
      return n % 2 === 0 ? { n } : undefined;
    };
    expect(await work(list, handler, { claimers: 3, concurrency: 4 })).toEqual({
      ended: 'complete',
      claims: 10,
      succeeded: 85,
      failed: 10,
      released: 0,
      lost: 0,
    });
    expect(seen.toSorted((a, b) => a - b)).toEqual(numbered(95).map(({ n }) => n));
    const jobs = await jobsOf(list);
    expect(jobs[2]).toMatchObject({ status: 'succeeded', result: { n: 2 } });
    expect(jobs[3]).toMatchObject({ status: 'failed', error: { code: 'odd', message: 'odd' } });
    expect(jobs[13]?.error?.message).toMatch(/^13: ü{2046}$/);
    expect(jobs[5]).toMatchObject({ status: 'succeeded' });
  });

  it('does each job once although requests get lost and answers come twice', async () => {
    served.fate = (n) => (['answer-lost', 503, 'request-lost', 'answer-lost'] as const)[n - 1];
    const list = await sealed(120);
    const times = new Map<number, number>();
    const handler: Handler = ({ token }) => void times.set(token, (times.get(token) ?? 0) + 1);
    expect(await work(list, handler, { claimers: 4, concurrency: 10 })).toMatchObject({
      ended: 'complete',
      claims: 12,
      succeeded: 120,
      lost: 0,
    });
    expect([times.size, Math.max(...times.values())]).toEqual([120, 1]);
  });

  it('of 64 claimers does each job once although a fifth of the answers is lost', async () => {
    const list = await sealed(3_000);
    let dice = 7;
    served.fate = () => {
      dice = (dice * 16_807) % 2_147_483_647;
      return dice % 5 === 0 ? 'answer-lost' : undefined;
    };
    const warned: Error[] = [];
    const onWarning = (warning: Error) => warned.push(warning);
    process.on('warning', onWarning);
    const times = new Map<number, number>();
    const handler: Handler = ({ token }) => void times.set(token, (times.get(token) ?? 0) + 1);
    const end = await work(list, handler, { claimers: 64, concurrency: 20, count: 40 });
    process.off('warning', onWarning);
    expect(end).toMatchObject({ ended: 'complete', succeeded: 3_000, lost: 0 });
    expect([times.size, Math.max(...times.values()), warned]).toEqual([3_000, 1, []]);
  });

  it('reports jobs that end together in one call, without waiting for others', async () => {
    const list = await sealed(20);
    const { handler, open } = gated();
    const looping = work(list, (job) => (job.token === 0 ? handler(job) : job.token), { count: 20, concurrency: 20 });
    await eventually(async () => (await list.get()).done === 19);
    expect(asked('POST', '/complete').map(({ body }) => (body.jobs as []).length)).toEqual([19]);
    open();
    expect(await looping).toMatchObject({ succeeded: 20 });
    expect(asked('POST', '/complete')).toHaveLength(2);
  });

  it('splits large results into several calls', async () => {
    const list = await sealed(40);
    const result = 'x'.repeat(200_000);
    expect(await work(list, () => result, { count: 40, concurrency: 40 })).toMatchObject({ succeeded: 40 });
    const sizes = asked('POST', '/complete').map(({ body }) => JSON.stringify(body).length);
    expect([sizes.length, Math.max(...sizes) < 4_000_000]).toEqual([3, true]);
    expect((await jobsOf(list))[39]?.result).toBe(result);
  });

  it('runs as many handlers at once as configured', async () => {
    const list = await sealed(30);
    let [now, most] = [0, 0];
    const handler: Handler = async () => {
      now += 1;
      most = Math.max(most, now);
      await pause(2);
      now -= 1;
    };
    await work(list, handler, { claimers: 2, concurrency: 3 });
    expect(most).toBe(6);
  });
});

describe('the lease of a claim loop', () => {
  it('is renewed while the handler runs', async () => {
    const list = await sealed(1);
    const looping = work(list, () => pause(1_500), { leaseSeconds: 1 });
    expect(await looping).toMatchObject({ ended: 'complete', succeeded: 1, lost: 0 });
    const renewals = served.asked.filter(({ method }) => method === 'PUT');
    expect(renewals.length).toBeGreaterThanOrEqual(3);
    expect(renewals.length).toBeLessThanOrEqual(4);
    expect(renewals[0]?.body).toEqual({ leaseSeconds: 1 });
  });

  it('is noticed as lost at a renewal, and running jobs are aborted', async () => {
    const list = await sealed(5, MANY_DELIVERIES);
    const { seen, handler, open } = gated();
    const looping = work(list, handler, { leaseSeconds: 1, count: 5, concurrency: 2 });
    await eventually(() => seen.length === 2);
    // The worker's clock is behind: on the server the lease is over.
    served.kit.now += 300_000;
    const other = await list.claim({ count: 5, leaseSeconds: 60 });
    expect(other).toMatchObject({ kind: 'claimed', jobs: { length: 5 } });
    await eventually(() => seen.every(({ signal }) => signal.aborted));
    open();
    if (other.kind === 'claimed') await other.complete();
    expect(await looping).toEqual({ ended: 'complete', claims: 1, succeeded: 0, failed: 0, released: 0, lost: 5 });
    expect(seen).toHaveLength(2);
    const [mine, others] = [asked('POST', '/complete'), asked('POST', '/release')];
    expect([mine.length, others.length]).toEqual([1, 0]);
  });

  it('is noticed as lost when a job is completed', async () => {
    const list = await sealed(5, MANY_DELIVERIES);
    const { seen, handler, open } = gated();
    const ended = ({ signal }: HandledJob<Numbered>) => new Promise((end) => signal.addEventListener('abort', end));
    const looping = work(list, (job) => (job.token === 0 ? handler(job) : ended(job)), { count: 5 });
    await eventually(() => seen.length === 1);
    served.kit.now += 300_000;
    const other = await list.claim({ count: 5, leaseSeconds: 60 });
    open();
    await eventually(() => seen[0]?.signal.aborted === true);
    if (other.kind === 'claimed') await other.complete();
    expect(await looping).toEqual({ ended: 'complete', claims: 1, succeeded: 0, failed: 0, released: 0, lost: 5 });
    expect(asked('POST', '/release')).toEqual([]);
  });

  it('ends without renewals, but a finished job is reported', async () => {
    const list = await sealed(3);
    served.fate = (_, request) => (request.startsWith('PUT') ? 503 : undefined);
    const { seen, handler, open } = gated();
    const looping = work(list, handler, { leaseSeconds: 1, count: 3 });
    await eventually(() => seen[0]?.signal.aborted === true);
    served.fate = () => undefined;
    // No other worker has claimed the jobs.
    const again: number[] = [];
    const rest = work(list, ({ token }) => again.push(token), { leaseSeconds: 1 });
    open();
    expect(await looping).toMatchObject({ ended: 'complete', lost: 0 });
    await rest;
    expect(seen[0]?.token).toBe(0);
    expect((await jobsOf(list))[0]).toMatchObject({ result: 'late' });
  });

  it("is renewed before the first job if the claim's answer was slow", async () => {
    const list = await sealed(2);
    const order: string[] = [];
    const claim = list.claim;
    const slow: DeferredList<Numbered> = {
      ...list,
      claim: async (wanted) => {
        const answer = await claim(wanted);
        await pause(400);
        return answer;
      },
    };
    const handler: Handler = ({ token }) => {
      order.push(`${token} after ${served.asked.filter(({ method }) => method === 'PUT').length} renewals`);
    };
    expect(await work(slow, handler, { leaseSeconds: 1 })).toMatchObject({ succeeded: 2 });
    expect(order[0]).toBe('0 after 1 renewals');
  });
});

describe('an error of a handler', () => {
  it('does not end the loop; the job fails after its deliveries', async () => {
    const list = await sealed(20, { maxDeliveries: 3 });
    const deliveries: number[] = [];
    const errors: unknown[] = [];
    const cause = new TypeError('a bug');
    const handler: Handler = (job) => {
      if (job.token !== 3) return;
      deliveries.push(job.deliveries);
      throw cause;
    };
    const onJobError = (job: { readonly token: number }, error: unknown) => errors.push(job.token, error);
    expect(await work(list, handler, { onJobError })).toEqual({
      ended: 'complete',
      claims: 4,
      succeeded: 19,
      failed: 1,
      released: 2,
      lost: 0,
    });
    expect(deliveries).toEqual([1, 2, 3]);
    expect(errors).toEqual([3, cause, 3, cause, 3, cause]);
    expect((await jobsOf(list))[3]).toMatchObject({
      status: 'failed',
      error: { code: 'handler-error', message: 'TypeError: a bug' },
    });
  });

  it('goes to standard error, and lengthens the pause if all fail', async () => {
    const lines = vi.spyOn(console, 'error').mockImplementation(() => {});
    const list = await sealed(2, { id: 'broken', maxDeliveries: 2 });
    const from = performance.now();
    const handler: Handler = () => Promise.reject(new Error('the database is down'));
    expect(await work(list, handler)).toMatchObject({ ended: 'complete', claims: 2, failed: 2, released: 2 });
    // Half of a second, because the random part is 0. After the second claim the list is complete.
    expect(performance.now() - from).toBeGreaterThan(490);
    expect(lines.mock.calls.map(([line]) => JSON.parse(line)).slice(0, 2)).toEqual(
      [0, 1].map((token) => ({
        level: 'error',
        event: 'job-error',
        list: 'broken',
        token,
        deliveries: 1,
        error: expect.stringContaining('the database is down'),
      })),
    );
  });

  it('after the abort signal does not count as a delivery', async () => {
    const list = await sealed(3);
    const stop = new AbortController();
    const handler: Handler = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const looping = work(list, handler, { signal: stop.signal });
    await eventually(() => asked('POST', '/claims').length > 0);
    await pause(50);
    stop.abort();
    expect(await looping).toMatchObject({ ended: 'aborted', released: 3, failed: 0 });
    const again = await list.claim({ count: 3, leaseSeconds: 60 });
    expect(again.kind === 'claimed' && again.jobs.map(({ deliveries }) => deliveries)).toEqual([1, 1, 1]);
  });
});

describe('claims of a list', () => {
  it('are listed with their holder, and can be ended', async () => {
    const list = await holding(5);
    const claim = await list.claim({ count: 2, leaseSeconds: 43_200, holder: 'pod-7' });
    if (claim.kind === 'none') throw new Error('nothing was claimed');
    const [listed] = await list.claims();
    expect(listed).toMatchObject({ holder: 'pod-7', state: 'running', jobs: 2, deliveries: 1 });
    expect(listed?.availableAgainAt).toBe(claim.availableAgainAt);
    expect(await list.breakClaim(listed?.claim ?? '')).toEqual({ claim: listed?.claim, released: 2 });
    expect(await list.claims()).toEqual([]);
    expect(await list.get()).toMatchObject({ available: 5, leased: 0 });
    await expect(claim.complete()).rejects.toMatchObject({ status: 409 });
  });
});

describe('a claim loop ends', () => {
  it('on its abort signal: running jobs finish, the others are released', async () => {
    const list = await sealed(10);
    const { seen, handler, open } = gated();
    const stop = new AbortController();
    const looping = work(list, handler, { signal: stop.signal, concurrency: 2 });
    await eventually(() => seen.length === 2);
    stop.abort();
    expect(seen.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    open();
    expect(await looping).toEqual({ ended: 'aborted', claims: 1, succeeded: 2, failed: 0, released: 8, lost: 0 });
    expect(await list.get()).toMatchObject({ done: 2, available: 8, leased: 0 });
    expect(await work(list, handler, { signal: stop.signal })).toMatchObject({ ended: 'aborted', claims: 0 });
  });

  it('on its abort signal while it waits, or while its claim is unanswered', async () => {
    const list = await holding(0);
    const stop = new AbortController();
    const looping = work(list, () => {}, { signal: stop.signal, claimers: 3 });
    await eventually(() => asked('POST', '/claims').length >= 3);
    const from = performance.now();
    stop.abort();
    expect(await looping).toMatchObject({ ended: 'aborted', claims: 0 });
    served.fate = () => 503;
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const other = new AbortController();
    const asking = work(list, () => {}, { signal: other.signal });
    await pause(50);
    const before = served.asked.length;
    other.abort();
    expect(await asking).toMatchObject({ ended: 'aborted', claims: 0 });
    expect(served.asked.length, 'no request is repeated').toBe(before);
    expect(performance.now() - from).toBeLessThan(1_000);
  });

  it('if the list is cancelled: running jobs finish', async () => {
    const list = await holding(20);
    const { seen, handler, open } = gated();
    const looping = work(list, handler);
    await eventually(() => seen.length === 1);
    await list.cancel();
    open();
    expect(await looping).toMatchObject({ ended: 'cancelled', claims: 1, succeeded: 10, lost: 0 });
  });

  it('if a sealed list has no job to claim, as its other jobs are tasks', async () => {
    const list = await createListClient({ api: served.url }).createList<Numbered>({ operation: 'ship' });
    await list.add(numbered(10).map((job) => ({ carrier: 'DHL', depot: 'MUC', ...job })));
    await list.trigger({ count: 4 });
    await list.seal();
    expect(await work(list, () => {})).toMatchObject({ ended: 'drained', succeeded: 6 });
  });

  it('neither while the list is open nor while other workers hold jobs', async () => {
    const list = await holding(2);
    const other = await list.claim({ count: 2, leaseSeconds: 60 });
    if (other.kind === 'none') throw new Error('the other worker claimed nothing');
    const looping = work(list, () => {}, { claimers: 2 });
    await eventually(() => asked('POST', '/claims').length >= 3);
    await list.add(numbered(3));
    await eventually(async () => (await list.get()).done === 3);
    await list.seal();
    const before = asked('POST', '/claims').length;
    await eventually(() => asked('POST', '/claims').length > before + 1);
    await other.release();
    expect(await looping).toMatchObject({ ended: 'complete', succeeded: 5 });
  });

  it('on no 503 for too many claims, but repeats the claim with its id', async () => {
    const list = await sealed(1);
    served.fate = (n, request) => (n < 10 && request.endsWith('/claims') ? 503 : undefined);
    expect(await work(list, () => {}, { claimIdPrefix: 'van-7' })).toMatchObject({ succeeded: 1 });
    const names = asked('POST', '/claims').map(({ body }) => String(body.claimId));
    expect([names.length, new Set(names.slice(0, 10)).size]).toEqual([10, 1]);
    expect(names[0]).toMatch(/^van-7-[0-9A-Z]{26}$/);
  });

  it('if an error cannot be solved by a retry', async () => {
    const nobody = createListClient({ api: served.url }).list<Numbered>('nobody');
    expect(await thrown(work(nobody, () => {}))).toMatchObject({ name: 'ApiRefused', status: 404 });
    const list = await sealed(2);
    served.fate = (_, request) => (request.endsWith('/claims') ? 'request-lost' : undefined);
    expect(await thrown(work(list, () => {}))).toMatchObject({ name: 'ApiUnavailable' });
    served.fate = () => undefined;
    expect(await list.get()).toMatchObject({ available: 2, leased: 0 });
  });

  it('with a failed job if its result is too large', async () => {
    const list = await sealed(1);
    expect(await work(list, () => 'x'.repeat(300_000))).toMatchObject({ ended: 'complete', failed: 1 });
    const message = expect.stringMatching(/^the handler succeeded, but its result has 300002 bytes/);
    expect((await jobsOf(list))[0]).toMatchObject({ error: { code: 'result-too-large', message } });
  });

  it('before its first claim if an option is invalid', async () => {
    const list = await sealed(1);
    for (const [name, value] of [
      ['count', 0],
      ['count', 1_001],
      ['leaseSeconds', 0.5],
      ['leaseSeconds', 43_201],
      ['concurrency', 0],
      ['claimers', 65],
      ['claimIdPrefix', ''],
      ['claimIdPrefix', 'a.b'],
      ['claimIdPrefix', 'x'.repeat(33)],
    ] as const)
      expect(await thrown(work(list, () => {}, { [name]: value })), name).toMatchObject({
        name: 'RangeError',
        message: expect.stringContaining(name),
      });
    expect(asked('POST', '/claims')).toEqual([]);
    for (const code of ['', 'x'.repeat(129), '\ud800']) expect(() => new JobFailed(code, 'm')).toThrow(RangeError);
  });
});
