/**
 * Ack (T3): records outcomes of items, in any order, any number of times. The items of a group are written together.
 * Then failures are noted, and then the group climbs (T4). A repeated ack does all of this again, because the function
 * that handled the first ack may have died after any step.
 */

import pLimit from 'p-limit';
import { type FanOutId, type Item, type ItemId, isNumbered, itemIdOf } from '../../domain/fan-out-ids.ts';
import {
  type Completion,
  type ItemOutcome,
  isGoing,
  mayBeDone,
  type Node,
  type NodeCounts,
} from '../../domain/fan-outs/fan-out.ts';
import { numberedSize, type Position } from '../../domain/fan-outs/tree.ts';
import type { Slots } from '../../ports/fan-outs.ts';
import type { FanOutDeps } from '../deps.ts';
import { climb, failFastAfterLook, noteFails } from './complete.ts';
import { afterCorrection, correct } from './corrections.ts';

/** An item, and its outcome. */
export interface ItemAck {
  readonly item: Item;
  readonly outcome: ItemOutcome;
  /** Whether the item succeeded in a later run of its task, so that it succeeds even if it is stored as failed (T11). */
  readonly corrects?: boolean;
}

/** The result of acks. */
export interface AckAnswer {
  /** The fan-outs of the acked items, and whether each was complete when its items were acked. */
  readonly fanOuts: readonly { readonly id: FanOutId; readonly complete: boolean; readonly userKey?: string }[];
  /** Items that were not acked, because their fan-out does not exist or was deleted. */
  readonly unknown: readonly ItemId[];
}

/** Number of groups that are acked at once. */
const CONCURRENCY = 8;

/** For the items of one group, by index: whether the item succeeded. */
type Results = ReadonlyMap<number, boolean>;

/** Acks items. The items of one group are acked together. The first outcome of an item stands. */
export const ackItems = async (deps: FanOutDeps, acks: readonly ItemAck[]): Promise<AckAnswer> => {
  const byGroup = Map.groupBy(acks, ({ item: { fanOut, group } }) => `${fanOut}:${group}`);
  const parts = [...byGroup.values()].flatMap((same) => partsOf(same, deps.fanOuts.acksAtOnce));
  const answers = await pLimit(CONCURRENCY).map(parts, (part) => ackPart(deps, part));
  return {
    fanOuts: [
      ...Map.groupBy(
        answers.filter(({ completion }) => !completion.isUnknown),
        ({ id }) => id,
      ),
    ].map(([id, all]) => {
      const complete = all.find(({ completion }) => completion.isComplete);
      const userKey = complete?.completion.fanOut?.userKey;
      return { id, complete: complete !== undefined, ...(userKey === undefined ? {} : { userKey }) };
    }),
    unknown: answers.flatMap(({ unknown }) => unknown),
  };
};

interface Part {
  readonly id: FanOutId;
  readonly group: number;
  readonly results: Results;
  /** The items that succeed even if they are stored as failed. */
  readonly correcting: ReadonlySet<number>;
}

/**
 * Splits the items of a group into acks. If an item is listed twice, its first outcome counts, or that of a later run.
 */
const partsOf = (acks: readonly ItemAck[], size: number): readonly Part[] => {
  const { fanOut: id, group } = (acks[0] as ItemAck).item;
  const results = new Map<number, boolean>();
  const correcting = new Set<number>();
  for (const { item, outcome, corrects } of acks) {
    if (corrects) correcting.add(item.index);
    if (corrects || !results.has(item.index)) results.set(item.index, outcome === 'succeeded');
  }
  const inOrder = [...results].sort(([a], [b]) => a - b);
  return Array.from({ length: Math.ceil(inOrder.length / size) }, (_, n) => ({
    id,
    group,
    correcting,
    results: new Map(inOrder.slice(n * size, (n + 1) * size)),
  }));
};

interface PartAnswer {
  readonly id: FanOutId;
  readonly completion: Completion;
  readonly unknown: readonly ItemId[];
}

const ackPart = async (deps: FanOutDeps, part: Part): Promise<PartAnswer> => {
  const { id, group, results } = part;
  const written = await writeAndCorrect(deps, part);
  const { node, beyond, corrected } = written;
  const unknown = (indexes: Iterable<number>): ItemId[] =>
    [...indexes].map((index) => itemIdOf({ fanOut: id, group, index }));
  const unknownPart: PartAnswer = {
    id,
    completion: { isUnknown: true, isComplete: false },
    unknown: unknown(results.keys()),
  };
  if (!node || beyond.length === results.size) return unknownPart;
  const completion = await completionAfter(deps, id, { level: 0, n: group }, node, written);
  if (corrected.length > 0) await afterCorrection(deps, id, group, corrected, node);
  return completion.isUnknown ? unknownPart : { id, completion, unknown: unknown(beyond) };
};

/** T11. Acks items, and then corrects those that were stored as failed although a later run has succeeded. */
const writeAndCorrect = async (
  deps: FanOutDeps,
  part: Part,
): Promise<Written & { readonly corrected: readonly number[] }> => {
  const { id, group, correcting } = part;
  const written = await write(deps, part);
  // Without the row's slots, this ack has written all of its items, so none of them was stored before.
  const slots = written.stored;
  if (correcting.size === 0 || !slots) return { ...written, corrected: [] };
  const corrected = [...correcting].filter((index) => slots[index] === true || slots[index] === false);
  const failed = corrected.filter((index) => slots[index] === false);
  const node = failed.length > 0 ? await correct(deps, id, group, failed) : written.node;
  const { node: _, ...rest } = written;
  const still = written.failed.filter((index) => !failed.includes(index));
  return { ...rest, ...(node ? { node } : {}), failed: still, corrected };
};

/** After a group was acked: notes its failures and, if the group is done, climbs. */
const completionAfter = async (
  deps: FanOutDeps,
  id: FanOutId,
  group: Position,
  node: NodeCounts & Partial<Pick<Node, 'slots'>>,
  { failed, isRepeat }: Written,
): Promise<Completion> => {
  if (failed.length > 0) {
    const noted = await noteFails(deps, id, group.n, failed);
    // No climb is needed if the fan-out does not exist or is complete.
    if (noted.isUnknown || noted.isComplete) return noted;
  }
  const slots = isNumbered(id) ? node.slots : undefined;
  const climbed: Completion = mayBeDone(node, slots)
    ? await climb(deps, id, group, node, isRepeat)
    : { isComplete: false };
  if (climbed.isUnknown || climbed.isComplete || failed.length > 0 || isNumbered(id)) return climbed;
  const judged = await failFastAfterLook(deps, id, climbed.fanOut);
  return judged?.isComplete ? judged : climbed;
};

interface Written {
  /** The group after the write. Undefined if the group has no row. */
  readonly node?: NodeCounts & Partial<Pick<Node, 'slots'>>;
  /** Whether all items were acked before, by this or another function. */
  readonly isRepeat: boolean;
  /** The items that are stored as failed by this ack or an earlier one. */
  readonly failed: readonly number[];
  /** Indexes that the group does not have. */
  readonly beyond: readonly number[];
  /** The slots of the group as a refused write showed them. */
  readonly stored?: Node['slots'];
}

/**
 * T3. Writes the items that are not acked yet. A refused write shows that another ack was faster, so after each refusal
 * fewer items are left to write.
 */
const write = async (deps: FanOutDeps, { id, group, results }: Omit<Part, 'correcting'>): Promise<Written> => {
  const { fanOuts, machine } = deps;
  const failedBefore: number[] = [];
  const beyond: number[] = [];
  let open = results;
  let shown: Pick<Written, 'stored'> = {};
  for (;;) {
    const failed = [...open].flatMap(([index, succeeded]) => (succeeded ? [] : [index]));
    const slots = { slots: open, failed: failed.length, at: machine.now() };
    const acked = await fanOuts.ack(id, { level: 0, n: group }, slots);
    if (acked.isWritten)
      return { node: acked.node, isRepeat: false, failed: [...failedBefore, ...failed], beyond, ...shown };
    const { node } = acked;
    if (!node) {
      const made = isNumbered(id) ? await putLeaf(deps, id, group, open) : 'none';
      if (made === 'none') return { isRepeat: false, failed: [], beyond };
      if (made === 'there') continue;
      return { ...made, isRepeat: false, beyond: [...beyond, ...made.beyond] };
    }
    shown = { stored: node.slots };
    for (const index of open.keys()) {
      if (node.slots[index] === undefined) beyond.push(index);
      else if (node.slots[index] === false) failedBefore.push(index);
    }
    const left = stillOpen(node, open);
    if (left.size === 0) return { node, isRepeat: true, failed: failedBefore, beyond, ...shown };
    if (left.size === open.size) throw new Error(`group ${group} of fan-out ${id} refuses items that it shows as open`);
    open = left;
  }
};

/**
 * T9. Puts the row of a numbered group together with its first ack, as for a parent node. The row has a place for each
 * possible item.
 *
 * @returns `none` if the list has no such items, `there` if another function has put the row meanwhile.
 */
const putLeaf = async (
  { fanOuts, machine }: FanOutDeps,
  id: FanOutId,
  n: number,
  results: Results,
): Promise<Pick<Written, 'node' | 'failed' | 'beyond'> | 'none' | 'there'> => {
  const { width } = fanOuts;
  const fanOut = await fanOuts.read(id);
  if (!fanOut || isGoing(fanOut, machine.now())) return 'none';
  const size = numberedSize(fanOut.total, n, width);
  const here = new Map([...results].filter(([index]) => index < size));
  if (here.size === 0) return 'none';
  const failed = [...here].flatMap(([index, succeeded]) => (succeeded ? [] : [index]));
  const slots: Slots = { slots: here, failed: failed.length, at: machine.now() };
  if (!(await fanOuts.putNode(id, { level: 0, n }, slots))) return 'there';
  const node = {
    left: width - here.size,
    failed: failed.length,
    seenAt: slots.at,
    slots: Array.from({ length: width }, (_, index) => here.get(index) ?? null),
  };
  return { node, failed, beyond: [...results.keys()].filter((index) => index >= size) };
};

const stillOpen = ({ slots }: Node, results: Results): Results =>
  new Map([...results].filter(([index]) => slots[index] === null));
