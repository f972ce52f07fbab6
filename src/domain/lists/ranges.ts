/** Ranges of consecutive jobs. Pure. */
import type { Range } from './ids.ts';

export const endOf = ({ first, count }: Range): number => first + count;

export const hasJob = (range: Range, token: number): boolean => token >= range.first && token < endOf(range);

/** The range from the first to the last job of some ranges. @param ranges in ascending order, at least one */
export const spanOf = (ranges: readonly [Range, ...Range[]]): Range => {
  const [{ first }] = ranges;
  return { first, count: endOf(ranges.at(-1) ?? ranges[0]) - first };
};

/** Whether there is a range. */
export const isSome = (ranges: readonly Range[]): ranges is readonly [Range, ...Range[]] => ranges.length > 0;

/** A range without some of its jobs. */
export const without = (range: Range, done: Pick<ReadonlySet<number>, 'has'>): readonly Range[] =>
  rangesOf(tokensOf(range).filter((token) => !done.has(token)));

/** The ranges that jobs form. @param tokens in ascending order */
export const rangesOf = (tokens: readonly number[]): readonly Range[] => {
  const ranges: Range[] = [];
  for (const token of tokens) {
    const last = ranges.at(-1);
    if (last && endOf(last) === token) ranges[ranges.length - 1] = { ...last, count: last.count + 1 };
    else ranges.push({ first: token, count: 1 });
  }
  return ranges;
};

export const countOf = (ranges: readonly Range[]): number => ranges.reduce((sum, { count }) => sum + count, 0);

/** At most `count` jobs of some ranges, from position `from` on if the ranges are placed end to end. */
export const partOf = (ranges: readonly Range[], from: number, count: number): readonly Range[] => {
  let [skip, left] = [from, count];
  return ranges.flatMap((range) => {
    const skipped = Math.min(skip, range.count);
    const taken = Math.min(left, range.count - skipped);
    skip -= skipped;
    left -= taken;
    return taken > 0 ? [{ first: range.first + skipped, count: taken }] : [];
  });
};

export const tokensOf = ({ first, count }: Range): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index);
