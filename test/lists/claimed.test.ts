import { describe, expect, it } from 'vitest';
import type { ClaimId } from '../../src/domain/lists/ids.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { cancelRest, discard } from '../../src/steps/fan-outs/end.ts';
import { complete } from '../../src/steps/lists/complete.ts';
import { namedBy } from '../../src/steps/lists/held.ts';
import { atEachCut, dyingAt, gateAt } from './cuts.ts';
import { expectWhole, holding, LIST, type ListKit, listKit, MINUTE, result, tokensIn } from './kit.ts';

const TRACKER = `~${LIST}` as never;
const OVER = MINUTE + 2 * CLOCK_SKEW;
const results = (kit: ListKit) => kit.lists.results(LIST, { first: 0, count: 99 });
const late = (job: number, text = '"late"') => result(job, { result: text });

describe('a completed claim', () => {
  it('is over, and all its jobs have the given outcome', async () => {
    const kit = await holding(5);
    const { handle } = await kit.got('a', 2);
    expect(await kit.complete(handle, 'failed')).toEqual({ kind: 'done', complete: false });
    expect([...kit.done()]).toEqual([
      [0, false],
      [1, false],
    ]);
    expect(await kit.read()).toMatchObject({ leases: [], head: 2 });
    expect(await kit.complete(handle), 'repeated').toEqual({ kind: 'done', complete: false });
    expect(kit.done().get(0), 'the first outcome stands').toBe(false);
    expectWhole(kit);
  });

  it('in parts ends with its last job, whichever worker does it', async () => {
    const kit = await holding(5);
    const { handle } = await kit.got('a', 4);
    await kit.complete(handle, [result(2), result(0, { outcome: 'failed' })]);
    expect(await kit.read()).toMatchObject({ leases: [{ first: 0, count: 4 }] });
    await kit.complete(handle, [result(2), result(1)]);
    expect(await kit.read()).toMatchObject({ leases: [{ first: 0, count: 4 }] });
    await kit.complete(handle, [result(3)]);
    expect(await kit.read()).toMatchObject({ leases: [] });
    expect(await kit.complete(handle, [result(3), result(0)])).toEqual({ kind: 'done', complete: false });
    expectWhole(kit);
  });

  it('reports that the list is complete with its last job, also when repeated', async () => {
    const kit = await holding(5);
    const [a, b] = [await kit.got('a', 3), await kit.got('b', 2)];
    await seal(kit, TRACKER);
    expect(await kit.complete(b.handle)).toEqual({ kind: 'done', complete: false });
    expect(await kit.complete(a.handle)).toEqual({ kind: 'done', complete: true });
    expect(await kit.complete(a.handle)).toEqual({ kind: 'done', complete: true });
    expect(kit.sentCallbacks()).toHaveLength(1);
  });

  it('keeps the results of each job', async () => {
    const kit = await holding(5);
    const { handle } = await kit.got('a', 3);
    const all = [late(0), result(1, { outcome: 'failed', error: { code: 'x', message: 'y' } })];
    await kit.complete(handle, [...all, result(2)]);
    expect(await results(kit), 'a job without one has no row').toEqual(all);
  });

  it('is over even if it is renewed meanwhile', async () => {
    await atEachCut(async (n) => {
      const kit = await holding(3);
      const { handle } = await kit.got('a', 2);
      const { gate, isReached } = gateAt(n, 'before', async () => void (await kit.renew(handle, n * MINUTE)));
      await kit.behind(gate).complete(handle);
      expect(await kit.read()).toMatchObject({ leases: [] });
      return isReached();
    });
  });

  it('that is late is done if its jobs are done, and otherwise lost', async () => {
    const kit = await holding(3);
    const a = await kit.got('a', 3);
    kit.now += OVER + 1;
    const b = await kit.got('b', 3);
    await kit.complete(b.handle, [result(0), result(1)]);
    expect(await kit.complete(a.handle)).toEqual({ kind: 'lost' });
    expect(await kit.complete(a.handle, [late(2)])).toEqual({ kind: 'lost' });
    expect(await kit.complete(a.handle, [late(1)])).toEqual({ kind: 'done', complete: false });
    await kit.complete(b.handle);
    expect(await kit.complete(a.handle, [late(0), late(2)])).toEqual({ kind: 'done', complete: false });
    expect(await results(kit)).toEqual([]);
    expectWhole(kit);
  });

  it('with an ended lease is done if no worker took it over', async () => {
    const kit = await holding(3);
    const { handle } = await kit.got('a', 3);
    kit.now += 99 * MINUTE;
    expect(await kit.complete(handle)).toEqual({ kind: 'done', complete: false });
    expect(kit.done().size).toBe(3);
  });

  it('is over also by jobs that were done otherwise', async () => {
    const kit = await holding(3);
    const { handle } = await kit.got('a', 3);
    await kit.end([`~${LIST}:0:0`, `~${LIST}:0:2`]);
    await kit.complete(handle, [result(1)]);
    expect(await kit.read()).toMatchObject({ leases: [] });
    expectWhole(kit);
  });

  it('keeps the first result of a job, and the outcome that belongs to it', async () => {
    const kit = await holding(3);
    const { handle } = await kit.got('a', 3);
    // A worker stopped between its result and its ack.
    await kit.lists.putResults(LIST, [result(1, { outcome: 'failed', error: { code: 'x', message: 'y' } })]);
    await kit.complete(handle, [late(0), late(1), late(2)]);
    expect(kit.done().get(1)).toBe(false);
    expect((await results(kit))[1]).toMatchObject({ outcome: 'failed' });
    expect(await kit.read()).toMatchObject({ leases: [] });
  });

  it('stores no result for a job that was done without one', async () => {
    const kit = await holding(3);
    const { handle } = await kit.got('a', 3);
    await kit.complete(handle, [result(0, { outcome: 'failed' }), result(1)]);
    await kit.complete(handle, [late(0), late(1), late(2)]);
    expect(kit.done().get(0)).toBe(false);
    expect(await results(kit)).toEqual([late(2)]);
  });

  for (const when of ['before', 'after'] as const)
    it(`whose worker died ${when} any call is done once by a repeat`, async () => {
      const cuts = await atEachCut(async (n) => {
        const kit = await holding(5);
        await kit.got('first', 1);
        const { handle } = await kit.got('a', 4);
        await kit.end([`~${LIST}:0:0`]);
        await seal(kit, TRACKER);
        const all = [1, 2, 3, 4].map((job) => late(job));
        const { gate, isReached } = dyingAt(n, when);
        await kit
          .behind(gate)
          .complete(handle, all)
          .catch(() => {});
        expectWhole(kit);
        const again = await kit.complete(
          handle,
          [1, 2, 3, 4].map((job) => late(job, '"again"')),
        );
        expect(again).toEqual({
          kind: 'done',
          complete: kit.done().size === 5 && (await kit.read()).status === 'complete',
        });
        // The patrol completes a list whose workers do not repeat their calls.
        await kit.patrolFor(5 * MINUTE);
        expect(await kit.read()).toMatchObject({ status: 'complete', ended: { because: 'all-done', failed: 0 } });
        expect(new Set(kit.sentCallbacks().map(({ id }) => id)).size).toBe(1);
        const stored = await results(kit);
        expect(stored.map((each) => each.token)).toEqual([1, 2, 3, 4]);
        expect(new Set(stored.map((each) => each.result)).size).toBe(1);
        return isReached();
      });
      expect(cuts).toBeGreaterThan(6);
    });

  it('by two workers with different outcomes has one outcome and its result', async () => {
    for (const [mine, theirs] of [
      [late(0), result(0, { outcome: 'failed', error: { code: 'x', message: 'y' } })],
      [result(0, { outcome: 'failed', error: { code: 'x', message: 'y' } }), late(0)],
    ] as const) {
      const cuts = await atEachCut(async (n) => {
        const kit = await holding(2);
        const { handle } = await kit.got('a', 2);
        const { gate, isReached } = gateAt(n, 'before', async () => void (await kit.complete(handle, [theirs])));
        await kit.behind(gate).complete(handle, [mine]);
        expect(kit.done().get(0)).toBe((await results(kit))[0]?.outcome === 'succeeded');
        expect(await results(kit)).toHaveLength(1);
        expectWhole(kit);
        return isReached();
      });
      expect(cuts).toBeGreaterThan(3);
    }
  });

  it('of a deleted or unknown list is unknown', async () => {
    const kit = await holding(2);
    const { handle } = await kit.got('a', 2);
    await discard(kit, await kit.read());
    expect(await kit.complete(handle)).toEqual({ kind: 'unknown' });
    expect(await kit.renew(handle)).toEqual({ kind: 'unknown' });
    expect(await kit.release(handle)).toEqual({ kind: 'unknown' });
    expect(kit.done().size).toBe(0);
    for (const step of ['complete', 'renew', 'release'] as const)
      expect(await listKit()[step](handle)).toEqual({ kind: 'unknown' });
  });

  it('of a cancelled list is done', async () => {
    const kit = await holding(3);
    const { handle } = await kit.got('a', 2);
    await cancelRest(kit, await kit.read());
    expect(await kit.renew(handle, MINUTE)).toEqual({ kind: 'renewed', until: kit.now + MINUTE });
    expect(await kit.complete(handle)).toEqual({ kind: 'done', complete: false });
    expect(await kit.read()).toMatchObject({ status: 'cancelled', leases: [] });
    expect(kit.done().size).toBe(2);
  });
});

describe('a released claim', () => {
  it('gives its jobs to the next claim; a repeat does nothing', async () => {
    const kit = await holding(3);
    const { handle } = await kit.got('a', 2);
    expect(await kit.release(handle)).toMatchObject({ kind: 'released', count: 2, failed: 0 });
    expect(await kit.release(handle)).toMatchObject({ kind: 'released', count: 0, failed: 0 });
    expect(await kit.renew(handle)).toEqual({ kind: 'lost' });
    const next = await kit.got('b', 2);
    expect(tokensIn(next), 'fresh jobs first').toEqual([2]);
    expect(tokensIn(await kit.claim('c', 2))).toEqual([0, 1]);
    expect(await kit.release(handle)).toMatchObject({ kind: 'released', count: 0, failed: 0 });
    expectWhole(kit);
  });

  it('is another one when claimed again, even with the same first job', async () => {
    const kit = await holding(5);
    const first = await kit.got('a', 4);
    await kit.release(first.handle);
    const second = await kit.got('a', 2);
    expect(await kit.complete(first.handle)).toEqual({ kind: 'lost' });
    expect(await kit.renew(first.handle)).toEqual({ kind: 'lost' });
    expect(await kit.release(first.handle)).toMatchObject({ kind: 'released', count: 0, failed: 0 });
    expect(await kit.renew(second.handle)).toMatchObject({ kind: 'renewed' });
    expect(kit.done().size).toBe(0);
    expectWhole(kit);
  });

  it('gives back the jobs that are not done, and counts them', async () => {
    const kit = await holding(5);
    const { handle } = await kit.got('a', 4);
    await kit.complete(handle, [result(1), result(3)]);
    expect(await kit.release(handle)).toMatchObject({ kind: 'released', count: 2, failed: 0 });
    expect(tokensIn(await kit.claim('b', 1)), 'fresh jobs first').toEqual([4]);
    expect(tokensIn(await kit.claim('c', 4))).toEqual([0, 2]);
    expectWhole(kit);
  });

  it('whose jobs are all done leaves no row', async () => {
    const kit = await holding(2);
    const { handle } = await kit.got('a', 2);
    await kit.end([`~${LIST}:0:0`, `~${LIST}:0:1`]);
    expect(await kit.release(handle)).toMatchObject({ kind: 'released', count: 0, failed: 0 });
    expect(await kit.read()).toMatchObject({ leases: [] });
    expectWhole(kit);
  });
});

it("keeps a claim's jobs if a request by its name is about former jobs", async () => {
  const kit = listKit();
  await kit.open();
  await kit.add(2);
  const first = await kit.got('worker', 1);
  await kit.complete(first.handle);
  const second = await kit.got('worker', 1);
  expect(tokensIn(second)).toEqual([1]);
  const again = await complete(kit, LIST, namedBy({ claim: 'worker' as ClaimId }), [result(0)]);
  expect(again).toMatchObject({ kind: 'done' });
  expect(await complete(kit, LIST, namedBy({ claim: 'worker' as ClaimId }), [result(0), result(1)])).toEqual({
    kind: 'lost',
  });
  expect((await kit.read()).leases).toMatchObject([{ first: 1, count: 1 }]);
  expectWhole(kit);
});
