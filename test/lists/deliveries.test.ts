import { describe, expect, it } from 'vitest';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { cancelRest } from '../../src/steps/fan-outs/end.ts';
import { jobsPage } from '../../src/steps/lists/jobs.ts';
import { atEachCut, dyingAt } from './cuts.ts';
import {
  deliveriesIn,
  expectWhole,
  LIST,
  type ListKit,
  listKit,
  MINUTE,
  type Process,
  reportingOps,
  result,
  tokensIn,
} from './kit.ts';

const TRACKER = `~${LIST}` as never;
/** Other workers can then have jobs that were claimed before for a minute. Leases end at whole seconds. */
const OVER = MINUTE + 2 * CLOCK_SKEW + 1_000;
const BROKEN = { code: 'no-depot', message: 'MUC is closed' };

/** @param maxDeliveries as configured */
const holding = async (count: number, maxDeliveries = 5, ofList?: number): Promise<ListKit> => {
  const kit = listKit({}, reportingOps(24 * 60 * MINUTE, maxDeliveries));
  await kit.open(ofList === undefined ? {} : { maxDeliveries: ofList });
  await kit.add(count, 'add');
  return kit;
};
const results = (kit: ListKit) => kit.lists.results(LIST, { first: 0, count: 99 });
const handedOut = async (by: Process, claim: string, count: number) => {
  const claimed = await by.claim(claim, count);
  return tokensIn(claimed).map((token, n) => [token, deliveriesIn(claimed)[n]]);
};
const tooMany = (job: number, times: string) =>
  result(job, {
    outcome: 'failed',
    error: {
      code: 'too-many-deliveries',
      message: `handed out ${times} without an outcome: its worker died, released it, or lost it`,
    },
  });

describe('a delivery', () => {
  it('is counted when the worker does not report which jobs it began', async () => {
    const kit = await holding(2);
    for (const n of [1, 2, 3]) {
      const got = await kit.got(`c-${n}`, 2);
      expect(deliveriesIn(got)).toEqual(Array(got.jobs.length).fill(n));
      expect(await kit.release(got.handle)).toMatchObject({ kind: 'released', count: got.jobs.length, failed: 0 });
      // Suspect jobs come in smaller numbers, so the other one gets as many deliveries.
      for (let left = 2 - got.jobs.length; left > 0; left -= 1) {
        const other = await kit.got(`other-${n}`, 2);
        expect(deliveriesIn(other)).toEqual([n]);
        await kit.release(other.handle);
      }
      expectWhole(kit);
    }
  });

  it('is counted only for the jobs that the worker began, if it reports these', async () => {
    const kit = await holding(4);
    const first = await kit.got('a', 4);
    expect(await kit.release(first.handle, [1, 2])).toMatchObject({ kind: 'released', count: 4, failed: 0 });
    expect(await handedOut(kit, 'b', 4), 'fewest deliveries first').toEqual([
      [0, 1],
      [3, 1],
      [1, 2],
      [2, 2],
    ]);
    const second = await kit.got('b', 4);
    expect(await kit.release(second.handle, [])).toMatchObject({ kind: 'released', count: 4, failed: 0 });
    expect(await handedOut(kit, 'c', 4)).toEqual([
      [0, 1],
      [3, 1],
      [1, 2],
      [2, 2],
    ]);
    expectWhole(kit);
  });

  it('is not counted for jobs of other claims, whatever the worker reports', async () => {
    const kit = await holding(3);
    const [a] = [await kit.got('a', 1), await kit.got('b', 1)];
    expect(await kit.release(a.handle, [1, 2, 99])).toMatchObject({ kind: 'released', count: 1, failed: 0 });
    expect(await handedOut(kit, 'c', 9)).toEqual([
      [0, 1],
      [2, 1],
    ]);
    expectWhole(kit);
  });

  it('is counted when the lease ends, not when it is renewed or repeated', async () => {
    const kit = await holding(1);
    const { handle } = await kit.got('a', 1);
    expect(deliveriesIn(await kit.got('a', 1))).toEqual([1]);
    await kit.renew(handle);
    expect(deliveriesIn(await kit.got('a', 1))).toEqual([1]);
    kit.now += OVER;
    expect(deliveriesIn(await kit.got('a', 1)), 'its own lease, once more').toEqual([1]);
    kit.now += OVER;
    expect(deliveriesIn(await kit.got('b', 1))).toEqual([2]);
  });

  it('is shown with jobs that are waiting or leased', async () => {
    const kit = await holding(4);
    const { handle } = await kit.got('a', 3);
    await kit.release(handle, [1]);
    await kit.got('b', 2);
    const { jobs } = await jobsPage(kit, await kit.read(), { from: 0, limit: 9 });
    expect(jobs.map(({ status, deliveries }) => [status, deliveries])).toEqual([
      ['leased', 1],
      ['waiting', 1],
      ['waiting', undefined],
      ['leased', 1],
    ]);
  });
});

describe('a job in its last delivery', () => {
  it('fails with the error of its last attempt', async () => {
    const kit = await holding(2, 2);
    for (const n of [1, 2]) {
      const { handle } = await kit.got(`c-${n}`, 2);
      const released = await kit.release(handle, [{ token: 0, error: BROKEN }]);
      expect(released).toMatchObject({ kind: 'released', count: n === 1 ? 2 : 1, failed: n - 1 });
      expectWhole(kit);
    }
    expect([...kit.done()]).toEqual([[0, false]]);
    expect(await results(kit)).toEqual([result(0, { outcome: 'failed', error: BROKEN })]);
    expect(await handedOut(kit, 'next', 2)).toEqual([[1, 1]]);
  });

  it('fails without an error of its own if none was reported', async () => {
    const kit = await holding(1, 2);
    for (const n of [1, 2]) await kit.release((await kit.got(`c-${n}`, 1)).handle, [0]);
    expect(await results(kit)).toEqual([tooMany(0, '2 times')]);
  });

  it('fails before others are handed out, if its worker died', async () => {
    for (const isReleased of [true, false]) {
      const kit = await holding(3, 1);
      const { handle } = await kit.got('dead', 1);
      if (isReleased) await kit.release(handle);
      kit.now += OVER;
      expect(await handedOut(kit, 'a', 2)).toEqual([
        [1, 1],
        [2, 1],
      ]);
      expect(await results(kit)).toEqual([tooMany(0, 'once')]);
      expect(await kit.complete(handle, [result(0)])).toEqual({ kind: 'done', complete: false });
      expect(kit.done().get(0), 'the first outcome stands').toBe(false);
      expectWhole(kit);
    }
  });

  it('may still be done by its late worker', async () => {
    const kit = await holding(1, 1);
    const { handle } = await kit.got('late', 1);
    kit.now += OVER;
    expect(await kit.complete(handle)).toEqual({ kind: 'done', complete: false });
    expect(kit.done().get(0)).toBe(true);
    expect(await kit.claim('a', 1)).toEqual({ kind: 'none', status: 'open' });
  });

  it('completes a sealed list, and is counted in its event', async () => {
    const kit = await holding(1, 1);
    await kit.got('dead', 1);
    await seal(kit, TRACKER);
    kit.now += OVER;
    expect(await kit.claim('a', 1)).toEqual({ kind: 'none', status: 'complete' });
    expect(kit.sentCallbacks()).toMatchObject([{ data: { total: 1, succeeded: 0, failed: 1 } }]);
    expect(await kit.read()).toMatchObject({ leases: [], holders: {} });
  });

  it('has the number of its list, or else the configured one', async () => {
    for (const [configured, ofList, allowed] of [
      [5, 2, 2],
      [1, 3, 3],
      [3, undefined, 3],
    ] as const) {
      const kit = await holding(1, configured, ofList);
      for (let n = 1; n <= allowed; n += 1) {
        expect(await handedOut(kit, `c-${n}`, 1)).toEqual([[0, n]]);
        await kit.release((await kit.got(`c-${n}`, 1)).handle);
      }
      expect(await kit.claim('next', 1)).toEqual({ kind: 'none', status: 'open' });
      expect(await results(kit)).toEqual([tooMany(0, `${allowed} times`)]);
    }
  });

  it('does not fail in a cancelled list, which hands out no jobs', async () => {
    const kit = await holding(1, 1);
    await kit.release((await kit.got('a', 1)).handle);
    await cancelRest(kit, await kit.read());
    expect(await kit.claim('b', 1)).toEqual({ kind: 'closed', status: 'cancelled' });
    expect(kit.done().size).toBe(0);
  });

  for (const when of ['before', 'after'] as const)
    it(`fails once, though its worker or a claim died ${when} any call`, async () => {
      for (const how of ['attempted', 'expired', 'released'] as const) {
        const cuts = await atEachCut(async (n) => {
          const kit = await holding(3, 1);
          const { handle } = await kit.got('dead', 2);
          const { gate, isReached } = dyingAt(n, when);
          const other = kit.behind(gate);
          if (how === 'released') await kit.release(handle);
          if (how === 'attempted') await other.release(handle, [{ token: 0, error: BROKEN }, 1]).catch(() => {});
          kit.now += OVER;
          if (how !== 'attempted') await other.claim('a', 1).catch(() => {});
          expectWhole(kit);
          const got = await kit.got('a', 1);
          expect(tokensIn(got)).toEqual([2]);
          expect([...kit.done().values()]).toEqual([false, false]);
          const stored = await results(kit);
          expect(stored.map(({ token, outcome }) => [token, outcome])).toEqual([
            [0, 'failed'],
            [1, 'failed'],
          ]);
          expectWhole(kit);
          return isReached();
        });
        expect(cuts).toBeGreaterThan(3);
      }
    });
});

/** Workers whose process ends when they begin a poison job. They do the jobs of a claim in their order. */
const workOff = async (kit: ListKit, poison: ReadonlySet<number>, atOnce: number): Promise<number> => {
  for (let claims = 0; ; claims += 1) {
    const claimed = await kit.claim(`w-${claims}`, atOnce);
    if (claimed.kind !== 'claimed') return claims;
    const bad = claimed.jobs.findIndex(({ token }) => poison.has(token));
    const done = bad === -1 ? claimed.jobs : claimed.jobs.slice(0, bad);
    if (done.length > 0)
      await kit.complete(
        claimed.handle,
        done.map(({ token }) => result(token)),
      );
    if (bad !== -1) kit.now += OVER;
    expectWhole(kit);
  }
};

describe('jobs that end their worker', () => {
  it('fail alone, whatever number is claimed at once', async () => {
    for (const atOnce of [1, 2, 7, 25, 60])
      for (const poison of [[0], [59], [3, 4, 5], [0, 10, 20, 30, 40, 50], Array.from({ length: 60 }, (_, n) => n)]) {
        const kit = await holding(60);
        await workOff(kit, new Set(poison), atOnce);
        const failed = [...kit.done()].filter(([, ok]) => !ok).map(([token]) => token);
        expect(
          failed.sort((a, b) => a - b),
          `${poison}, ${atOnce} at once`,
        ).toEqual(poison);
        expect(kit.done().size).toBe(60);
        expect(await results(kit)).toEqual(poison.map((job) => tooMany(job, '5 times')));
      }
  });

  it('hold up no other job: fresh jobs are handed out first', async () => {
    const kit = await holding(30);
    await kit.got('dead', 5);
    kit.now += OVER;
    for (let first = 5; first < 30; first += 5) {
      const got = await kit.got(`c-${first}`, 5);
      expect(tokensIn(got)[0]).toBe(first);
      await kit.complete(got.handle);
    }
    expect(tokensIn(await kit.claim('last', 5))).toEqual([0, 1, 2, 3]);
  });
});

it('does not make the row grow, however often jobs are given back in parts', async () => {
  const kit = listKit({ width: 450 });
  await kit.open();
  for (let n = 0; n < 3; n += 1) await kit.add(1_000, `a${n}-`);
  let most = 0;
  for (let n = 0; n < 400; n += 1) {
    const got = await kit.got(`w-${n}`, 1_000);
    await kit.release(got.handle, [got.jobs[0]?.token ?? 0]);
    most = Math.max(most, (await kit.read()).leases.length);
  }
  expect(most).toBeLessThan(40);
  expectWhole(kit);
});
