/** Claims beyond the largest number in a list's row (D13). */
import { describe, expect, it } from 'vitest';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { cancelRest, discard } from '../../src/steps/fan-outs/end.ts';
import { availableIn, jobsPage, listProgress } from '../../src/steps/lists/jobs.ts';
import { bytesInString } from '../../src/util/json-text.ts';
import { atEachCut, dyingAt, gateAt } from './cuts.ts';
import {
  deliveriesIn,
  expectWhole,
  holding,
  LIST,
  type ListKit,
  listKit,
  MINUTE,
  result,
  rowsLeft,
  tokensIn,
} from './kit.ts';

const TRACKER = `~${LIST}` as never;
const OVER = MINUTE + 2 * CLOCK_SKEW + 1_000;

/** A list whose row has one claim at most. */
/** The list, with job 0 in its row, and the next `count` jobs in a claim of its own row. */
const withApart = async (jobs: number, count: number, size = {}) => {
  const kit = await holding(jobs, { claimsMax: 1, ...size });
  const first = await kit.got('first', 1, 60 * MINUTE);
  const mine = await kit.got('mine', count);
  expect(kit.tables.listClaims.size).toBe(1);
  return { kit, first, mine };
};
const rows = (kit: ListKit): number => kit.tables.listClaims.size;

describe('a claim in a row of its own', () => {
  it('has jobs of its own, and its list counts the rows', async () => {
    const { kit, mine } = await withApart(9, 2);
    expect(tokensIn(mine)).toEqual([1, 2]);
    expect(tokensIn(await kit.claim('next', 3, 3 * MINUTE))).toEqual([3, 4, 5]);
    expect(await kit.read()).toMatchObject({ head: 6, apart: { count: 2, until: mine.until } });
    expect([...kit.tables.listClaims.values()].map(({ holder }) => holder)).toEqual([
      { since: kit.now, name: "mine's worker" },
      { since: kit.now, name: "next's worker" },
    ]);
    expectWhole(kit);
  });

  it('gets the same jobs when repeated, also at once', async () => {
    const { kit, mine } = await withApart(9, 2);
    kit.now += MINUTE / 2;
    expect(await kit.got('mine', 7, 9 * MINUTE)).toEqual(mine);
    await atEachCut(async (n) => {
      const other = (await withApart(9, 2)).kit;
      const { gate, isReached } = gateAt(n, 'before', async () => void (await other.got('new', 2)));
      expect(tokensIn(await other.behind(gate).claim('new', 2))).toEqual([3, 4]);
      expect(rows(other)).toBe(2);
      expectWhole(other);
      return isReached();
    });
  });

  it('is renewed, and found with its own ranges only', async () => {
    const { kit, mine } = await withApart(9, 2);
    kit.now += 1_000;
    expect(await kit.renew(mine.handle, 5 * MINUTE)).toEqual({ kind: 'renewed', until: kit.now + 5 * MINUTE });
    kit.now += OVER;
    expect(tokensIn(await kit.claim('other', 9)), 'none of its jobs').toEqual([3, 4, 5, 6, 7, 8]);
    await kit.release(mine.handle, []);
    const again = await kit.got('mine', 1);
    expect(await kit.renew(mine.handle)).toEqual({ kind: 'lost' });
    expect(await kit.renew(again.handle)).toMatchObject({ kind: 'renewed' });
    expectWhole(kit);
  });

  it('that is renewed for a shorter time is found when it ends', async () => {
    const { kit, mine } = await withApart(3, 2);
    await kit.renew(mine.handle, 60 * MINUTE);
    expect(await kit.read()).toMatchObject({ apart: { until: mine.until } });
    kit.now += OVER;
    await kit.claim('counts again', 1);
    await kit.renew(mine.handle, MINUTE);
    expect(await kit.read()).toMatchObject({ apart: { until: kit.now + MINUTE } });
    kit.now += OVER;
    expect(deliveriesIn(await kit.claim('next', 2))).toEqual([2, 2]);
    expectWhole(kit);
  });

  it('that is completed leaves no row, also in parts', async () => {
    const { kit, mine } = await withApart(9, 3);
    await kit.complete(mine.handle, [result(2)]);
    expect(rows(kit)).toBe(1);
    expect(tokensIn(await kit.claim('mine', 3)), 'repeated').toEqual([1, 3]);
    await kit.complete(mine.handle, [result(1), result(3, { outcome: 'failed' })]);
    expect(rows(kit)).toBe(0);
    expect(await kit.complete(mine.handle), 'repeated').toEqual({ kind: 'done', complete: false });
    expect(await kit.read()).toMatchObject({ apart: { count: 1 } });
    expectWhole(kit);
  });

  it('completes the list', async () => {
    const { kit, first, mine } = await withApart(3, 2);
    await seal(kit, TRACKER);
    await kit.complete(first.handle);
    expect(await kit.complete(mine.handle)).toEqual({ kind: 'done', complete: true });
    expect(kit.sentCallbacks()).toHaveLength(1);
    expect(await kit.claim('late', 1)).toEqual({ kind: 'none', status: 'complete' });
  });

  it('that is released gives its open jobs back', async () => {
    const { kit, mine } = await withApart(4, 3);
    await kit.complete(mine.handle, [result(2)]);
    expect(await kit.release(mine.handle, [3])).toMatchObject({ kind: 'released', count: 2, failed: 0 });
    expect(rows(kit)).toBe(0);
    const next = await kit.got('next', 3);
    expect([tokensIn(next), deliveriesIn(next)]).toEqual([
      [1, 3],
      [1, 2],
    ]);
    expectWhole(kit);
  });

  it('whose lease has ended is gathered by the next claim', async () => {
    const { kit } = await withApart(6, 3);
    let reads = 0;
    const { claimsApart } = kit.lists;
    kit.lists.claimsApart = (id) => {
      reads += 1;
      return claimsApart(id);
    };
    kit.now += OVER - 1_000;
    expect(tokensIn(await kit.claim('early', 1))).toEqual([4]);
    expect(reads, 'no claim can have ended').toBe(0);
    kit.now += 1_000;
    expect(tokensIn(await kit.claim('next', 9)), 'its jobs are suspect').toEqual([5]);
    expect(reads).toBe(1);
    const over = await kit.got('over', 9);
    expect([tokensIn(over), deliveriesIn(over)]).toEqual([
      [1, 2, 3],
      [2, 2, 2],
    ]);
    expectWhole(kit);
  });

  it('with done jobs only is gathered without a range', async () => {
    const { kit } = await withApart(3, 2);
    await kit.end(['~l:0:1', '~l:0:2']);
    kit.now += OVER;
    expect(await kit.claim('next', 9)).toEqual({ kind: 'none', status: 'open' });
    expect(rows(kit)).toBe(0);
    expect((await kit.read()).apart).toBeUndefined();
    expect((await kit.read()).leases).toHaveLength(1);
  });

  it('whose lease has ended is gathered by a trigger', async () => {
    const { kit } = await withApart(6, 3);
    kit.now += OVER;
    expect(await kit.trigger(2)).toEqual({ kind: 'triggered', count: 2 });
    expect(kit.tables.listTriggers.get(`${LIST}#t`)?.ranges).toEqual([{ first: 1, count: 2 }]);
    expect(await kit.trigger(9, 'u')).toEqual({ kind: 'triggered', count: 3 });
    expect(rows(kit)).toBe(0);
    expectWhole(kit);
  });

  it('with an ended lease still does its jobs if no other claim came', async () => {
    const { kit, mine } = await withApart(3, 2);
    kit.now += OVER;
    expect(await kit.complete(mine.handle)).toEqual({ kind: 'done', complete: false });
    const other = await withApart(3, 2);
    other.kit.now += OVER;
    expect(await other.kit.renew(other.mine.handle)).toMatchObject({ kind: 'renewed' });
    expect(await other.kit.claim('next', 2)).toEqual({ kind: 'none', status: 'open' });
    expectWhole(other.kit);
  });

  it('that repeats its request after its lease gets suspect jobs', async () => {
    const { kit, mine } = await withApart(3, 2);
    kit.now += OVER;
    const again = await kit.got('mine', 2);
    expect([tokensIn(again), deliveriesIn(again)]).toEqual([tokensIn(mine), [2, 2]]);
    expectWhole(kit);
  });

  it('gives back jobs that are too large for one answer', async () => {
    const pageBytes = 2 * bytesInString('{"depot":"MUC","job":"add0"}');
    const { kit, mine } = await withApart(9, 5, { pageBytes });
    expect(mine.handle).toMatch(/^mine\.1\.2\./);
    expect(tokensIn(mine)).toEqual([1, 2]);
    expect(await kit.got('mine', 5)).toEqual(mine);
    const next = await kit.got('next', 9);
    expect([tokensIn(next), deliveriesIn(next)]).toEqual([
      [3, 4],
      [1, 1],
    ]);
    expectWhole(kit);
  });

  it('takes free ranges and fresh jobs together', async () => {
    const kit = await holding(9, { claimsMax: 1 });
    const free = await kit.got('free', 4);
    await kit.got('apart', 3, 60 * MINUTE);
    await kit.release(free.handle, [1]);
    expect(tokensIn(await kit.got('in the row', 1)), 'several free ranges come first').toEqual([0]);
    const mine = await kit.got('mine', 5);
    expect(tokensIn(mine)).toEqual([2, 3, 1, 7, 8]);
    expect(mine.handle).toMatch(/^mine\.2\.2\.1\.1\.7\.2\./);
    expect(deliveriesIn(mine)).toEqual([1, 1, 2, 1, 1]);
    expect(rows(kit)).toBe(2);
    expect(await kit.renew(mine.handle)).toMatchObject({ kind: 'renewed' });
    await kit.complete(mine.handle);
    expect(rows(kit)).toBe(1);
    expectWhole(kit);
  });

  it('is counted as leased, and is shown with its jobs', async () => {
    const { kit } = await withApart(6, 3);
    expect(await listProgress(kit, await kit.read())).toMatchObject({ available: 2, leased: 4, started: 0 });
    const { jobs } = await jobsPage(kit, await kit.read(), { from: 0, limit: 9 });
    expect(jobs.map(({ status }) => status)).toEqual(['leased', 'leased', 'leased', 'leased', 'waiting', 'waiting']);
    expect(jobs[2]).toMatchObject({ deliveries: 1 });
    kit.now += OVER;
    expect(await listProgress(kit, await kit.read())).toMatchObject({ available: 5, leased: 1 });
    expect(await availableIn(kit, await kit.read())).toBe(5);
  });

  it('may finish in a cancelled list, and is deleted with its list', async () => {
    const { kit, mine } = await withApart(6, 3);
    await cancelRest(kit, await kit.read());
    expect(tokensIn(await kit.claim('mine', 3))).toEqual([1, 2, 3]);
    expect(await kit.complete(mine.handle, [result(1)])).toEqual({ kind: 'done', complete: false });
    expect(await kit.claim('late', 1)).toEqual({ kind: 'closed', status: 'cancelled' });
    await discard(kit, await kit.read());
    expect(await kit.renew(mine.handle)).toEqual({ kind: 'unknown' });
    await kit.patrolFor(3 * 60 * MINUTE);
    expect(rowsLeft(kit)).toBe(0);
  });

  for (const when of ['before', 'after'] as const)
    it(`that dies ${when} any call loses no job`, async () => {
      for (const what of ['claim', 'renew', 'complete', 'release', 'gather', 'trigger'] as const) {
        const cuts = await atEachCut(async (n) => {
          const { kit, mine } = await withApart(6, 3);
          if (what === 'gather' || what === 'trigger') kit.now += OVER;
          const { gate, isReached } = dyingAt(n, when);
          const by = kit.behind(gate);
          const calls = {
            claim: () => by.claim('new', 2),
            gather: () => by.claim('new', 2),
            renew: () => by.renew(mine.handle, MINUTE / 2),
            complete: () => by.complete(mine.handle),
            release: () => by.release(mine.handle, [1]),
            trigger: () => by.trigger(4),
          };
          await calls[what]().catch(() => {});
          expectWhole(kit);
          await kit.end(await kit.start());
          await seal(kit, TRACKER);
          kit.now += 65 * MINUTE;
          for (let turn = 0; ; turn += 1) {
            const claimed = await kit.claim(`finisher-${turn}`, 3);
            if (claimed.kind !== 'claimed') break;
            await kit.complete(claimed.handle);
            expectWhole(kit);
          }
          await kit.patrolFor(5 * MINUTE);
          expect(await kit.read()).toMatchObject({ status: 'complete', ended: { failed: 0 }, leases: [] });
          expect(kit.done().size).toBe(6);
          return isReached();
        });
        expect(cuts, what).toBeGreaterThanOrEqual(3);
      }
    });
});

describe('a list with the most claims', () => {
  const MOST = 1_000;
  const full = async (): Promise<ListKit> => {
    const kit = listKit({ claimsMax: 0, width: 450 });
    await kit.open();
    await kit.add(1_000, 'add');
    await kit.add(10, 'more');
    for (let n = 0; n < MOST; n += 1) await kit.got(`c-${n}`, 1, 60 * MINUTE);
    return kit;
  };

  it('throws ListBusy, until one of them ends', async () => {
    const kit = await full();
    expect(rows(kit)).toBe(MOST);
    await expect(kit.claim('late', 1)).rejects.toMatchObject({
      name: 'ListBusy',
      message: expect.stringContaining('1000 claims are under way'),
    });
    await kit.break('c-7');
    await kit.complete((await kit.got('c-8', 1)).handle);
    expect(tokensIn(await kit.claim('late', 1)), 'fresh jobs first').toEqual([MOST]);
    expect(tokensIn(await kit.claim('later', 1))).toEqual([MOST + 1]);
    await expect(kit.claim('too late', 1)).rejects.toMatchObject({ name: 'ListBusy' });
    expectWhole(kit);
  });

  it('hands out jobs of dead workers, twenty claims in each write', async () => {
    const kit = await full();
    kit.now += 63 * MINUTE;
    const claimed = await kit.got('next', 10);
    // The free ranges of the twenty claims became one range, and fresh jobs come before it.
    expect(tokensIn(claimed)).toEqual(Array.from({ length: 10 }, (_, n) => MOST + n));
    expect((await kit.read()).leases).toMatchObject([{ first: 0, count: 20, until: 0 }]);
    expect(rows(kit)).toBe(MOST - 20 + 1);
    for (let n = 0; n < 60; n += 1) await kit.got(`next-${n}`, 10);
    expectWhole(kit);
  });
});
