/** Properties that hold for every policy and all waiting tasks, with all options combined. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Due, due, type Waiting, waitEnd, waitingRow } from '../../src/domain/batches/policy.ts';
import type { BatchPolicy } from '../../src/domain/config/policies.ts';
import { settlementsOf } from '../../src/steps/tasks/settle.ts';
import { aPolicy, id, NOW } from '../factories/factories.ts';

const RUNS = { numRuns: 4_000 };
const around = (least: number, most: number) => fc.integer({ min: NOW + least, max: NOW + most });

const anyPolicy: fc.Arbitrary<BatchPolicy> = fc
  .record({
    maxSize: fc.integer({ min: 1, max: 8 }),
    maxBytes: fc.integer({ min: 1, max: 1_000 }),
    maxWeight: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 20 })),
    maxWait: fc.integer({ min: 0, max: 10_000 }),
    quietPeriod: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5_000 })),
    minSize: fc.integer({ min: 1, max: 8 }),
    window: fc.option(fc.integer({ min: 1, max: 10_000 })),
    bypass: fc.option(fc.integer({ min: 1, max: 500 }), { freq: 2 }),
  })
  .map((policy) => aPolicy({ ...policy, minSize: Math.min(policy.minSize, policy.maxSize) }));

interface Part {
  readonly createdAt: number;
  readonly bytes: number;
  readonly weight: number;
  readonly ahead: number;
  readonly coalesceKey?: string | undefined;
  readonly startBy?: number | undefined;
}

const anyPart: fc.Arbitrary<Part> = fc.record({
  createdAt: around(-10_000, 1_000),
  bytes: fc.integer({ min: 1, max: 400 }),
  weight: fc.integer({ min: 1, max: 15 }),
  ahead: fc.integer({ min: 0, max: 9 }).map((priority) => priority * 1_000),
  coalesceKey: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
  startBy: fc.option(around(1, 9_000), { nil: undefined }),
});

const byTurn = (rows: readonly Waiting[]): Waiting[] => rows.toSorted((a, b) => (a.entry < b.entry ? -1 : 1));

/** The rows of tasks, in the order in which they are due. */
const rowsOf = (parts: readonly Part[]): Waiting[] =>
  byTurn(
    parts.map(({ coalesceKey, startBy, ...part }, n) =>
      waitingRow({
        ...part,
        id: id(`t${n}`),
        run: 1,
        ...(coalesceKey === undefined ? {} : { coalesceKey }),
        ...(startBy === undefined ? {} : { startBy }),
      }),
    ),
  );

const anyRows = (most = 12): fc.Arbitrary<Waiting[]> =>
  fc.array(anyPart, { minLength: 1, maxLength: most }).map(rowsOf);

const anyFlush = fc.option(around(-10_000, 1_000), { nil: undefined });

/** Decides as a leader does, over as many rows as a batch may hold. */
const decide = (rows: readonly Waiting[], policy: BatchPolicy, now: number, flushedAt?: number): Due =>
  due(rows.slice(0, policy.maxSize), policy, now, flushedAt);

const sum = (rows: readonly Waiting[], of: 'bytes' | 'weight'): number => rows.reduce((all, row) => all + row[of], 0);
const isLarge = ({ bypass }: BatchPolicy, { bytes }: Waiting): boolean => bypass !== null && bytes >= bypass;

describe('under any policy,', () => {
  it('a batch has members, and exceeds no limit unless a single task does', () => {
    fc.assert(
      fc.property(anyRows(), anyPolicy, anyFlush, (rows, policy, flushedAt) => {
        const next = decide(rows, policy, NOW, flushedAt);
        if (next.do === 'wait') return;
        expect(next.rows.length).toBeGreaterThan(0);
        expect(next.rows.length).toBeLessThanOrEqual(policy.maxSize);
        if (next.rows.length === 1) return;
        expect(sum(next.rows, 'bytes')).toBeLessThanOrEqual(policy.maxBytes);
        if (policy.maxWeight > 0) expect(sum(next.rows, 'weight')).toBeLessThanOrEqual(policy.maxWeight);
      }),
      RUNS,
    );
  });

  it('a batch states a true reason for its seal', () => {
    fc.assert(
      fc.property(anyRows(), anyPolicy, anyFlush, (rows, policy, flushedAt = 0) => {
        const next = decide(rows, policy, NOW, flushedAt);
        if (next.do === 'wait') return;
        const hand = rows.slice(0, policy.maxSize);
        const following = hand[next.rows.length];
        const oldest = Math.min(...hand.map(({ at }) => at));
        const overflows = (of: 'bytes' | 'weight', most: number) => sum(next.rows, of) + (following?.[of] ?? 0) >= most;
        const holds: Record<typeof next.because, boolean> = {
          full: next.rows.length === policy.maxSize,
          bytes: overflows('bytes', policy.maxBytes),
          weight: policy.maxWeight > 0 && overflows('weight', policy.maxWeight),
          waited: waitEnd(oldest, policy) <= NOW,
          flush: oldest <= flushedAt,
          quiet:
            policy.quietPeriod > 0 &&
            hand.length >= policy.minSize &&
            Math.max(...hand.map(({ at }) => at)) + policy.quietPeriod <= NOW,
          bypass: next.rows.length === 1 && isLarge(policy, next.rows[0] as Waiting),
        };
        expect(holds[next.because], next.because).toBe(true);
      }),
      RUNS,
    );
  });

  it('a wait ends in the future, at the window, quiet period or expiry at most', () => {
    fc.assert(
      fc.property(anyRows(), anyPolicy, anyFlush, (rows, policy, flushedAt) => {
        const next = decide(rows, policy, NOW, flushedAt);
        if (next.do === 'seal') return;
        const hand = rows.slice(0, policy.maxSize);
        expect(next.until).toBeGreaterThan(NOW);
        expect(next.until).toBeLessThanOrEqual(waitEnd(Math.min(...hand.map(({ at }) => at)), policy));
        for (const { startBy = Number.POSITIVE_INFINITY } of hand) expect(next.until).toBeLessThanOrEqual(startBy);
        if (policy.quietPeriod > 0 && hand.length >= policy.minSize)
          expect(next.until).toBeLessThanOrEqual(Math.max(...hand.map(({ at }) => at)) + policy.quietPeriod);
      }),
      RUNS,
    );
  });

  it('the leader seals, settles or checks for quiet when the wait is over', () => {
    fc.assert(
      fc.property(anyRows(), anyPolicy, (rows, policy) => {
        const next = decide(rows, policy, NOW);
        if (next.do === 'seal') return;
        const hand = rows.slice(0, policy.maxSize);
        const isSettled = settlementsOf(hand, next.until).some(({ as }) => as.status === 'failed');
        const looks = policy.quietPeriod > 0 && hand.length < policy.minSize;
        expect(decide(rows, policy, next.until).do === 'seal' || isSettled || looks).toBe(true);
      }),
      RUNS,
    );
  });

  it('a large task goes alone, and the tasks beside it keep waiting', () => {
    fc.assert(
      fc.property(anyRows(), anyPolicy, anyFlush, (rows, policy, flushedAt) => {
        const large = rows.slice(0, policy.maxSize).find((row) => isLarge(policy, row));
        const next = decide(rows, policy, NOW, flushedAt);
        if (large) expect(next).toEqual({ do: 'seal', because: 'bypass', rows: [large] });
        else if (next.do === 'seal') expect(next.because).not.toBe('bypass');
      }),
      RUNS,
    );
  });

  it('a flush seals the tasks that waited then, and does not affect later ones', () => {
    fc.assert(
      fc.property(anyRows(), anyPolicy, around(-10_000, 1_000), (rows, policy, flushedAt) => {
        const next = decide(rows, policy, NOW, flushedAt);
        const oldest = Math.min(...rows.slice(0, policy.maxSize).map(({ at }) => at));
        if (oldest <= flushedAt) expect(next.do).toBe('seal');
        else expect(next).toEqual(decide(rows, policy, NOW));
      }),
      RUNS,
    );
  });

  it('minSize affects the quiet period only', () => {
    fc.assert(
      fc.property(anyRows(), anyPolicy, anyFlush, (rows, policy, flushedAt) => {
        const without = decide(rows, { ...policy, minSize: 1 }, NOW, flushedAt);
        const next = decide(rows, policy, NOW, flushedAt);
        if (policy.quietPeriod === 0 || (without.do === 'seal' && without.because !== 'quiet'))
          expect(next).toEqual(without);
        if (rows.length < policy.minSize && next.do === 'seal') expect(next.because).not.toBe('quiet');
      }),
      RUNS,
    );
  });

  it('windows end at the same moments for all Targets, each within its length', () => {
    fc.assert(
      fc.property(around(-1e6, 1e6), fc.integer({ min: 1, max: 1e7 }), (at, window) => {
        const end = waitEnd(at, { maxWait: 7, window });
        expect(end % window).toBe(0);
        expect(end).toBeGreaterThan(at);
        expect(end - at).toBeLessThanOrEqual(window);
        expect(waitEnd(end - 1, { maxWait: 7, window })).toBe(end);
        expect(waitEnd(at, { maxWait: 7, window: null })).toBe(at + 7);
      }),
      RUNS,
    );
  });

  it('successive batches take all tasks in order, except for large ones', () => {
    fc.assert(
      fc.property(anyRows(30), anyPolicy, (rows, policy) => {
        const inTurn: Waiting[] = [];
        let rest = rows;
        while (rest.length > 0) {
          const next = decide(rest, policy, Number.MAX_SAFE_INTEGER);
          if (next.do === 'wait') throw new Error('the policy waits for ever');
          if (next.because !== 'bypass') inTurn.push(...next.rows);
          rest = rest.filter((row) => !next.rows.includes(row));
        }
        expect(inTurn).toEqual(rows.filter((row) => !isLarge(policy, row)));
      }),
      RUNS,
    );
  });

  it('one more task makes no task wait longer, except for a quiet period', () => {
    fc.assert(
      fc.property(anyRows(), anyPart, anyPolicy, anyFlush, (rows, part, policy, flushedAt) => {
        const quiet = policy.quietPeriod > 0;
        const [more] = rowsOf([part]) as [Waiting];
        const before = due(rows, policy, NOW, flushedAt);
        const after = due(byTurn([...rows, { ...more, entry: `${more.entry}x` }]), policy, NOW, flushedAt);
        if (after.do === 'seal') return;
        if (before.do === 'seal') expect([before.because, quiet]).toEqual(['quiet', true]);
        else if (!quiet) expect(after.until).toBeLessThanOrEqual(before.until);
      }),
      RUNS,
    );
  });

  it('no task overtakes another that is older by more than nine times maxWait', () => {
    const priority = fc.integer({ min: 0, max: 9 });
    const maxWait = fc.integer({ min: 1_000, max: 7_200_000 });
    fc.assert(
      fc.property(priority, priority, maxWait, fc.integer({ min: 1, max: 1e9 }), (mine, other, wait, later) => {
        const turn = (name: string, createdAt: number, rank: number): string =>
          waitingRow({ id: id(name), run: 1, bytes: 1, createdAt, ahead: rank * wait }).entry;
        const first = turn('z', NOW, mine);
        expect(first < turn('a', NOW + 9 * wait + later, other)).toBe(true);
        // A later task that is not more urgent never overtakes either.
        expect(first < turn('a', NOW + later, Math.min(mine, other))).toBe(true);
      }),
      RUNS,
    );
  });
});

describe('settling', () => {
  it('removes expired tasks, and all but the newest unexpired task of each key', () => {
    fc.assert(
      fc.property(anyRows(), fc.integer({ min: 0, max: 9_000 }), (rows, passed) => {
        const now = NOW + passed;
        const settled = settlementsOf(rows, now);
        const gone = new Set(settled.map(({ row }) => row));
        expect(gone.size).toBe(settled.length);
        const left = rows.filter((row) => !gone.has(row));
        for (const { startBy = Number.POSITIVE_INFINITY } of left) expect(startBy).toBeGreaterThan(now);
        const keys = left.flatMap(({ key }) => key ?? []);
        expect(new Set(keys).size).toBe(keys.length);
        for (const { row, as } of settled) {
          if (as.status === 'failed') expect(row.startBy).toBeLessThanOrEqual(now);
          else {
            const newer = left.find(({ candidate }) => candidate === `${as.supersededBy}#1`);
            expect(newer?.key).toBe(row.key);
            expect(newer?.at).toBeGreaterThanOrEqual(row.at);
          }
        }
        expect(settlementsOf(left, now)).toEqual([]);
      }),
      RUNS,
    );
  });
});
