import { describe, expect, it } from 'vitest';
import { accepted, inParts, type Parts, putOff, refused, toCall } from '../../src/domain/batches/bisect.ts';
import type { Suspect } from '../../src/domain/downstream/downstream.ts';

const range = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

interface Halved {
  readonly calls: number;
  readonly failed: readonly number[];
  readonly called: readonly (readonly number[])[];
}

/** Calls until no part is left. @param refuses returns why a call with these items is refused, if it is. */
const halve = (
  items: readonly number[],
  refuses: (part: readonly number[]) => Suspect | 'not now' | undefined,
  size?: number,
): Halved => {
  const called: (readonly number[])[] = [];
  const failed: number[] = [];
  let parts: Parts<number> = toCall(inParts(items, size));
  for (let [top] = parts; top; [top] = parts) {
    called.push(top.items);
    const answer = refuses(top.items);
    if (answer === undefined) parts = accepted(parts);
    else if (answer === 'not now') parts = putOff(parts);
    else {
      if (top.items.length === 1) failed.push(...top.items);
      parts = refused(parts, answer);
    }
    parts = toCall(parts);
  }
  return { calls: called.length, failed, called };
};

describe('halving', () => {
  it('finds one bad item of n in at most 1 + 2·log2(n) calls, and fails no other item', () => {
    for (let n = 1; n <= 1_000; n += 1) {
      const items = range(n);
      const most = 1 + 2 * Math.log2(n);
      for (const poison of items) {
        const { calls, failed } = halve(items, (part) =>
          (part[0] as number) <= poison && poison <= (part.at(-1) as number) ? 'an-item' : undefined,
        );
        if (calls > most || failed.length !== 1 || failed[0] !== poison)
          expect.fail(`item ${poison} of ${n}: ${calls} calls, at most ${most}; failed ${failed.join()}`);
      }
    }
  });

  it('finds any number of bad items, and fails no other item', () => {
    for (let mask = 0; mask < 2 ** 10; mask += 1) {
      const poisoned = range(10).filter((n) => mask & (1 << n));
      const { failed } = halve(range(10), (part) => (part.some((n) => poisoned.includes(n)) ? 'an-item' : undefined));
      expect(failed).toEqual(poisoned);
    }
  });

  it('of a call that is too large includes every item in calls that are not too large', () => {
    for (const most of [1, 2, 3, 7]) {
      const { called, failed } = halve(range(20), (part) => (part.length > most ? 'its-size' : undefined));
      expect(failed).toEqual([]);
      expect(called.filter((part) => part.length <= most).flat()).toEqual(range(20));
    }
  });

  it('draws no conclusion from an unavailable half, and calls an item before it fails', () => {
    // The downstream refuses a call with both 0 and 3, and accepts each of them alone.
    const { failed, called } = halve(range(4), (part) =>
      part.includes(0) && part.includes(3) ? 'an-item' : undefined,
    );
    expect(failed).toEqual([]);
    expect(called).toEqual([[0, 1, 2, 3], [0, 1], [2], [3]]);
    const busy = halve(range(4), (part) => (part.length === 4 ? 'an-item' : part.includes(0) ? 'not now' : undefined));
    expect(busy.called).toEqual([
      [0, 1, 2, 3],
      [0, 1],
      [2, 3],
    ]);
  });

  it('continues in parts of a given size', () => {
    expect(halve(range(5), () => undefined, 2).called).toEqual([[0, 1], [2, 3], [4]]);
    expect(inParts([], 3)).toEqual([]);
  });
});

it('halving draws no conclusion about the second half if the call was only too large', () => {
  const halves = refused(inParts(range(4)), 'its-size');
  expect(toCall(accepted(halves)).map(({ items }) => items)).toEqual([[2, 3]]);
  const guilty = refused(inParts(range(4)), 'an-item');
  expect(toCall(accepted(guilty)).map(({ items }) => items)).toEqual([[2], [3]]);
});
