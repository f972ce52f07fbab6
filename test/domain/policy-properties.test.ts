/** What holds of the policy whatever is configured and waits: all options combined. */
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

/** Rows in their turns, as their tasks make them. */
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

/** As a leader decides: over as many rows as a batch may hold. */
const decide = (rows: readonly Waiting[], policy: BatchPolicy, now: number, flushedAt?: number): Due =>
  due(rows.slice(0, policy.maxSize), policy, now, flushedAt);

const sum = (rows: readonly Waiting[], of: 'bytes' | 'weight'): number => rows.reduce((all, row) => all + row[of], 0);
const isLarge = ({ bypass }: BatchPolicy, { bytes }: Waiting): boolean => bypass !== null && bytes >= bypass;

describe('whatever the policy, and whatever waits,', () => {
  it('a batch holds something, and no more than it may, unless one task alone is too much', () => {
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

  it('a batch says truly why it was sealed', () => {
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

  it('a wait is for the future, and no longer than until the window ends, the Target is quiet, or a task expires', () => {
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

  it('who comes back at the moment that was named, with the same rows, seals, settles, or looks now and then for quiet', () => {
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

  it('a large task goes alone, and whatever waits beside it waits on', () => {
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

  it('a flush seals what waited at it, and changes nothing for what came later', () => {
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

  it('minSize matters to quiet alone', () => {
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

  it('windows end at the same moments for everybody, each within its own length', () => {
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

  it('batch after batch takes everything, in the order of turns but for what goes alone', () => {
    fc.assert(
      fc.property(anyRows(30), anyPolicy, (rows, policy) => {
        const inTurn: Waiting[] = [];
        let rest = rows;
        while (rest.length > 0) {
          const next = decide(rest, policy, Number.MAX_SAFE_INTEGER);
          if (next.do === 'wait') throw new Error('waits for ever');
          if (next.because !== 'bypass') inTurn.push(...next.rows);
          rest = rest.filter((row) => !next.rows.includes(row));
        }
        expect(inTurn).toEqual(rows.filter((row) => !isLarge(policy, row)));
      }),
      RUNS,
    );
  });

  it('a task more makes nobody wait longer, unless the Target was to be quiet', () => {
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

  it('nobody is overtaken by who came nine times maxWait later, however urgent', () => {
    const priority = fc.integer({ min: 0, max: 9 });
    const maxWait = fc.integer({ min: 1_000, max: 7_200_000 });
    fc.assert(
      fc.property(priority, priority, maxWait, fc.integer({ min: 1, max: 1e9 }), (mine, other, wait, later) => {
        const turn = (name: string, createdAt: number, rank: number): string =>
          waitingRow({ id: id(name), run: 1, bytes: 1, createdAt, ahead: rank * wait }).entry;
        const first = turn('z', NOW, mine);
        expect(first < turn('a', NOW + 9 * wait + later, other)).toBe(true);
        // And as urgent, or more: never by anybody later.
        expect(first < turn('a', NOW + later, Math.min(mine, other))).toBe(true);
      }),
      RUNS,
    );
  });
});

describe('what is settled before a look', () => {
  it('is what has expired, and of each key all but the newest that has not: the rest has neither', () => {
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
