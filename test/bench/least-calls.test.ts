import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fits, type Limits, leastCalls } from '../../bench/performance/least-calls.ts';

/**
 * Tries every partition of the tasks: each task, in order, joins an existing call or begins one. A call is possible if
 * all of its tasks have arrived before the first must go.
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
  it('equal the result of trying every partition', () => {
    fc.assert(
      fc.property(someTimes, aLimit, (sent, limits) => {
        expect(leastCalls(sent, limits)).toBe(byTrying(sent, limits));
      }),
    );
  });

  it('do not increase with a longer maxWait or a larger maxSize', () => {
    fc.assert(
      fc.property(someTimes, aLimit, (sent, { maxSize, maxWait }) => {
        const least = leastCalls(sent, { maxSize, maxWait });
        expect(leastCalls(sent, { maxSize, maxWait: maxWait + 1 })).toBeLessThanOrEqual(least);
        expect(leastCalls(sent, { maxSize: maxSize + 1, maxWait })).toBeLessThanOrEqual(least);
      }),
    );
  });

  it.each([
    ['none for no task', [], 0],
    ['full, and one for the rest', [0, 0, 0, 0, 0, 0, 0], 3],
    ['one for tasks until the first must go', [0, 5, 10], 1],
    ['one more for a later task', [0, 5, 11], 2],
    ['of the oldest first if they do not fit', [0, 1, 2, 10, 11], 2],
  ])('are %s', (_, sent, calls) => expect(leastCalls(sent, { maxSize: 3, maxWait: 10 })).toBe(calls));
});

it('bytes matter if the largest tasks do not fit into one call', () => {
  const bytes = [10, 40, 30];
  expect(fits(bytes, { maxSize: 2, maxBytes: 70 })).toBe(true);
  expect(fits(bytes, { maxSize: 2, maxBytes: 69 })).toBe(false);
  expect(fits(bytes, { maxSize: 3, maxBytes: 79 })).toBe(false);
});
