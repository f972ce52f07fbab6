import { describe, expect, it } from 'vitest';
import { SETTLED } from '../../src/domain/fan-outs/fan-out.ts';
import { claimKeyOf } from '../../src/domain/lists/ids.ts';
import { CLAIMS_MAX } from '../../src/domain/lists/list.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { cancelRest, discard } from '../../src/steps/fan-outs/end.ts';
import { bytesInString } from '../../src/util/json-text.ts';
import type { Gate } from '../../src/virtual/gate.ts';
import { NOW } from '../factories/factories.ts';
import { atEachCut, dyingAt, gateAt } from './cuts.ts';
import { deliveriesIn, expectWhole, holding, LIST, type ListKit, listKit, MINUTE, result, tokensIn } from './kit.ts';

/** When other workers may get jobs that were claimed now for a minute. */
const OVER = MINUTE + 2 * CLOCK_SKEW;

describe('a claim', () => {
  it('gets the first jobs unchanged, for its lease in whole seconds', async () => {
    const kit = await holding(5);
    kit.now += 1;
    const got = await kit.got('a', 2, 1_500);
    expect(got).toEqual({
      kind: 'claimed',
      handle: expect.stringMatching(/^a\.0\.2\./),
      jobs: [
        { token: 0, deliveries: 1, payload: '{"depot":"MUC","job":"add0"}' },
        { token: 1, deliveries: 1, payload: '{"depot":"MUC","job":"add1"}' },
      ],
      until: NOW + 2_000,
    });
    expect(tokensIn(await kit.claim('b', 9))).toEqual([2, 3, 4]);
    expect(await kit.claim('c', 1)).toEqual({ kind: 'none', status: 'open' });
    expectWhole(kit);
  });

  it('that is repeated gets the same jobs, whatever it asks for', async () => {
    const kit = await holding(5);
    const first = await kit.got('a', 2);
    kit.now += 30_000;
    const calls: string[] = [];
    const noting: Gate = async (call, effects) => {
      calls.push(call);
      return effects.map((effect) => effect());
    };
    expect(await kit.behind(noting).claim('a', 4, 9 * MINUTE)).toEqual(first);
    expect(calls, 'it only reads').toEqual(['lists.read', 'fanOuts.node', 'lists.jobs']);
    expect(await kit.read()).toMatchObject({ head: 2 });
  });

  for (const when of ['before', 'after'] as const)
    it(`that died ${when} any of its calls gets its jobs when it is repeated`, async () => {
      const cuts = await atEachCut(async (n) => {
        const kit = await holding(5);
        const { gate, isReached } = dyingAt(n, when);
        await kit
          .behind(gate)
          .claim('a', 2)
          .catch(() => {});
        expectWhole(kit);
        expect(tokensIn(await kit.claim('a', 2))).toEqual([0, 1]);
        expect(await kit.read()).toMatchObject({ head: 2 });
        return isReached();
      });
      expect(cuts).toBeGreaterThanOrEqual(3);
    });

  it('by two processes under one name gets the same jobs', async () => {
    await atEachCut(async (n) => {
      const kit = await holding(5);
      let other: unknown;
      const { gate, isReached } = gateAt(n, 'before', async () => {
        other = await kit.claim('a', 2);
      });
      const answer = await kit.behind(gate).claim('a', 2);
      if (isReached()) expect(other).toEqual(answer);
      expect(tokensIn(answer)).toEqual([0, 1]);
      expect(await kit.read()).toMatchObject({ head: 2 });
      return isReached();
    });
  });

  it('that is repeated at the same time gets one set of jobs', async () => {
    for (const claimsMax of [4, 2])
      await atEachCut(async (n) => {
        const kit = await holding(9, { claimsMax });
        const others = [await kit.got('x', 1), await kit.got('y', 1)];
        let other: unknown;
        const { gate, isReached } = gateAt(n, 'before', async () => {
          for (const { handle, jobs } of others)
            await kit.release(
              handle,
              jobs.map(({ token }) => token),
            );
          other = await kit.claim('a', 1);
        });
        const answer = await kit.behind(gate).claim('a', 1);
        if (isReached()) expect(other).toEqual(answer);
        expect((await kit.read()).leases.filter(({ claim }) => claim === claimKeyOf('a' as never)).length).toBeLessThan(
          2,
        );
        expectWhole(kit);
        return isReached();
      });
  });

  it('with an ended lease is renewed if no worker took the jobs, also after a cancel', async () => {
    for (const isCancelled of [false, true]) {
      const kit = await holding(5);
      const first = await kit.got('a', 2);
      if (isCancelled) await cancelRest(kit, await kit.read());
      kit.now += OVER + 1;
      expect(await kit.got('a', 2)).toEqual({ ...first, until: kit.now - 1 + 1_000 + MINUTE });
      expectWhole(kit);
    }
  });

  it('is taken over only after its lease and twice the clock skew', async () => {
    const kit = await holding(2);
    const { handle } = await kit.got('a', 2);
    kit.now += OVER;
    expect(await kit.claim('b', 2)).toEqual({ kind: 'none', status: 'open' });
    kit.now += 1;
    expect(tokensIn(await kit.claim('b', 2))).toEqual([0, 1]);
    expect(await kit.renew(handle)).toEqual({ kind: 'lost' });
    expect(await kit.release(handle)).toMatchObject({ kind: 'released', count: 0, failed: 0 });
    expect(await kit.complete(handle)).toEqual({ kind: 'lost' });
    expect(await kit.claim('a', 2)).toEqual({ kind: 'none', status: 'open' });
    expect(kit.done().size).toBe(0);
    expectWhole(kit);
  });

  it('that was renewed is not taken over', async () => {
    const kit = await holding(2);
    const { handle } = await kit.got('a', 2);
    kit.now += OVER;
    expect(await kit.renew(handle, 5 * MINUTE)).toEqual({ kind: 'renewed', until: kit.now + 5 * MINUTE });
    kit.now += 5 * MINUTE;
    expect(await kit.claim('b', 2)).toMatchObject({ kind: 'none' });
  });

  it('gets fresh jobs before free ones, and the rest of these stays free', async () => {
    const kit = await holding(9);
    const { handle } = await kit.got('a', 6);
    await kit.release(handle, []);
    expect(tokensIn(await kit.claim('b', 2))).toEqual([6, 7]);
    expect(tokensIn(await kit.claim('c', 3)), 'fresh and free jobs together').toEqual([0, 1, 8]);
    expect(tokensIn(await kit.claim('d', 3))).toEqual([2, 3, 4]);
    expect(tokensIn(await kit.claim('e', 3))).toEqual([5]);
    expectWhole(kit);
  });

  it('has a lease for each free range, with which it is renewed, repeated and completed', async () => {
    const kit = await holding(9);
    const all = [await kit.got('a', 3), await kit.got('b', 3), await kit.got('c', 3)];
    for (const { handle } of all) await kit.release(handle, []);
    const got = await kit.got('d', 7);
    expect(got.handle).toMatch(/^d\.0\.3\.3\.3\.6\.1\.[\w-]{6}$/);
    expect(tokensIn(got)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(tokensIn(await kit.claim('e', 7))).toEqual([7, 8]);
    expect(await kit.got('d', 2), 'repeated').toEqual(got);
    kit.now += MINUTE;
    expect(await kit.renew(got.handle)).toEqual({ kind: 'renewed', until: kit.now + MINUTE });
    expect((await kit.read()).leases.filter(({ until }) => until === kit.now + MINUTE)).toHaveLength(3);
    await kit.complete(got.handle);
    expect([...kit.done().keys()]).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect((await kit.read()).leases.map(({ first }) => first)).toEqual([7]);
    expect(Object.values((await kit.read()).holders ?? {})).toEqual([expect.objectContaining({ name: "e's worker" })]);
    expectWhole(kit);
  });

  it('takes free ranges before fresh jobs once there are 16 of them', async () => {
    for (const [ranges, first] of [
      [15, 16],
      [16, 0],
    ] as const) {
      const kit = await holding(40);
      for (let n = 0; n < 16; n += 1) await kit.got(`c-${n}`, 1);
      for (let n = 0; n < ranges; n += 1) await kit.release((await kit.got(`c-${n}`, 1)).handle, []);
      expect(tokensIn(await kit.claim('next', 1)), `${ranges} free ranges`).toEqual([first]);
      expectWhole(kit);
    }
  });

  it('leaves out jobs that are done, by any worker', async () => {
    const kit = await holding(6);
    const { handle } = await kit.got('a', 5);
    await kit.complete(handle, [result(1), result(4, { outcome: 'failed' })]);
    expect(tokensIn(await kit.claim('a', 5)), 'repeated').toEqual([0, 2, 3]);
    kit.now += OVER + 1;
    expect(tokensIn(await kit.claim('b', 5)), 'suspect jobs are never mixed with others').toEqual([5]);
    const over = await kit.got('c', 5);
    expect(over.handle, 'from the first to the last open job').toMatch(/^c\.0\.4\./);
    expect(tokensIn(over)).toEqual([0, 2, 3]);
    expectWhole(kit);
  });

  it('removes ranges whose jobs are all done, and gets the next jobs', async () => {
    const kit = await holding(9);
    const [a, b] = [await kit.got('a', 2), await kit.got('b', 3)];
    for (const { handle } of [a, b])
      await kit
        .behind(dyingBefore('lists.change'))
        .complete(handle)
        .catch(() => {});
    expect(kit.done().size).toBe(5);
    expect(await kit.read()).toMatchObject({ leases: [{}, {}] });
    expect(tokensIn(await kit.claim('a', 4)), 'its own range is done').toEqual([5, 6, 7, 8]);
    kit.now += OVER + 1;
    await kit.complete((await kit.got('a', 4)).handle);
    expect(await kit.claim('c', 4)).toEqual({ kind: 'none', status: 'open' });
    expect(await kit.read()).toMatchObject({ head: 9, leases: [] });
    expectWhole(kit);
  });

  it('gives back jobs that are too large for one answer', async () => {
    const size = bytesInString('{"depot":"MUC","job":"add0"}');
    const kit = await holding(6, { pageBytes: 2 * size });
    const got = await kit.got('a', 5);
    expect(got.handle).toMatch(/^a\.0\.2\./);
    expect(tokensIn(got)).toEqual([0, 1]);
    expect(await kit.got('a', 5)).toEqual(got);
    expect((await kit.read()).leases.map(({ first, count, deliveries }) => [first, count, deliveries])).toEqual([
      [0, 2, 1],
      [2, 3, 0],
    ]);
    const next = await kit.got('b', 5);
    expect(tokensIn(next)).toEqual([2, 3]);
    expect(deliveriesIn(next), 'jobs that did not fit were not delivered').toEqual([1, 1]);
    expect(tokensIn(await kit.claim('c', 5))).toEqual([4, 5]);
    expectWhole(kit);
  });

  it('whose first part is done gets the next part', async () => {
    const size = bytesInString('{"depot":"MUC","job":"add0"}');
    const kit = await holding(6, { pageBytes: 2 * size });
    const { handle } = await kit.got('dead', 6);
    await kit
      .behind(dyingBefore('lists.change'))
      .complete(handle)
      .catch(() => {});
    kit.now += OVER + 1;
    expect(tokensIn(await kit.claim('a', 6))).toEqual([2, 3]);
    expect(tokensIn(await kit.claim('b', 6))).toEqual([4, 5]);
    expectWhole(kit);
  });

  it('beyond the maximum of the row is made all the same, in a row of its own', async () => {
    const kit = await holding(CLAIMS_MAX + 1);
    const all = await Promise.all(Array.from({ length: CLAIMS_MAX }, (_, n) => kit.got(`c-${n}`, 1)));
    expect(new Set(all.flatMap(tokensIn)).size).toBe(CLAIMS_MAX);
    expect(tokensIn(await kit.claim('late', 1))).toEqual([CLAIMS_MAX]);
    expect((await kit.read()).leases).toHaveLength(CLAIMS_MAX);
    expect(kit.tables.listClaims.size).toBe(1);
    expect(tokensIn(await kit.claim('c-7', 1)), 'a claim that has its jobs gets them').toHaveLength(1);
    expectWhole(kit);
  });

  it('from before a cancel gets its jobs again, also if its lease changes', async () => {
    const size = bytesInString('{"depot":"MUC","job":"add0"}');
    const dies = (kit: ListKit) => kit.behind(dyingBefore('lists.change'));
    const tooLarge = await holding(6, { pageBytes: 2 * size });
    await expect(dies(tooLarge).claim('a', 5)).rejects.toThrow('gone');
    await cancelRest(tooLarge, await tooLarge.read());
    expect(tokensIn(await tooLarge.claim('a', 5)), 'a part that fits into an answer').toEqual([0, 1]);
    expectWhole(tooLarge);
    const done = await holding(6);
    const { handle } = await done.got('a', 2);
    await expect(dies(done).complete(handle)).rejects.toThrow('gone');
    await cancelRest(done, await done.read());
    expect(await done.claim('a', 2), 'all jobs are done').toEqual({ kind: 'closed', status: 'cancelled' });
    expect((await done.read()).leases).toEqual([]);
  });

  it('gets no free or fresh job if the list is cancelled before it takes one', async () => {
    for (const isFree of [true, false]) {
      const kit = await holding(4);
      if (isFree) await kit.release((await kit.got('early', 4)).handle, []);
      const { gate } = gateAt(isFree ? 4 : 2, 'before', async (call) => {
        expect(call).toBe(isFree ? 'lists.change' : 'lists.leaseFresh');
        await cancelRest(kit, await kit.read());
      });
      expect(await kit.behind(gate).claim('a', 2)).toEqual({ kind: 'closed', status: 'cancelled' });
    }
  });

  it('on a closed list gets nothing', async () => {
    const kit = await holding(0);
    await seal(kit, `~${LIST}` as never);
    expect(await kit.claim('a', 1)).toEqual({ kind: 'none', status: 'complete' });
    const other = await holding(3);
    await cancelRest(other, await other.read());
    expect(await other.claim('a', 1)).toEqual({ kind: 'closed', status: 'cancelled' });
    await discard(other, await other.read());
    expect(await other.claim('a', 1)).toEqual({ kind: 'closed', status: 'expired' });
    expect(await listKit().claim('a', 1)).toEqual({ kind: 'unknown' });
  });

  it('on a list that ended long ago gets nothing, though rows may remain', async () => {
    const kit = await holding(3);
    await cancelRest(kit, await kit.read());
    const { checkAt = 0, event } = await kit.read();
    expect(event).toBeUndefined();
    kit.now = checkAt - SETTLED - 1;
    expect(await kit.claim('a', 1)).toEqual({ kind: 'closed', status: 'cancelled' });
    kit.now += 1;
    expect(await kit.claim('a', 1)).toEqual({ kind: 'unknown' });
  });
});

/** Dies before the first call with this name. */
const dyingBefore =
  (name: string) =>
  async <T>(call: string, effects: readonly (() => T)[]): Promise<T[]> => {
    if (call === name) throw new Error('gone');
    return effects.map((effect) => effect());
  };
