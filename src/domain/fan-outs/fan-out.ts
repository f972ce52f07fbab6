/**
 * A fan-out: N items whose completion is reported exactly once. Pure.
 *
 *     open ──seal──▶ sealed ──the last item is done──▶ complete
 *       │              │──too many failed─────────────▶ complete
 *       │──too many failed────────────────────────────▶ complete
 *       ├──────────────┼──idle too long, or deleted────▶ expired
 *       └──────────────┴──of a deferred list────────────▶ cancelled
 *
 * - *open*: items may be added (T2) and acked (T3). Only full nodes set their parent's slot (T4).
 * - *sealed*: no more items are added. Done nodes set their parent's slot, and the top completes the fan-out (T4, T5).
 * - *complete*: acks and seals are answered with `complete`. The event is sent, and after `keep` the patrol deletes the
 *   rows (T6, T8). A user may still delete the fan-out.
 * - *expired*: requests are answered as if the fan-out did not exist. The patrol deletes the rows at once.
 * - *cancelled*: jobs of the list that were handed out may still be acked.
 *
 * Each arrow is one conditional write. It succeeds for only one caller.
 */

import type { CallbackMessage } from '../callbacks/callback.ts';
import { type FanOutId, type ItemId, isNumbered } from '../fan-out-ids.ts';
import type { Millis } from '../ids.ts';
import { MINUTE, SECOND } from '../timings.ts';
import { childCount, nodesAt, numberedSize, type Position } from './tree.ts';

/**
 * A time, in ms, that is longer than any function runs. Once this time has passed since a fan-out ended, no function
 * that read the fan-out before its end can still write.
 */
export const SETTLED: Millis = 15 * MINUTE;

/** How an item ended. The first outcome that is acked stands. */
export type ItemOutcome = 'succeeded' | 'failed';

/** The fan-out completes early if more items have failed than this count, or than this share of all items. */
export type FailFast = { readonly count: number } | { readonly share: number };

/** Largest `failFast.count`. The ids of failed items are stored in one row, so their number must be limited. */
export const TOLERATED_MAX = 100;
export const USER_KEY_MAX_BYTES = 256;

/** A fan-out as stored when it is opened. */
export interface NewFanOut {
  readonly id: FanOutId;
  readonly createdAt: Millis;
  /** A text that the user sets to recognise the fan-out. It is shown with the fan-out and in its events. */
  readonly userKey?: string;
  /** The destination for the event that reports the fan-out's end, instead of the configured one. */
  readonly callback?: string;
  readonly failFast?: FailFast;
  /** Whether an event reports the first failed item (T13). */
  readonly notifyFirstFailure?: true;
  /** The key of its items' tokens. Absent in fan-outs that a release before this one opened. */
  readonly itemKey?: string;
}

/** The status of a fan-out or list. Only lists are cancelled. A deleted one is `expired`. */
export type FanOutStatus = 'open' | 'sealed' | 'complete' | 'expired' | 'cancelled';

/** Why a fan-out ended. */
export type EndReason = 'all-done' | 'too-many-failed' | 'idle' | 'deleted' | 'cancelled';

export interface Ended {
  readonly at: Millis;
  readonly because: EndReason;
  /** How many items had failed when the fan-out ended. A lower bound if not all items were counted. */
  readonly failed: number;
  /**
   * How many items had no outcome. Absent if all items were done, or if not all items were counted. All other items had
   * succeeded.
   */
  readonly pending?: number;
}

/** A failed item as a callback reports it. */
export interface FirstFailure {
  readonly item: ItemId;
  readonly at: Millis;
}

/** An event of a fan-out besides that of its end. Each is noted once, and sent at least once. */
export type Notice = 'first-failure' | 'all-succeeded';

/** How far the patrol has come in a fan-out with too many nodes for one invocation. */
export interface Walk {
  /** Index of the node that comes next, as `positionAt` counts nodes. */
  readonly next: number;
  /** The number of groups when the walk began. With more groups, `positionAt` numbers the nodes differently. */
  readonly groups: number;
  readonly failed: number;
  /** Items without an outcome so far. Absent if a group had no row, or if a release before this one began the walk. */
  readonly left?: number;
  readonly seenAt: Millis;
}

/** A stored fan-out: the fields of its header row. */
export interface FanOut extends NewFanOut {
  readonly status: FanOutStatus;
  readonly groups: number;
  readonly total: number;
  /** When the fan-out was last opened, added to or sealed. The times of acks are stored in its nodes. */
  readonly touchedAt: Millis;
  /** Grows with each change of the fan-out's groups or status. */
  readonly version: number;
  /** The ids `group:index` of failed items. Only as many are stored as `failFast` needs. */
  readonly fails: readonly string[];
  readonly ended?: Ended;
  /** When a function last began to sum the failed items of a fan-out that tolerates many (T10). */
  readonly summedAt?: Millis;
  /**
   * Whether a redrive may have corrected items (T11). The counts of nodes above the groups may then be too high, so that
   * failed items are counted in the groups.
   */
  readonly corrected?: true;
  /** The first failed item that was noted, and when (T13). Other items may have failed before it. */
  readonly firstFailure?: FirstFailure;
  /** After the end: a group that had failed items. All groups before it have none (T12). */
  readonly failedGroup?: number;
  /** When the last failed item had been redriven, after the end (T12). */
  readonly allSucceededAt?: Millis;
  /** Events that are to be sent, besides that of the end. */
  readonly unsent?: readonly Notice[];
  /** The event that reports the fan-out's end. It is stored until it has been sent. */
  readonly event?: CallbackMessage;
  /** When the patrol checks the fan-out next. Absent after its rows are deleted. */
  readonly checkAt?: Millis;
  readonly walk?: Walk;
}

/**
 * A row of slots, one for each item or child node: empty (null), or how the item ended. The slot of a finished child is
 * true.
 */
export interface Node extends NodeCounts {
  readonly slots: readonly (boolean | null)[];
}

/** The counts of a node. */
export interface NodeCounts {
  /** Empty slots. */
  readonly left: number;
  /** Failed items in this node, or in the finished nodes below it. */
  readonly failed: number;
  /** Time of the last ack. */
  readonly seenAt: Millis;
}

/**
 * How many slots of a node must be set until the node is done, according to this header. Undefined for a group that is
 * as large as its row.
 */
export const sizeOf = ({ id, groups, total }: FanOut, position: Position, width: number): number | undefined => {
  if (position.level > 0) return childCount(position, groups, width);
  return isNumbered(id) ? numberedSize(total, position.n, width) : undefined;
};

/** The number of items of a group that are not done. In a numbered group, places without items do not count. */
export const leftIn = (fanOut: FanOut, position: Position, group: NodeCounts | undefined, width: number): number => {
  const size = sizeOf(fanOut, position, width);
  if (!group) return size ?? width;
  return size === undefined ? group.left : size - (width - group.left);
};

/** Whether all slots of a node are set that must be set until the node is done. */
export const isDone = (fanOut: FanOut, position: Position, { left }: NodeCounts, width: number): boolean =>
  left === 0 || width - left >= (sizeOf(fanOut, position, width) ?? Number.POSITIVE_INFINITY);

/**
 * Whether a group may be done, judged by its row alone. The last group of a tracker with numbered items has more slots
 * than items (T9). It may be done if its set slots come first, without a gap.
 *
 * @param slots of a group with numbered items
 */
export const mayBeDone = ({ left }: NodeCounts, slots: Node['slots'] | undefined): boolean =>
  left === 0 || (slots !== undefined && slots.indexOf(null) === slots.length - left);

/**
 * Whether the patrol deletes the fan-out's rows now, or may delete them before a function that reads the fan-out now
 * has finished writing. While the event of the end is unsent, the patrol only sends this event and keeps the rows.
 */
export const isGoing = ({ status, ended, event, checkAt = 0 }: FanOut, now: Millis): boolean =>
  status === 'expired' || (ended !== undefined && event === undefined && checkAt <= now + SETTLED);

/** Whether a fan-out is complete, as an ack or a seal reports it. */
export interface Completion {
  /** The fan-out does not exist, or no longer exists. */
  readonly isUnknown?: true;
  readonly isComplete: boolean;
  /**
   * The header, if it was read. An ack reads the header only if it needs the header to decide whether the node is done
   * or too many items have failed.
   */
  readonly fanOut?: FanOut;
}

export const completionOf = (fanOut: FanOut | undefined): Completion =>
  !fanOut || fanOut.status === 'expired'
    ? { isUnknown: true, isComplete: false }
    : { isComplete: fanOut.status === 'complete', fanOut };

/** What to do after a write to a node, given the header as read *after* that write. */
export type Next = 'over' | 'wait' | 'end' | 'climb';

/**
 * Decides what to do after a write to a node (T4). `over`: the fan-out has ended or does not exist. `end`: the only
 * node of its level is done, and no other can be added. `climb`: the node is done for good, and its slot in its parent
 * can be acked. While a fan-out is open, only full nodes are done for good.
 */
export const nextOf = (fanOut: FanOut | undefined, position: Position, node: NodeCounts, width: number): Next => {
  if (!fanOut || fanOut.ended) return 'over';
  if (!isDone(fanOut, position, node, width)) return 'wait';
  if (fanOut.status === 'open') return node.left === 0 ? 'climb' : 'wait';
  return nodesAt(fanOut.groups, position.level, width) === 1 ? 'end' : 'climb';
};

/**
 * How many failed items a fan-out tolerates. Undefined if it tolerates all, or if the share of an open fan-out is not
 * known yet.
 */
const tolerated = ({ failFast, status, total }: FanOut): number | undefined => {
  if (!failFast) return undefined;
  if ('count' in failFast) return failFast.count;
  // The tolerance is for rounding: as binary numbers, 0.29 · 100 is slightly less than 29.
  return status === 'open' ? undefined : Math.floor(failFast.share * total * (1 + 2 * Number.EPSILON));
};

/** Whether more items have failed than the fan-out tolerates (T7). */
export const isTooMany = (fanOut: FanOut, failed: number): boolean =>
  failed > (tolerated(fanOut) ?? Number.POSITIVE_INFINITY);

/** Whether the tolerated failures are too many to note one by one. They are summed over the nodes instead. */
export const sumsFailures = (fanOut: FanOut): boolean => (tolerated(fanOut) ?? 0) > TOLERATED_MAX;

/** Whether a fan-out completed with failed items, whose redrives may still let all items succeed (T12). */
export const mayAllSucceed = ({ status, ended, allSucceededAt }: FanOut): boolean =>
  status === 'complete' && ended?.because === 'all-done' && ended.failed > 0 && allSucceededAt === undefined;

/** Shortest pause between two sums of the failed items of a fan-out, while acks arrive (T10). */
const SUM_EVERY: Millis = 4 * SECOND;
/** The pause for each group. A sum may read all groups, so sums read at most a thousand groups a second. */
const SUM_PER_GROUP: Millis = 1;

/**
 * Whether the failed items are to be summed now (T10). The clock of the function that summed them last may differ.
 * @param after a time by this process's clock after which the last sum certainly began, if there is one
 */
export const isSumDue = (fanOut: FanOut, now: Millis, after?: Millis): boolean => {
  const { ended, summedAt, groups } = fanOut;
  const pause = Math.max(SUM_EVERY, groups * SUM_PER_GROUP);
  const isOver = (since: Millis | undefined): boolean => since === undefined || Math.abs(now - since) >= pause;
  return !ended && sumsFailures(fanOut) && isOver(summedAt) && isOver(after);
};

/** Whether nothing has happened for too long. Deferred lists never count as idle. @param seenAt time of the last ack */
export const isIdle = (
  { id, status, touchedAt }: FanOut,
  seenAt: Millis,
  idle: { readonly open: Millis; readonly sealed: Millis },
  now: Millis,
): boolean =>
  !isNumbered(id) && (status === 'open' || status === 'sealed') && Math.max(touchedAt, seenAt) + idle[status] < now;
