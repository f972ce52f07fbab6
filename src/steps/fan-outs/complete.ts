/**
 * How a fan-out comes to be complete. Climb (T4): a node that is done acks its slot in its parent, which is a node of the same shape;
 * and so on to the top. Seal (T5): nothing is added any more, and what is done already can now be known to be all. Fail fast (T7):
 * more failed items than are tolerated complete it before all of it is done.
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
import { completeAll, failFast } from './end.ts';

/**
 * Goes up from a node for as long as nodes are done. The header is read *after* each node was written: whoever seals
 * writes the header and then reads the nodes, so that one of the two sees the other.
 *
 * @param isRepeat the node was not written just now: what is above it is mostly written, and is read first.
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
        // A child was done. If something failed in it, what is summed over the nodes has changed; the sum reads a row for
        // each 450 groups, which is too much for groups that change nothing.
        return fanOut && position.level > 0 && node.failed > 0 && sumsFailures(fanOut)
          ? failFastIfDue(deps, fanOut)
          : completionOf(fanOut);
      case 'end':
        return completionOf(fanOut && (await completeAll(deps, fanOut, counts.failed)));
      case 'climb': {
        const parent = parentOf(position, fanOuts.width);
        counts = await ackSlot(deps, id, parent, counts, isRepeat);
        position = { level: parent.level, n: parent.n };
      }
    }
  }
};

/** Acks a child's slot, once however often. @returns what the parent comes to then. */
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
    // T1. Put by its first finished child; of several first ones the others ack it.
    if (await fanOuts.putNode(id, parent, slots)) return { left: fanOuts.width - 1, failed, seenAt: slots.at };
  }
};

export type Sealed =
  | { readonly kind: 'sealed'; readonly complete: boolean; readonly fanOut: FanOut }
  | { readonly kind: 'expired' }
  | { readonly kind: 'unknown' };

/** Again is harmless: it looks again, and answers the same, or that it is complete by now. */
export const seal = async (deps: FanOutDeps, id: FanOutId): Promise<Sealed> => {
  const sealed = await deps.fanOuts.seal(id, deps.machine.now());
  const fanOut = sealed?.status === 'sealed' ? await finishSealed(deps, sealed) : sealed;
  if (!fanOut) return { kind: 'unknown' };
  if (fanOut.status === 'expired') return { kind: 'expired' };
  return { kind: 'sealed', complete: fanOut.status === 'complete', fanOut };
};

/**
 * Completes a sealed fan-out if all of it is done. Of each level the last node alone may be done without having climbed: all
 * others are full when they are done. @returns the fan-out as it is then
 */
export const finishSealed = async (deps: FanOutDeps, fanOut: FanOut): Promise<FanOut | undefined> => {
  const { fanOuts } = deps;
  const { id, groups } = fanOut;
  if (groups === 0) return completeAll(deps, fanOut, 0);
  const early = await failFastIfDue(deps, fanOut);
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

/** Notes items that failed, if the fan-out wants to know. @param fails `group:index` */
export const noteFails = async (deps: FanOutDeps, id: FanOutId, fails: readonly string[]): Promise<Completion> => {
  const fanOut = await deps.fanOuts.read(id);
  if (!fanOut?.failFast || fanOut.ended || sumsFailures(fanOut)) return completionOf(fanOut);
  const unknown = fails.filter((each) => !fanOut.fails.includes(each)).slice(0, TOLERATED_MAX + 1);
  const noted = unknown.length > 0 ? await deps.fanOuts.noteFails(id, unknown, TOLERATED_MAX) : fanOut;
  return failFastIfDue(deps, noted ?? fanOut);
};

/**
 * Completes a fan-out of which too much failed, as far as is known without looking at every group: failed items are noted
 * one by one up to {@link TOLERATED_MAX}; more are summed over the groups that are done.
 */
const failFastIfDue = async (deps: FanOutDeps, fanOut: FanOut): Promise<Completion> => {
  if (fanOut.ended) return completionOf(fanOut);
  const failed = sumsFailures(fanOut) ? await failedInDone(deps, fanOut) : fanOut.fails.length;
  return completionOf(isTooMany(fanOut, failed) ? await failFast(deps, fanOut, failed) : fanOut);
};

const failedInDone = async ({ fanOuts }: FanOutDeps, { id, groups }: FanOut): Promise<number> => {
  const parents = Array.from({ length: nodesAt(groups, 1, fanOuts.width) }, (_, n) => ({ level: 1, n }));
  const counts = await fanOuts.counts(id, parents);
  return counts.reduce((sum, node) => sum + (node?.failed ?? 0), 0);
};
