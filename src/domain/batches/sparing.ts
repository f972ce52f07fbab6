/**
 * The attempts of single items (H5). An attempt counts for its batch, but not for the items in it that the downstream
 * throttled one by one. The batch's row stores how many counted attempts each open item was spared. Pure.
 */
import type { TaskId } from '../ids.ts';
import type { Batch } from './batch.ts';

/** The attempts that were spared, by the item's id. Items that were spared none are absent. */
export type Spared = ReadonlyMap<TaskId, number>;

type Unfinished = Pick<Batch, 'open' | 'pending'>;

/** The items to which the numbers in a row belong, in their order. */
const listed = ({ open = [], pending }: Unfinished): readonly TaskId[] => [...open, ...(pending?.ids ?? [])];

/** The attempts that a batch's unfinished items were spared. */
export const sparedIn = (batch: Unfinished & Pick<Batch, 'spared'>): Spared => {
  const ids = listed(batch);
  const { spared = [] } = batch;
  // A release that does not know this field may have changed the items and left the numbers.
  if (spared.length !== ids.length) return new Map();
  return new Map(ids.flatMap((id, index) => (spared[index] ? [[id, spared[index]] as const] : [])));
};

/** The numbers for a batch's row. Nothing if no item was spared an attempt. */
export const sparedFor = (unfinished: Unfinished, spared: Spared): Pick<Batch, 'spared'> => {
  const numbers = listed(unfinished).map((id) => spared.get(id) ?? 0);
  return numbers.some((each) => each > 0) ? { spared: numbers } : {};
};

/** How often open items were called without being throttled. */
export interface Spent {
  /** The counted attempts of the item that was spared least. */
  readonly countedAttempts: number;
  /** How many fewer each other item has used. */
  readonly spared: Spared;
}

/**
 * The attempts that open items have used after an attempt.
 *
 * @param countedAttempts of the batch, with this attempt
 * @param before the attempts that were spared before
 * @param throttled the items that this attempt spares
 */
export const spentBy = (
  open: readonly TaskId[],
  countedAttempts: number,
  before: Spared,
  throttled: ReadonlySet<TaskId>,
): Spent => {
  const totals = open.map((id) => [id, (before.get(id) ?? 0) + (throttled.has(id) ? 1 : 0)] as const);
  const least = Math.min(...totals.map(([, total]) => total));
  if (!Number.isFinite(least)) return { countedAttempts, spared: new Map() };
  return {
    countedAttempts: countedAttempts - least,
    spared: new Map(totals.flatMap(([id, total]) => (total > least ? [[id, total - least] as const] : []))),
  };
};
