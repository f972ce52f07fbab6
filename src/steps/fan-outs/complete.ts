/**
 * Completes fan-outs.
 *
 * - Climb (T4): a node that is done acks its place in its parent node. If the parent is then done too, it acks its own
 *   place in the next node, and so on to the top.
 * - Seal (T5): no item can be added any more. Then check the nodes, because all of them may be done already.
 * - Fail fast (T7): if more items failed than tolerated, the fan-out completes before all items are done.
 */

import type { FanOutId } from '../../domain/fan-out-ids.ts';
import {
  type Completion,
  completionOf,
  type FanOut,
  isDone,
  isTooMany,
  type NodeCounts,
  nextOf,
  sumsFailures,
  TOLERATED_MAX,
} from '../../domain/fan-outs/fan-out.ts';
import { nodesAt, type Position, parentOf, topLevel } from '../../domain/fan-outs/tree.ts';
import type { Slots } from '../../ports/fan-outs.ts';
import type { FanOutDeps } from '../deps.ts';
import { withoutCorrected } from './corrections.ts';
import { completeAll, failFast } from './end.ts';
import { noteFirstFailure } from './notices.ts';
import { failedIn, lookForSum, sumIfDue } from './sums.ts';

/**
 * T4. Climbs from a node while nodes are done. The header is read *after* each node was written, and a seal writes the
 * header before it reads the nodes. So at least one of the two functions sees the other's write.
 *
 * @param isRepeat whether the node was written earlier. Then its parents were probably written too, so they are read
 *   before they are written.
 */
export const climb = async (
  deps: FanOutDeps,
  id: FanOutId,
  from: Position,
  node: NodeCounts,
  isRepeat: boolean,
): Promise<Completion> => {
  const { fanOuts } = deps;
  let [position, counts]: [Position, NodeCounts] = [from, node];
  for (;;) {
    const fanOut = await fanOuts.read(id);
    switch (nextOf(fanOut, position, counts, fanOuts.width)) {
      case 'over':
        return completionOf(fanOut);
      case 'wait':
        // If a child is done and items in it failed, the number of failed items over all nodes has changed. Computing
        // that number costs a read for each 450 groups, so it is only computed after a change.
        return fanOut && position.level > 0 && node.failed > 0 && sumsFailures(fanOut)
          ? failFastIfDue(deps, fanOut)
          : completionOf(fanOut);
      case 'end':
        return completionOf(fanOut && (await completeAll(deps, fanOut, await failedAtEnd(deps, fanOut, counts))));
      case 'climb': {
        const parent = parentOf(position, fanOuts.width);
        counts = await ackSlot(deps, id, parent, counts, isRepeat);
        position = { level: parent.level, n: parent.n };
      }
    }
  }
};

/** The number of failed items of a fan-out whose top node is done. After corrections its count may be too high (T11). */
const failedAtEnd = async ({ fanOuts }: FanOutDeps, fanOut: FanOut, top: NodeCounts): Promise<number> =>
  fanOut.corrected ? failedIn(fanOuts, fanOut) : top.failed;

/** Acks a child's place in its parent. A repeated ack changes nothing. @returns the parent afterwards. */
const ackSlot = async (
  { fanOuts, machine }: FanOutDeps,
  id: FanOutId,
  parent: Position & { readonly slot: number },
  { failed }: NodeCounts,
  isRepeat: boolean,
): Promise<NodeCounts> => {
  const stored = isRepeat ? await fanOuts.node(id, parent) : undefined;
  if (stored && stored.slots[parent.slot] !== null) return stored;
  const slots: Slots = { slots: new Map([[parent.slot, true]]), failed, at: machine.now() };
  for (;;) {
    const acked = await fanOuts.ack(id, parent, slots);
    if (acked.isWritten || acked.node) return acked.node as NodeCounts;
    // T1. The function that acks the first finished child puts the parent's row. For every other child, the row exists
    // and the child's place in it is acked.
    if (await fanOuts.putNode(id, parent, slots)) return { left: fanOuts.width - 1, failed, seenAt: slots.at };
  }
};

export type Sealed =
  | { readonly kind: 'sealed'; readonly complete: boolean; readonly fanOut: FanOut }
  | { readonly kind: 'expired' }
  | { readonly kind: 'unknown' };

/**
 * T5. Seals a fan-out. A repeat is harmless: it checks the nodes again, and may return that the fan-out is complete
 * now.
 */
export const seal = async (deps: FanOutDeps, id: FanOutId): Promise<Sealed> => {
  const sealed = await deps.fanOuts.seal(id, deps.machine.now());
  const fanOut = sealed?.status === 'sealed' ? await finishSealed(deps, sealed) : sealed;
  if (!fanOut) return { kind: 'unknown' };
  if (fanOut.status === 'expired') return { kind: 'expired' };
  return { kind: 'sealed', complete: fanOut.status === 'complete', fanOut };
};

/**
 * T5. Completes a sealed fan-out if all its items are done. On each level, only the last node may be done without
 * having climbed, because every other node is full when it is done.
 * @returns the fan-out afterwards.
 */
export const finishSealed = async (deps: FanOutDeps, fanOut: FanOut): Promise<FanOut | undefined> => {
  const { fanOuts } = deps;
  const { id, groups } = fanOut;
  if (groups === 0) return completeAll(deps, fanOut, 0);
  // The seal fixes the number of tolerated items. So all failures so far are judged, also those in unfinished groups.
  const failed = sumsFailures(fanOut) ? await failedIn(fanOuts, fanOut) : await failedNoted(deps, fanOut);
  const early = await failFastAt(deps, fanOut, failed);
  if (early.isComplete) return early.fanOut;
  for (let level = 0; level <= topLevel(groups, fanOuts.width); level += 1) {
    const position = { level, n: nodesAt(groups, level, fanOuts.width) - 1 };
    const node = await fanOuts.node(id, position);
    if (!node || !isDone(fanOut, position, node, fanOuts.width)) continue;
    const completion = await climb(deps, id, position, node, true);
    if (completion.isComplete || completion.isUnknown) return completion.fanOut ?? (await fanOuts.read(id));
  }
  return fanOut;
};

/**
 * T7, T13. Notes failed items, if the fan-out has `failFast` or reports its first failure.
 * @param indexes of items of the group that failed
 */
export const noteFails = async (
  deps: FanOutDeps,
  id: FanOutId,
  group: number,
  indexes: readonly number[],
): Promise<Completion> => {
  const fanOut = await deps.fanOuts.read(id);
  if (!fanOut || fanOut.ended) return completionOf(fanOut);
  await noteFirstFailure(deps, fanOut, { group, index: indexes[0] ?? 0 });
  if (!fanOut.failFast) return completionOf(fanOut);
  if (sumsFailures(fanOut)) return failFastIfSummed(deps, fanOut);
  const fails = indexes.map((index) => `${group}:${index}`);
  for (let seen = fanOut; ; ) {
    const unknown = fails.filter((each) => !seen.fails.includes(each)).slice(0, TOLERATED_MAX + 1);
    const noted = (unknown.length > 0 ? await deps.fanOuts.noteFails(id, unknown, TOLERATED_MAX) : seen) ?? seen;
    if (noted.ended || !isTooMany(noted, noted.fails.length)) return completionOf(noted);
    const checked = await withoutCorrected(deps, noted);
    // Corrected failures may have taken the room of this one.
    if (isTooMany(checked, checked.fails.length) || checked.fails.length === noted.fails.length)
      return failFastIfDue(deps, checked);
    seen = checked;
  }
};

/**
 * T7. Completes a fan-out if too many items failed. If at most {@link TOLERATED_MAX} failures are tolerated, failed
 * items are noted one by one. For a larger limit, the failures of the finished groups are added up.
 */
const failFastIfDue = async (deps: FanOutDeps, fanOut: FanOut): Promise<Completion> => {
  if (fanOut.ended) return completionOf(fanOut);
  const failed = sumsFailures(fanOut) ? await failedInDone(deps, fanOut) : await failedNoted(deps, fanOut);
  return failFastAt(deps, fanOut, failed);
};

/** T11. The number of noted failures. If they are too many, corrected ones are left out. */
const failedNoted = async (deps: FanOutDeps, fanOut: FanOut): Promise<number> => {
  const { fails } = isTooMany(fanOut, fanOut.fails.length) ? await withoutCorrected(deps, fanOut) : fanOut;
  return fails.length;
};

const failFastAt = async (deps: FanOutDeps, fanOut: FanOut, failed: number): Promise<Completion> =>
  completionOf(isTooMany(fanOut, failed) ? await failFast(deps, fanOut, { failed }) : fanOut);

/** T10. Sums the failures if that is due, and completes the fan-out if they are too many. */
const failFastIfSummed = async (deps: FanOutDeps, fanOut: FanOut): Promise<Completion> => {
  const failed = await sumIfDue(deps, fanOut);
  return failed === undefined ? completionOf(fanOut) : failFastAt(deps, fanOut, failed);
};

/**
 * T10. The same after an ack of succeeded items. Undefined if this process has read the header shortly before.
 * @param read the header, if the ack has read it
 */
export const failFastAfterLook = async (
  deps: FanOutDeps,
  id: FanOutId,
  read: FanOut | undefined,
): Promise<Completion | undefined> => {
  const fanOut = read ?? (await lookForSum(deps, id));
  return fanOut && sumsFailures(fanOut) ? failFastIfSummed(deps, fanOut) : undefined;
};

const failedInDone = async ({ fanOuts }: FanOutDeps, fanOut: FanOut): Promise<number> => {
  if (fanOut.corrected) return failedIn(fanOuts, fanOut);
  const { id, groups } = fanOut;
  const parents = Array.from({ length: nodesAt(groups, 1, fanOuts.width) }, (_, n) => ({ level: 1, n }));
  const counts = await fanOuts.counts(id, parents);
  return counts.reduce((sum, node) => sum + (node?.failed ?? 0), 0);
};
