/**
 * Corrections (T11): the task of a failed item was redriven and has succeeded. The item's slot changes from failed to
 * succeeded. Nothing changes it back: an ack writes empty slots only.
 *
 * The nodes above the group keep their counts, because a correction that is repeated there could not tell that it is. So
 * the header notes, before the first correction, that failed items are to be counted in the groups.
 */

import type { FanOutId } from '../../domain/fan-out-ids.ts';
import type { FanOut, NodeCounts } from '../../domain/fan-outs/fan-out.ts';
import type { FanOutDeps } from '../deps.ts';
import { noteAllSucceeded } from './notices.ts';

/** Corrects failed items of a group. @returns the group afterwards; undefined if it does not exist any more */
export const correct = async (
  { fanOuts, machine }: FanOutDeps,
  id: FanOutId,
  group: number,
  indexes: readonly number[],
): Promise<NodeCounts | undefined> => {
  const fanOut = await fanOuts.read(id);
  if (!fanOut) return undefined;
  if (!fanOut.corrected) await fanOuts.noteCorrection(id);
  for (let open = indexes; ; ) {
    const { isWritten, node } = await fanOuts.correct(id, group, open, machine.now());
    if (isWritten || !node) return node;
    // Another function has corrected some of the items.
    const left = open.filter((index) => node.slots[index] === false);
    if (left.length === 0) return node;
    if (left.length === open.length)
      throw new Error(`group ${group} of fan-out ${id} refuses corrections of items that it shows as failed`);
    open = left;
  }
};

/**
 * The rest of a correction, also of a repeated one: the header forgets the failures, and a complete fan-out whose last
 * failed item was corrected reports that (T12). The header is read after the correction, and the end is written before
 * its function looks for corrections. So one of the two functions sees what the other wrote.
 */
export const afterCorrection = async (
  deps: FanOutDeps,
  id: FanOutId,
  group: number,
  indexes: readonly number[],
  node: NodeCounts,
): Promise<void> => {
  const fanOut = await deps.fanOuts.read(id);
  if (!fanOut) return;
  const noted = indexes.map((index) => `${group}:${index}`).filter((each) => fanOut.fails.includes(each));
  if (noted.length > 0 && !fanOut.ended) await deps.fanOuts.forgetFails(id, noted);
  if (node.failed === 0) await noteAllSucceeded(deps, fanOut);
};

/**
 * T11. Removes noted failures that were corrected. A late ack of a first run may have noted them again. @returns the
 * fan-out with failures that are stored in its groups, if it seemed to have too many
 */
export const withoutCorrected = async ({ fanOuts }: FanOutDeps, fanOut: FanOut): Promise<FanOut> => {
  if (!fanOut.corrected || fanOut.fails.length === 0) return fanOut;
  const byGroup = Map.groupBy(fanOut.fails, (each) => Number(each.split(':')[0]));
  const corrected = await Promise.all(
    [...byGroup].map(async ([n, fails]) => {
      const node = await fanOuts.node(fanOut.id, { level: 0, n });
      return fails.filter((each) => node?.slots[Number(each.split(':')[1])] === true);
    }),
  );
  const stale = corrected.flat();
  if (stale.length === 0) return fanOut;
  const after = (await fanOuts.forgetFails(fanOut.id, stale)) ?? fanOut;
  return { ...after, fails: after.fails.filter((each) => !stale.includes(each)) };
};
