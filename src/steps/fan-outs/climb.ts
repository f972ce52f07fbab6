/** Climb (T4): a node that is done acks its slot in its parent, which is a node of the same shape; and so on to the top. */

import type { FanOutId } from '../../domain/fan-out-ids.ts';
import { type NodeCounts, nextOf, type Standing, standingOf, sumsFailures } from '../../domain/fan-outs/fan-out.ts';
import { type Position, parentOf } from '../../domain/fan-outs/tree.ts';
import type { Slots } from '../../ports/fan-outs.ts';
import type { FanOutDeps } from './deps.ts';
import { completeAll } from './end.ts';
import { failFastIfDue } from './fail-fast.ts';

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
): Promise<Standing> => {
  const { fanOuts } = deps;
  let [position, counts]: [Position, NodeCounts] = [from, node];
  for (;;) {
    const fanOut = await fanOuts.read(id);
    switch (nextOf(fanOut, position, counts, fanOuts.width)) {
      case 'over':
        return standingOf(fanOut);
      case 'wait':
        // A child was done. If something failed in it, what is summed over the nodes has changed; the sum reads a row for
        // each 450 groups, which is too much for groups that change nothing.
        return fanOut && position.level > 0 && node.failed > 0 && sumsFailures(fanOut)
          ? failFastIfDue(deps, fanOut)
          : standingOf(fanOut);
      case 'end':
        return standingOf(fanOut && (await completeAll(deps, fanOut, counts.failed)));
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
