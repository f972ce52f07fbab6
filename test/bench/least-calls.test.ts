import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fits, type Limits, leastCalls } from '../../bench/performance/least-calls.ts';

/**
 * By trying everything: each task, in their order, joins a call that there is already or begins one. A call is possible
 * where all of its tasks are there before the first of them has to go.
 */
const byTrying = (sent: readonly number[], { maxSize, maxWait }: Limits): number => {
  const isPossible = (call: readonly number[]): boolean =>
    call.length <= maxSize && Math.max(...call) <= Math.min(...call) + maxWait;
  const from = (next: number, calls: readonly (readonly number[])[]): number => {
    const task = sent[next];
    if (task === undefined) return calls.length;
    const joined = calls.flatMap((call, index) => {
      const longer = [...call, task];
      return isPossible(longer) ? [from(next + 1, calls.with(index, longer))] : [];
    });
    return Math.min(from(next + 1, [...calls, [task]]), ...joined);
  };
  return from(0, []);
};

const aLimit = fc.record({ maxSize: fc.integer({ min: 1, max: 4 }), maxWait: fc.integer({ min: 0, max: 12 }) });
const someTimes = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 8 });

describe('the fewest calls', () => {
  it('are as few as trying every way to share them finds', () => {
    fc.assert(
      fc.property(someTimes, aLimit, (sent, limits) => {
        expect(leastCalls(sent, limits)).toBe(byTrying(sent, limits));
      }),
    );
  });

  it('are fewer, or as many, where tasks may wait for longer and calls take more', () => {
    fc.assert(
      fc.property(someTimes, aLimit, (sent, { maxSize, maxWait }) => {
        const least = leastCalls(sent, { maxSize, maxWait });
        expect(leastCalls(sent, { maxSize, maxWait: maxWait + 1 })).toBeLessThanOrEqual(least);
        expect(leastCalls(sent, { maxSize: maxSize + 1, maxWait })).toBeLessThanOrEqual(least);
      }),
    );
  });

  it.each([
    ['none for nothing', [], 0],
    ['full ones, and one for the rest', [0, 0, 0, 0, 0, 0, 0], 3],
    ['one for those that come until the first has to go', [0, 5, 10], 1],
    ['another for one that comes later', [0, 5, 11], 2],
    ['the oldest first where they do not all fit', [0, 1, 2, 10, 11], 2],
  ])('are %s', (_, sent, calls) => expect(leastCalls(sent, { maxSize: 3, maxWait: 10 })).toBe(calls));
});

it('bytes matter where the largest tasks do not fit into one call', () => {
  const bytes = [10, 40, 30];
  expect(fits(bytes, { maxSize: 2, maxBytes: 70 })).toBe(true);
  expect(fits(bytes, { maxSize: 2, maxBytes: 69 })).toBe(false);
  expect(fits(bytes, { maxSize: 3, maxBytes: 79 })).toBe(false);
});
