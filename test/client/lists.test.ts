import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ApiUnavailable,
  createListClient,
  type DeferredList,
  NotAllAdded,
  UnsendableJob,
} from '../../src/client/client.ts';
import type { ListedJob } from '../../src/client/lists.ts';
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

const client = () => createListClient({ api: served.url });
const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, n) => ({ n: from + n }));
const all = async (jobs: AsyncIterable<ListedJob>): Promise<ListedJob[]> => {
  const found: ListedJob[] = [];
  for await (const job of jobs) found.push(job);
  return found;
};
const asked = (end: string) => served.asked.filter(({ path }) => path.endsWith(end));
const claimed = async (list: DeferredList<object>, count: number, claimId?: string) => {
  const claim = await list.claim({ count, leaseSeconds: 60, ...(claimId ? { claimId } : {}) });
  if (claim.kind === 'none') throw new Error('nothing was claimed');
  return claim;
};

describe('a list client', () => {
  it('creates, fills, seals, claims and completes a list', async () => {
    const list = await client().createList<{ n: number }>({ name: 'spring', callback: 'ops' });
    expect(await list.add(numbered(5))).toEqual([{ first: 0, count: 5, total: 5 }]);
    expect(await list.seal()).toMatchObject({ status: 'sealed', available: 5, name: 'spring' });
    const claim = await claimed(list, 3);
    expect(claim.jobs).toEqual(numbered(3).map((payload, token) => ({ token, deliveries: 1, payload })));
    expect(new Date(claim.expiresAt).getTime()).toBe(served.kit.now + 60_000);
    served.kit.now += 10_000;
    expect(await claim.renew(60)).toEqual({
      expiresAt: new Date(served.kit.now + 60_000).toISOString(),
      availableAgainAt: new Date(served.kit.now + 120_000).toISOString(),
    });
    const error = { code: 'no-address', message: 'nobody lives there' };
    const jobs = [
      { token: 0, result: { signed: true } },
      { token: 1, status: 'failed', error },
    ] as const;
    expect(await claim.complete(jobs)).toEqual({ complete: false });
    expect(await claim.release()).toEqual({ released: expect.any(Number), failed: 0, complete: false });
    expect(await list.get()).toMatchObject({ available: 3, leased: 0, done: 2, succeeded: 1, failed: 1 });
    // The fresh jobs come first. The released one is claimed alone, because it may have ended its worker.
    for (const token of [3, 4, 2]) {
      const next = await claimed(list, 1);
      expect(next.jobs).toEqual([{ token, deliveries: token === 2 ? 2 : 1, payload: { n: token } }]);
      expect(await next.complete()).toEqual({ complete: token === 2 });
    }
    expect(await list.get()).toMatchObject({ status: 'complete', succeeded: 4, failed: 1 });
    expect((await all(list.jobs())).slice(0, 2)).toMatchObject([
      { token: 0, status: 'succeeded', payload: { n: 0 }, result: { signed: true } },
      { token: 1, status: 'failed', payload: { n: 1 }, error },
    ]);
    expect(await list.claim({ count: 1, leaseSeconds: 60 })).toEqual({ kind: 'none', status: 'complete' });
  });

  it('adds and triggers jobs once although requests and answers get lost', async () => {
    served.fate = (n) => (['answer-lost', 503, 'request-lost', 'answer-lost'] as const)[n - 1];
    const list = await client().createList({ operation: 'ship' });
    const payloads = numbered(2_500).map(({ n }) => ({ carrier: 'DHL', depot: 'MUC', n }));
    expect((await list.add(payloads)).map(({ first, count }) => [first, count])).toEqual([
      [0, 1_000],
      [1_000, 1_000],
      [2_000, 500],
    ]);
    expect(await list.trigger({ count: 1_200 })).toEqual({ triggered: 1_200, left: 1_300 });
    expect(await list.trigger({ percent: 10 })).toEqual({ triggered: 250, left: 1_050 });
    expect(await list.seal()).toMatchObject({ total: 2_500, available: 1_050, started: 1_450 });
    expect((await all(list.jobs())).map(({ payload }) => payload)).toEqual(payloads);
    expect((await claimed(list, 1_000)).jobs.map(({ token }) => token)).toEqual(
      numbered(1_000, 1_450).map(({ n }) => n),
    );
    expect(await list.cancel()).toMatchObject({ status: 'cancelled' });
    // Each request was repeated with the same token or id.
    for (const [end, times] of [
      ['/jobs', 3],
      ['/triggers', 2],
    ] as const) {
      const posts = asked(end).filter(({ method }) => method === 'POST');
      expect([end, posts.length, new Set(posts.map(({ body }) => body.token)).size]).toEqual([end, 5 * times, times]);
    }
    expect(new Set(asked('/claims').map(({ body }) => body.claimId)).size).toBe(1);
    const { status } = await list.delete();
    expect(status).toBe('deleted');
  });

  it('splits jobs into calls that Lambda accepts, the same ones at a repetition', async () => {
    const quotes = (size: number) => ({ text: '"'.repeat(size) });
    const jobs = Array.from({ length: 30 }, () => quotes(120_000));
    const list = await client().createList();
    const progress: number[] = [];
    await list.add(jobs, { token: 't', onProgress: (added) => progress.push(added) });
    const calls = asked('/jobs').map(({ body }) => body);
    const inEvent = calls.map((body) => Buffer.byteLength(JSON.stringify(JSON.stringify(body))));
    expect(Math.max(...inEvent)).toBeLessThan(4_000_000);
    expect(Math.max(...inEvent)).toBeGreaterThan(3_000_000);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect([progress.at(-1), (await list.get()).total]).toEqual([30, 30]);
    const first = (calls[0] as { jobs: unknown[] }).jobs.length;
    served.asked.length = 0;
    await list.add([...jobs.slice(0, first), { small: true }], { token: 't' }).catch(() => {});
    expect(asked('/jobs').map(({ body }) => [body.token, (body.jobs as []).length])).toEqual([
      ['t.0', first],
      ['t.1', 1],
    ]);
  });

  it('continues an addition of another process by its token', async () => {
    const list = await client().createList({ id: 'l' });
    async function* dying() {
      yield* numbered(1_500);
      throw new Error('the process ends here');
    }
    await expect(list.add(dying(), { token: 'event-7' })).rejects.toThrow('ends here');
    expect((await list.get()).total).toBe(1_000);
    await client().list('l').add(numbered(2_001), { token: 'event-7' });
    expect((await all(list.jobs(990))).map(({ payload }) => payload)).toEqual(numbered(1_011, 990));
  });

  it('can continue a failed addition with the token in its error', async () => {
    const list = await client().createList({ id: 'l', operation: 'ship' });
    const payloads = numbered(2_500).map(({ n }) => ({ carrier: 'DHL', depot: 'MUC', n }));
    // From the second call with jobs on, each answer is lost, as is the answer of the trigger.
    served.fate = (_, request) => {
      if (request.endsWith('/triggers')) return 'answer-lost';
      return request.endsWith('/jobs') && asked('/jobs').length > 1 ? 'answer-lost' : undefined;
    };
    const error = await list.add(payloads).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(NotAllAdded);
    const { token, added, cause } = error as NotAllAdded;
    expect([added, (await list.get()).total]).toEqual([1_000, 2_000]);
    expect(cause).toMatchObject({ name: 'ApiUnavailable' });
    const trigger = await list.trigger({ count: 5 }).catch((thrown: unknown) => thrown);
    expect(trigger).toMatchObject({ name: 'ApiUnavailable', idOrToken: expect.stringMatching(/^[0-9A-Z]{26}$/) });
    served.fate = () => undefined;
    await list.add(payloads, { token });
    expect((await all(list.jobs())).map(({ payload }) => payload)).toEqual(payloads);
    const again = { token: (trigger as ApiUnavailable).idOrToken as string };
    expect(await list.trigger({ count: 5 }, again)).toEqual({ triggered: 5, left: 2_495 });
  });

  it('throws ApiRefused if nothing was added', async () => {
    await expect(client().list('nobody').add(numbered(3))).rejects.toMatchObject({ name: 'ApiRefused', status: 404 });
  });

  it('names a job that cannot be sent, and sends nothing of its call', async () => {
    const list = await client().createList<object>();
    const large = { text: 'x'.repeat(300_000) };
    const cases = [
      [[...numbered(1_200), large], 1_200, /^job 1200: its payload has 300\d+ bytes, more than the limit of 262144$/],
      [[{ n: 1 }, [] as object], 1, 'job 1: its payload must be an object'],
      [[null as unknown as object], 0, 'must be an object'],
    ] as const;
    for (const [jobs, index, message] of cases) {
      const thrown: unknown = await list.add(jobs).catch((failure: unknown) => failure);
      // The first 1,000 jobs were added before.
      if (index === 1_200) expect(thrown).toMatchObject({ name: 'NotAllAdded', added: 1_000 });
      const cause = thrown instanceof NotAllAdded ? thrown.cause : thrown;
      expect(cause).toBeInstanceOf(UnsendableJob);
      expect(cause).toMatchObject({ name: 'UnsendableJob', index });
      expect((cause as Error).message).toMatch(message);
    }
    expect((await list.get()).total).toBe(1_000);
  });

  it('throws on refused requests and invalid arguments', async () => {
    const list = await client().createList({ id: 'l' });
    for (const [work, status] of [
      [() => list.trigger({ count: 1 }), 409],
      [() => client().createList({ id: 'l', name: 'other' }), 409],
      [() => client().createList({ operation: 'nobody' }), 400],
      [() => list.claim({ count: 0, leaseSeconds: 1 }), 400],
      [() => client().list('nobody').seal(), 404],
    ] as const)
      expect(await work().catch((cause: unknown) => cause)).toMatchObject({ name: 'ApiRefused', status });
    for (const token of ['', 'x'.repeat(49)]) {
      await expect(list.add([], { token })).rejects.toThrow('1 to 48');
      await expect(list.trigger({ count: 1 }, { token })).rejects.toThrow('1 to 48');
    }
    await expect(list.claim({ count: 1, leaseSeconds: 1, claimId: 'a.b' })).rejects.toThrow(RangeError);
    await list.seal();
    await expect(list.add([{}])).rejects.toThrow(/^409: list l is complete: no more jobs can be added/);
  });
});
