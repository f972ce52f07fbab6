/**
 * The store of fan-outs. The rules for all stores (`rows.ts`) hold here too: reads are strongly consistent unless
 * noted, and after a rejected promise a write may have happened or not.
 */

import type { CallbackMessage } from '../domain/callbacks/callback.ts';
import type { FanOutId } from '../domain/fan-out-ids.ts';
import type {
  Ended,
  FanOut,
  FirstFailure,
  NewFanOut,
  Node,
  NodeCounts,
  Notice,
  Walk,
} from '../domain/fan-outs/fan-out.ts';
import type { NodeSize, Position } from '../domain/fan-outs/tree.ts';
import type { Millis, Token } from '../domain/ids.ts';
import type { Page } from '../domain/page.ts';

/** The groups that one `add` has reserved. */
export interface Reservation {
  /** The number of the first group. */
  readonly first: number;
  /** How many items the `add` added. */
  readonly count: number;
  /** When the fan-out was opened. A token row may outlive its fan-out, whose id may then be used again. */
  readonly openedAt: Millis;
}

/** Slots to write into a node. */
export interface Slots {
  readonly slots: ReadonlyMap<number, boolean>;
  /** By how much the node's count of failed items grows. */
  readonly failed: number;
  readonly at: Millis;
}

/**
 * The result of an ack. `isWritten` is true if all of the slots were empty and this ack has written them. Otherwise
 * `node` is the stored node, if there is one. For a group with numbered items (T9), the result also contains its slots.
 */
export type Acked =
  | { readonly isWritten: true; readonly node: NodeCounts & Partial<Pick<Node, 'slots'>> }
  | { readonly isWritten: false; readonly node: Node | undefined };

/** The write that ends a fan-out. */
export interface Ending extends Ended {
  readonly status: 'complete' | 'expired' | 'cancelled';
  /** The write succeeds only if the fan-out has one of these statuses. */
  readonly from: readonly FanOut['status'][];
  /** If given, the write succeeds only if nothing has changed since this version. */
  readonly version?: number;
  readonly event?: CallbackMessage;
  readonly checkAt: Millis;
}

/** A notice, with the fields from which its event is made. */
export type Noted =
  | { readonly notice: 'first-failure'; readonly firstFailure: FirstFailure }
  | { readonly notice: 'all-succeeded'; readonly at: Millis };

export interface FanOuts extends NodeSize {
  /** Stores a fan-out if absent. Returns the stored one. @param checkAt when the patrol first checks it */
  open(fanOut: NewFanOut, checkAt: Millis): Promise<{ readonly isNew: boolean; readonly stored: FanOut }>;
  read(id: FanOutId): Promise<FanOut | undefined>;
  /**
   * The keys of items' tokens. A fan-out that does not exist is missing in the map, and one of an earlier release has no
   * key.
   */
  itemKeys(ids: readonly FanOutId[]): Promise<ReadonlyMap<FanOutId, { readonly itemKey?: string }>>;
  /** The groups that a token has reserved, if any (T2). */
  reservation(id: FanOutId, token: Token): Promise<Reservation | undefined>;
  /**
   * Reserves groups for a token that has reserved no groups of this fan-out (T2). Succeeds only if the fan-out is open
   * and has exactly `first` groups.
   */
  reserve(
    id: FanOutId,
    token: Token,
    take: Reservation & { readonly groups: number; readonly at: Millis },
  ): Promise<boolean>;
  /** Puts a row for each of these groups that has no row (T2). */
  putGroups(id: FanOutId, groups: readonly { readonly n: number; readonly size: number }[], at: Millis): Promise<void>;
  node(id: FanOutId, position: Position): Promise<Node | undefined>;
  /** The counts of nodes, in the order of `positions`. */
  counts(id: FanOutId, positions: readonly Position[]): Promise<readonly (NodeCounts | undefined)[]>;
  /** Writes slots if all of them are empty (T3). */
  ack(id: FanOutId, position: Position, slots: Slots): Promise<Acked>;
  /**
   * Changes slots of a group from failed to succeeded, if all of them are failed (T11). Otherwise returns the stored
   * node.
   */
  correct(id: FanOutId, group: number, indexes: readonly number[], at: Millis): Promise<Acked>;
  /** Notes that items of the fan-out may be corrected (T11). */
  noteCorrection(id: FanOutId): Promise<void>;
  /** Puts a node above the groups, with only `slots` set, if absent (T1). */
  putNode(id: FanOutId, position: Position, slots: Slots): Promise<boolean>;
  /** Seals the fan-out if it is open (T5). Returns the stored fan-out. */
  seal(id: FanOutId, at: Millis): Promise<FanOut | undefined>;
  /**
   * Adds failed items to the stored ones, unless more than `most` are stored already (T7). Returns the stored fan-out.
   */
  noteFails(id: FanOutId, fails: readonly string[], most: number): Promise<FanOut | undefined>;
  /** Removes failed items from the stored ones, because they have succeeded (T11). Returns the stored fan-out. */
  forgetFails(id: FanOutId, fails: readonly string[]): Promise<FanOut | undefined>;
  /** Notes a group that has failed items, if the noted group is still `seen` (T12). Only one caller gets true. */
  noteFailedGroup(id: FanOutId, seen: number | undefined, group: number): Promise<boolean>;
  /**
   * Notes a first failure of a fan-out that has not ended (T13), or that all items of a complete one have succeeded
   * (T12), if that is not noted yet. The event is then unsent, and the patrol checks the fan-out at `checkAt`. Returns
   * the stored fan-out.
   */
  note(id: FanOutId, what: Noted, checkAt: Millis): Promise<FanOut | undefined>;
  /** Notes that an event was sent. */
  noticeSent(id: FanOutId, notice: Notice): Promise<void>;
  /**
   * Notes that the caller sums the failed items now, if no other function has done so since `seen` (T10). Only one
   * caller gets true.
   */
  beginSum(id: FanOutId, seen: Millis | undefined, at: Millis): Promise<boolean>;
  /** Ends the fan-out if its status, and its version if given, allow it (T6, T7, T8). Only one caller gets true. */
  end(id: FanOutId, ending: Ending): Promise<boolean>;
  /** Deletes the event that reports the end from the fan-out's row, after the event has been sent (T6). */
  forgetEvent(id: FanOutId, checkAt: Millis): Promise<void>;
  /** Fan-outs that are due for the patrol, the one that has been due longest first (T8). Eventually consistent. */
  due(now: Millis, limit: number): Promise<readonly FanOutId[]>;
  /**
   * The fan-outs that the patrol still checks, except lists' trackers: those under way first, then those that have
   * ended and whose rows are not deleted yet, each in the order in which the patrol checks them. A page may be empty
   * although more follow. Eventually consistent.
   */
  page(limit: number, cursor?: string): Promise<Page<FanOut>>;
  /** Sets the time of the next check if the stored time is still `seen` (T8). */
  checkAgain(id: FanOutId, seen: Millis, next: { readonly checkAt: Millis; readonly walk?: Walk }): Promise<boolean>;
  /** Deletes nodes, whether they exist or not. */
  removeNodes(id: FanOutId, positions: readonly Position[]): Promise<void>;
  /** Sets the expiry of a header whose nodes are all deleted. */
  bury(id: FanOutId, expires: Millis): Promise<void>;
}
