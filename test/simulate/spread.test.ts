import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Spreading } from '../../tools/simulate/spread.ts';
import { Timeline } from '../../tools/simulate/timeline.ts';

it('quantiles are within 1% of the exact ones', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 1_000_000 }), { minLength: 1, maxLength: 300 }), (values) => {
      const spreading = new Spreading();
      for (const value of values) spreading.add(value);
      const sorted = values.toSorted((a, b) => a - b);
      const exact = (share: number): number => sorted[Math.ceil(share * values.length) - 1] ?? 0;
      const { count, mean, p50, p95, p99, max } = spreading.spread;
      for (const [told, share] of [
        [p50, 0.5],
        [p95, 0.95],
        [p99, 0.99],
      ] as const)
        expect(Math.abs(told - exact(share))).toBeLessThanOrEqual(exact(share) * 0.01);
      expect([count, max]).toEqual([values.length, sorted.at(-1)]);
      expect(mean).toBeCloseTo(values.reduce((sum, value) => sum + value, 0) / values.length, 6);
    }),
  );
});

it('the spread of no values is zero', () => {
  expect(new Spreading().spread).toEqual({ count: 0, mean: 0, p50: 0, p95: 0, p99: 0, max: 0 });
});

it('a timeline keeps every count in at most 400 stretches, however long it is', () => {
  const timeline = new Timeline();
  for (let hour = 0; hour < 1_000; hour += 1) {
    timeline.wait(hour * 3_600_000, 1);
    timeline.count(hour * 3_600_000, 'arrived');
    if (hour % 2 === 0) timeline.count(hour * 3_600_000, 'calls');
  }
  const { stretches } = timeline;
  expect(stretches.length).toBeLessThanOrEqual(400);
  expect(stretches.reduce((sum, { arrived }) => sum + arrived, 0)).toBe(1_000);
  expect(stretches.reduce((sum, { calls }) => sum + calls, 0)).toBe(500);
  expect(stretches.at(-1)?.waiting).toBe(1_000);
  expect(new Set(stretches.slice(1).map(({ at }, index) => at - (stretches[index]?.at ?? 0))).size).toBe(1);
});
