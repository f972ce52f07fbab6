/**
 * The attempts of single items (H5, O5). An attempt counts for its batch, but not for the items in it that the downstream
 * throttled. The batch's row stores for each unfinished item how many of the counted attempts it was spared. Pure.
 */
import type { TaskId } from '../ids.ts';
import type { Batch } from './batch.ts';

/** How many attempts each item has used. */
export type Used = ReadonlyMap<TaskId, number>;

type Unfinished = Pick<Batch, 'open' | 'pending'>;
type Row = Unfinished & Pick<Batch, 'spared'>;

/** The items to which the numbers in a row belong, in their order. */
const listed = ({ open = [], pending }: Unfinished): readonly TaskId[] => [...open, ...(pending?.ids ?? [])];

/** The attempts that a batch's unfinished items were spared. Items that were spared none are absent. */
const sparedIn = (row: Row): ReadonlyMap<TaskId, number> => {
  const ids = listed(row);
  const { spared = [] } = row;
  // A release that does not know this field may have changed the items and left the numbers.
  if (spared.length !== ids.length) return new Map();
  return new Map(ids.map((id, index) => [id, spared[index] ?? 0]));
};

/**
 * The attempts that items have used.
 *
 * @param row the batch as it was before the attempt
 * @param countedAttempts of the batch, with the attempt
 * @param throttled the items that the attempt does not count for
 */
export const usedBy = (
  row: Row,
  ids: readonly TaskId[],
  countedAttempts: number,
  throttled: ReadonlySet<TaskId>,
): Used => {
  const spared = sparedIn(row);
  return new Map(
    ids.map((id) => [id, Math.max(0, countedAttempts - (spared.get(id) ?? 0) - (throttled.has(id) ? 1 : 0))]),
  );
};

/** The most attempts that one of the items has used. 0 without items. */
export const mostUsed = (used: Used, ids: Iterable<TaskId> = used.keys()): number =>
  Math.max(0, ...[...ids].map((id) => used.get(id) ?? 0));

/**
 * The attempts that items have used if the attempt does not count (`countedThen` is one less than `most`), or if their
 * number is set back to isolate tasks at fault (H8).
 *
 * @param most the most attempts that an open item has used
 * @param countedThen the same for the next attempt
 */
export const setBack = (used: Used, throttled: ReadonlySet<TaskId>, most: number, countedThen: number): Used =>
  countedThen === most
    ? used
    : new Map(
        [...used].map(([id, own]) => {
          if (countedThen < most - 1) return [id, Math.min(own, countedThen)];
          return [id, throttled.has(id) ? own : Math.max(0, own - 1)];
        }),
      );

/**
 * The numbers as a batch's row stores them. `spared` is absent if all items have used the same number. The open items
 * decide whether the batch has an attempt left, so the row counts the most that one of them has used. A pending item that
 * has used more gets further ones.
 */
export const storedAs = (unfinished: Unfinished, used: Used): Pick<Batch, 'countedAttempts' | 'spared'> => {
  const ids = listed(unfinished);
  const countedAttempts = mostUsed(used, unfinished.open?.length ? unfinished.open : ids);
  const spared = ids.map((id) => Math.max(0, countedAttempts - (used.get(id) ?? countedAttempts)));
  return { countedAttempts, ...(spared.some((each) => each > 0) ? { spared } : {}) };
};
