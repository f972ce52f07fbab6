/** What the Targets of an operation share: slots, the line of those that wait, pauses and the rate. */

import type { Millis, OperationName } from '../domain/ids.ts';
import type { CallLine, OperationState, Pause, Slot, WaitingTarget } from '../domain/operations/slots.ts';
import type { SlotPages } from './slot-pages.ts';

/**
 * The rows that an operation's Targets share (section 5, additions). Their first page of slots is the operation's row: there a
 * slot is taken only if the operation is not paused.
 */
export interface Operations extends SlotPages<OperationName> {
  read(operation: OperationName): Promise<OperationState>;
  /** Takes a slot of the first page as `takeSlot` does, but only if the operation never had slots on further pages. */
  takeOnlyPage(operation: OperationName, slot: Slot, most: number): Promise<boolean>;
  /** Notes, before a slot is taken on a further page, for which cap that is: {@link OperationState.largestCap}. */
  noteCap(operation: OperationName, cap: number): Promise<void>;
  /** G9a. Lets a Target, or a batch, wait for room. Again is harmless. */
  enqueue(operation: OperationName, waiting: WaitingTarget): Promise<void>;
  /** W1. The first Targets by turn, at most `limit`. */
  waiting(operation: OperationName, limit: number): Promise<readonly WaitingTarget[]>;
  /** Whether this one waits. */
  isWaiting(operation: OperationName, waiting: WaitingTarget): Promise<boolean>;
  /**
   * W3. False if it did not wait any more, or if this is a later stay of it: see {@link WaitingTarget.by}.
   *
   * @param which `any`: whichever stay it is. @default 'this'
   */
  dequeue(operation: OperationName, waiting: WaitingTarget, which?: 'this' | 'any'): Promise<boolean>;
  /** A person's pause takes the place of any other, a circuit's of none. */
  pause(operation: OperationName, pause: Pause): Promise<boolean>;
  /** Ends the pause of that id. False if another one, or none, is stored. */
  resume(operation: OperationName, id: string): Promise<boolean>;
  /**
   * Counts a failed attempt, as `by` of them. Answers how many in a row. A request that the client repeats, since its
   * answer was lost, may count twice: a circuit opens earlier by so much.
   */
  addFailure(operation: OperationName, by?: number): Promise<number>;
  /** Notes since when calls are refused since there are too many, unless that is noted already. */
  markThrottled(operation: OperationName, at: Millis): Promise<void>;
  /** The downstream takes calls. */
  resetFailures(operation: OperationName): Promise<void>;
  /** Sets who wakes many, if that is still as `seen`, by its id. Undefined: nobody does. */
  markWaking(
    operation: OperationName,
    seen: string | undefined,
    next: NonNullable<OperationState['waking']> | undefined,
  ): Promise<boolean>;
  /** Sets the line of reserved calls, if it is still as `seen`. Undefined: there is none. */
  reserveCall(operation: OperationName, seen: CallLine | undefined, next: CallLine | undefined): Promise<boolean>;
}
