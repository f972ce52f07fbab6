/**
 * What the steps of fan-outs need of the world, in the domain's words. As with `rows.ts`: all reads are strongly
 * consistent unless they say otherwise, and a promise that rejects leaves open whether the write happened.
 */

import type { CallbackMessage } from '../domain/callbacks/callback.ts';
import type { FanOutId } from '../domain/fan-out-ids.ts';
import type { Ended, FanOut, NewFanOut, Node, NodeCounts, Walk } from '../domain/fan-outs/fan-out.ts';
import type { NodeSize, Position } from '../domain/fan-outs/tree.ts';
import type { Millis, Token } from '../domain/ids.ts';
import type { Page } from '../domain/page.ts';

/** What one `add` took. */
export interface Reservation {
  /** The number of its first group. */
  readonly first: number;
  /** How many items it added. */
  readonly count: number;
  /** When the fan-out was opened: what a token took may be known for longer than a fan-out, whose id may be taken again. */
  readonly openedAt: Millis;
}

/** What to write into a node. */
export interface Slots {
  readonly slots: ReadonlyMap<number, boolean>;
  /** By how many failed items it becomes more. */
  readonly failed: number;
  readonly at: Millis;
}

/**
 * Whether the slots were empty, all of them, and are written now; otherwise the node as it is, if there is one. T9: of
 * a group that is numbered its slots come, too.
 */
export type Acked =
  | { readonly isWritten: true; readonly node: NodeCounts & Partial<Pick<Node, 'slots'>> }
  | { readonly isWritten: false; readonly node: Node | undefined };

/** The one change that ends a fan-out. */
export interface Ending extends Ended {
  readonly status: 'complete' | 'expired' | 'cancelled';
  /** The statuses that it may end from. */
  readonly from: readonly FanOut['status'][];
  /** If given: only if nothing changed since. */
  readonly version?: number;
  readonly event?: CallbackMessage;
  readonly checkAt: Millis;
}

export interface FanOuts extends NodeSize {
  /** Stores a fan-out if absent. Answers the stored one. @param checkAt when the patrol looks at it first */
  open(fanOut: NewFanOut, checkAt: Millis): Promise<{ readonly isNew: boolean; readonly stored: FanOut }>;
  read(id: FanOutId): Promise<FanOut | undefined>;
  /** T2. What the token took, if it did. */
  reservation(id: FanOutId, token: Token): Promise<Reservation | undefined>;
  /** T2. Takes groups for a token that has taken none of this fan-out, if it is open and has as many groups as `first`. */
  reserve(
    id: FanOutId,
    token: Token,
    take: Reservation & { readonly groups: number; readonly at: Millis },
  ): Promise<boolean>;
  /** T2. Puts the row of each group that has none. */
  putGroups(id: FanOutId, groups: readonly { readonly n: number; readonly size: number }[], at: Millis): Promise<void>;
  node(id: FanOutId, position: Position): Promise<Node | undefined>;
  /** What nodes come to, in the order asked. */
  counts(id: FanOutId, positions: readonly Position[]): Promise<readonly (NodeCounts | undefined)[]>;
  /** T3. Writes slots if every one of them is empty. */
  ack(id: FanOutId, position: Position, slots: Slots): Promise<Acked>;
  /** T1. Puts a node that has children, with nothing but `slots` in it, if absent. */
  putNode(id: FanOutId, position: Position, slots: Slots): Promise<boolean>;
  /** T5. Seals it if it is open. Answers it as it is then. */
  seal(id: FanOutId, at: Millis): Promise<FanOut | undefined>;
  /** T7. Notes failed items while there are at most `most`. Answers it as it is then. */
  noteFails(id: FanOutId, fails: readonly string[], most: number): Promise<FanOut | undefined>;
  /** T6, T7, T8. */
  end(id: FanOutId, ending: Ending): Promise<boolean>;
  /** T6. The event has been sent. */
  forgetEvent(id: FanOutId, checkAt: Millis): Promise<void>;
  /** T8. Those that are due to be looked at, the longest due first. Eventually consistent. */
  due(now: Millis, limit: number): Promise<readonly FanOutId[]>;
  /**
   * Those that the patrol looks after, but lists' trackers: under way, or ended and not cleared away yet. In the order in which
   * it comes to them: those under way first. A page may be empty amid others. Eventually consistent.
   */
  page(limit: number, cursor?: string): Promise<Page<FanOut>>;
  /** T8. When to look next, if it is still due as it was `seen`. */
  checkAgain(id: FanOutId, seen: Millis, next: { readonly checkAt: Millis; readonly walk?: Walk }): Promise<boolean>;
  /** Deletes nodes, there or not. */
  removeNodes(id: FanOutId, positions: readonly Position[]): Promise<void>;
  /** All of its nodes are gone: it may go itself at `expires`. */
  bury(id: FanOutId, expires: Millis): Promise<void>;
}
