/**
 * A fan-out: N items, of which it is to be known exactly once that the last is done (design, section 6). Pure.
 *
 *     open ──seal──▶ sealed ──the last item is done──▶ complete
 *       │              │──too many failed─────────────▶ complete
 *       │──too many failed────────────────────────────▶ complete
 *       ├──────────────┼──idle too long, or deleted────▶ expired
 *       └──────────────┴──of a deferred list────────────▶ cancelled
 *
 * Each arrow is one conditional write that one caller wins. A fan-out that has ended never changes again, but that one
 * which is complete may be deleted, too.
 */

import type { CallbackMessage } from '../callbacks/callback.ts';
import { type FanOutId, isNumbered } from '../fan-out-ids.ts';
import type { Millis } from '../ids.ts';
import { MINUTE } from '../timings.ts';
import { childCount, nodesAt, numberedSize, type Position } from './tree.ts';

/** Longer than a function runs: whoever saw a fan-out before it ended writes nothing any more. */
export const SETTLED: Millis = 15 * MINUTE;

/** How an item ended. The first outcome that is acked stands. */
export type ItemOutcome = 'succeeded' | 'failed';

/** More failed items than this number, or than this share of all items, complete a fan-out early. */
export type FailFast = { readonly count: number } | { readonly share: number };

/** The most items that `failFast` tolerates by number: whoever failed is noted in one row. */
export const TOLERATED_MAX = 100;
export const USER_KEY_MAX_BYTES = 256;

/** A fan-out as it is opened. */
export interface NewFanOut {
  readonly id: FanOutId;
  readonly createdAt: Millis;
  /** Whatever tells its opener what it is about; shown with it, and in its events. */
  readonly userKey?: string;
  /** The destination that is told of its end, instead of the configured one. */
  readonly callback?: string;
  readonly failFast?: FailFast;
}

/** Why a fan-out ended. */
export type EndReason = 'all-done' | 'too-many-failed' | 'idle' | 'deleted' | 'cancelled';

export interface Ended {
  readonly at: Millis;
  readonly because: EndReason;
  /** Items that failed by then. All others had succeeded when it ended since all were done. */
  readonly failed: number;
}

/** How far the patrol has come in a fan-out that it could not look at in one go. */
export interface Walk {
  /** The node, or the pair of level and number, with which it goes on: by `positionAt`. */
  readonly next: number;
  /** How many groups it had when the walk began: with more of them all positions are others. */
  readonly groups: number;
  readonly failed: number;
  readonly seenAt: Millis;
}

/** A fan-out as it is stored: its header. */
export interface FanOut extends NewFanOut {
  readonly status: 'open' | 'sealed' | 'complete' | 'expired' | 'cancelled';
  readonly groups: number;
  readonly total: number;
  /** When it was opened, added to or sealed last. What its items tell of is on its nodes. */
  readonly touchedAt: Millis;
  /** Counts what changes its groups or its status. */
  readonly version: number;
  /** Items that failed, as far as `failFast` wants to know: `group:index`. */
  readonly fails: readonly string[];
  readonly ended?: Ended;
  /** The event of its end, until it has been sent. */
  readonly event?: CallbackMessage;
  /** When the patrol looks at it next; none once its rows are gone. */
  readonly checkAt?: Millis;
  readonly walk?: Walk;
}

/** A row of slots, one an item or a child: empty, or how it ended. Of a child that is done: true. */
export interface Node extends NodeCounts {
  readonly slots: readonly (boolean | null)[];
}

/** What a node comes to. */
export interface NodeCounts {
  /** Slots that are empty. */
  readonly left: number;
  /** Items in it, or below it as far as they are done, that failed. */
  readonly failed: number;
  /** When something in it was acked last. */
  readonly seenAt: Millis;
}

/** How much a node is to hold, as this header gives it; undefined for a group that is as large as it was made. */
export const sizeOf = ({ id, groups, total }: FanOut, position: Position, width: number): number | undefined => {
  if (position.level > 0) return childCount(position, groups, width);
  return isNumbered(id) ? numberedSize(total, position.n, width) : undefined;
};

/** Whether all that a node is to hold is done. */
export const isDone = (fanOut: FanOut, position: Position, { left }: NodeCounts, width: number): boolean =>
  left === 0 || width - left >= (sizeOf(fanOut, position, width) ?? Number.POSITIVE_INFINITY);

/**
 * Whether a group may be done, as far as it shows by itself. T9: one that is numbered has more slots than items while
 * it is the last, of which those in front are set then.
 *
 * @param slots the group's, of one that is numbered
 */
export const mayBeDone = ({ left }: NodeCounts, slots: Node['slots'] | undefined): boolean =>
  left === 0 || (slots !== undefined && slots.indexOf(null) === slots.length - left);

/**
 * Whether its rows go, or will before somebody who sees it now has written his last one. While its event is to be sent
 * it is due for that, and stays.
 */
export const isGoing = ({ status, ended, event, checkAt = 0 }: FanOut, now: Millis): boolean =>
  status === 'expired' || (ended !== undefined && event === undefined && checkAt <= now + SETTLED);

/** How a fan-out stands, for whoever acks or seals. */
export interface Completion {
  /** Nobody knows it (any more). */
  readonly isUnknown?: true;
  readonly isComplete: boolean;
  /** Where it was read, which it is only when there is something to decide. */
  readonly fanOut?: FanOut;
}

export const completionOf = (fanOut: FanOut | undefined): Completion =>
  !fanOut || fanOut.status === 'expired'
    ? { isUnknown: true, isComplete: false }
    : { isComplete: fanOut.status === 'complete', fanOut };

/** What follows from a node, given the header as it is *after* the node was written. */
export type Next = 'over' | 'wait' | 'end' | 'climb';

/**
 * T4. `over`: the fan-out has ended, or nobody knows it. `end`: the one node of its level is done and nothing can come
 * beside it. `climb`: its slot in its parent can be acked, for good. While a fan-out is open only full nodes are done
 * for good.
 */
export const nextOf = (fanOut: FanOut | undefined, position: Position, node: NodeCounts, width: number): Next => {
  if (!fanOut || fanOut.ended) return 'over';
  if (!isDone(fanOut, position, node, width)) return 'wait';
  if (fanOut.status === 'open') return node.left === 0 ? 'climb' : 'wait';
  return nodesAt(fanOut.groups, position.level, width) === 1 ? 'end' : 'climb';
};

/** How many failed items a fan-out tolerates; undefined where it tolerates all, or does not know yet how many a share is. */
const tolerated = ({ failFast, status, total }: FanOut): number | undefined => {
  if (!failFast) return undefined;
  if ('count' in failFast) return failFast.count;
  // 0.29 of 100 comes to a little less than 29 in binary.
  return status === 'open' ? undefined : Math.floor(failFast.share * total * (1 + 2 * Number.EPSILON));
};

/** T7. Whether so many failed items are more than are tolerated. */
export const isTooMany = (fanOut: FanOut, failed: number): boolean =>
  failed > (tolerated(fanOut) ?? Number.POSITIVE_INFINITY);

/** Whether failed items are too many to be noted one by one, and are summed over the nodes instead. */
export const sumsFailures = (fanOut: FanOut): boolean => (tolerated(fanOut) ?? 0) > TOLERATED_MAX;

/**
 * Whether nothing has happened for too long; to a deferred list nothing has to. @param seenAt when something was acked
 * last
 */
export const isIdle = (
  { id, status, touchedAt }: FanOut,
  seenAt: Millis,
  idle: { readonly open: Millis; readonly sealed: Millis },
  now: Millis,
): boolean =>
  !isNumbered(id) && (status === 'open' || status === 'sealed') && Math.max(touchedAt, seenAt) + idle[status] < now;
