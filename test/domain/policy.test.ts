import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Arrivals, chanceToLook, type Due, due } from '../../src/domain/batches/policy.ts';
import { aPolicy, aRow, NOW, rows } from '../factories/factories.ts';

/** A decision to seal, with the number of rows instead of the rows. */
const brief = (next: Due) =>
  next.do === 'seal' ? { do: next.do, because: next.because, take: next.rows.length } : next;

const policy = aPolicy({ maxSize: 3, maxBytes: 1_000, maxWait: 5_000 });

describe('a batch is due', () => {
  it('at once when it is full', () => {
    expect(brief(due(rows(3), policy, NOW))).toEqual({ do: 'seal', because: 'full', take: 3 });
  });

  it('at once when its bytes reach the maximum, with the tasks that fit', () => {
    expect(brief(due(rows(2, { bytes: 600 }), policy, NOW))).toEqual({ do: 'seal', because: 'bytes', take: 1 });
    expect(brief(due(rows(2, { bytes: 500 }), policy, NOW))).toEqual({ do: 'seal', because: 'bytes', take: 2 });
  });

  it('at once when its weight reaches exactly the maximum', () => {
    const heavy = aPolicy({ maxSize: 9, maxWeight: 10 });
    const weighing = (...weights: number[]) => weights.map((weight, n) => aRow({ id: `task-${n}`, weight }));
    const full = (take: number) => ({ do: 'seal', because: 'weight', take });
    expect(brief(due(weighing(4, 6), heavy, NOW)), 'exactly the maximum').toEqual(full(2));
    expect(brief(due(weighing(4, 6, 1), heavy, NOW)), 'and one more').toEqual(full(2));
    expect(brief(due(weighing(4, 7), heavy, NOW)), 'too heavy together').toEqual(full(1));
    expect(due(weighing(4, 5), heavy, NOW).do, 'lighter').toBe('wait');
  });

  it('after a quiet period with at least minSize tasks', () => {
    const quiet = aPolicy({ maxSize: 9, maxWait: 60_000, quietPeriod: 1_000, minSize: 3 });
    expect(brief(due(rows(3), quiet, NOW + 1_000))).toEqual({ do: 'seal', because: 'quiet', take: 3 });
    expect(due(rows(2), quiet, NOW + 1_000).do).toBe('wait');
  });

  it('with one task alone if that is larger than a batch may be', () => {
    expect(brief(due(rows(2, { bytes: 2_000 }), policy, NOW))).toEqual({ do: 'seal', because: 'bytes', take: 1 });
  });

  it('when its oldest task has waited for maxWait, whatever the order', () => {
    const waiting = [aRow({ id: 'b', at: NOW }), aRow({ id: 'a', at: NOW - 4_000 })];
    expect(due(waiting, policy, NOW)).toEqual({ do: 'wait', until: NOW + 1_000 });
    expect(due(waiting, policy, NOW + 999)).toEqual({ do: 'wait', until: NOW + 1_000 });
    expect(brief(due(waiting, policy, NOW + 1_000))).toEqual({ do: 'seal', because: 'waited', take: 2 });
  });

  it("when its window ends; a task at a window's start belongs to the next one", () => {
    const windows = aPolicy({ maxSize: 9, window: 5_000 });
    const start = Math.ceil(NOW / 5_000) * 5_000;
    const until = (at: number) => due([aRow({ at })], windows, start - 1);
    expect(until(start - 1)).toEqual({ do: 'wait', until: start });
    expect(until(start)).toEqual({ do: 'wait', until: start + 5_000 });
  });

  it('at once with one task of at least `bypass` bytes, which goes alone', () => {
    const bypass = aPolicy({ maxSize: 9, bypass: 500 });
    const beside = (bytes: number) => [aRow({ id: 'a', bytes: 1 }), aRow({ id: 'b', bytes })];
    expect(due(beside(499), bypass, NOW).do).toBe('wait');
    expect(due(beside(500), bypass, NOW)).toEqual({ do: 'seal', because: 'bypass', rows: [beside(500)[1]] });
  });

  it('later, but the leader wakes when the first task expires', () => {
    const waiting = [
      aRow({ id: 'a', startBy: NOW + 3_000 }),
      aRow({ id: 'b', startBy: NOW + 2_000 }),
      aRow({ id: 'c' }),
    ];
    expect(due(waiting, aPolicy({ maxSize: 9, maxWait: 5_000 }), NOW)).toEqual({ do: 'wait', until: NOW + 2_000 });
    expect(due(waiting, aPolicy({ maxSize: 9, maxWait: 1_000 }), NOW)).toEqual({ do: 'wait', until: NOW + 1_000 });
  });

  it('when a flush was requested, for tasks registered before it', () => {
    expect(brief(due(rows(1), policy, NOW, NOW))).toEqual({ do: 'seal', because: 'flush', take: 1 });
    expect(due(rows(1), policy, NOW, NOW - 1)).toEqual({ do: 'wait', until: NOW + 5_000 });
  });

  it('within the limits of the policy and never empty, or else in the future', () => {
    const anyRow = fc.record({
      bytes: fc.integer({ min: 1, max: 2_000 }),
      at: fc.integer({ min: NOW - 10_000, max: NOW + 10_000 }),
    });
    const anyPolicy = fc.record({
      maxSize: fc.integer({ min: 1, max: 20 }),
      maxBytes: fc.integer({ min: 1, max: 5_000 }),
      maxWait: fc.integer({ min: 0, max: 10_000 }),
    });
    fc.assert(
      fc.property(fc.array(anyRow, { minLength: 1, maxLength: 20 }), anyPolicy, (parts, any) => {
        const waiting = parts.slice(0, any.maxSize).map((part) => aRow(part));
        const next = due(waiting, aPolicy(any), NOW);
        if (next.do === 'wait') {
          expect(next.until).toBeGreaterThan(NOW);
          expect(waiting.length).toBeLessThan(any.maxSize);
          return;
        }
        expect(next.rows.length).toBeGreaterThanOrEqual(1);
        expect(next.rows.length).toBeLessThanOrEqual(any.maxSize);
        const bytes = waiting.slice(0, next.rows.length).reduce((sum, row) => sum + row.bytes, 0);
        expect(next.rows.length === 1 || bytes <= any.maxBytes).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('a check for fullness', () => {
  const arrivals = (fields: Partial<Arrivals>): Arrivals => ({
    tasks: 1,
    bytes: 0,
    weight: 0,
    largest: 0,
    startBy: Number.POSITIVE_INFINITY,
    ...fields,
  });
  const few = (tasks: number) => arrivals({ tasks });

  it('happens for about eight in maxSize arrivals, grouped or not', () => {
    const hundred = { ...policy, maxSize: 100 };
    expect(chanceToLook(few(1), hundred)).toBeCloseTo(0.08, 9);
    expect(chanceToLook(few(10), hundred)).toBeCloseTo(1 - 0.92 ** 10, 9);
  });

  it('happens as often for batches that are full by bytes', () => {
    const wide = aPolicy({ maxSize: 1_000 });
    expect(chanceToLook(arrivals({ bytes: 90_000 }), wide)).toBeCloseTo(0.8, 9);
  });

  it('always happens for small batches', () => {
    expect(chanceToLook(few(1), { ...policy, maxSize: 8 })).toBe(1);
  });
});
