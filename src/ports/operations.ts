/** The store of the state that an operation's Targets share: slots, the slot queue, pauses and the call rate. */

import type { Millis, OperationName } from '../domain/ids.ts';
import type { AnswerForm, OperationState, Pause, Slot, WaitingTarget } from '../domain/operations/slots.ts';
import type { SlotPages } from './slot-pages.ts';

/**
 * The rows that an operation's Targets share. The operation's own row is the first page of its slots. A slot is taken
 * on that page only if the operation is not paused.
 */
export interface Operations extends SlotPages<OperationName> {
  read(operation: OperationName): Promise<OperationState>;
  /**
   * Takes a slot of the first page as `takeSlot` does, but only if the operation never had slots on pages after the
   * first one.
   */
  takeOnlyPage(operation: OperationName, slot: Slot, most: number): Promise<boolean>;
  /** Stores a cap before a slot is taken on a page after the first one: {@link OperationState.largestCap}. */
  noteCap(operation: OperationName, cap: number): Promise<void>;
  /** Puts a Target or batch into the slot queue (G9a). Repeating it does no harm. */
  enqueue(operation: OperationName, waiting: WaitingTarget): Promise<void>;
  /**
   * The first waiting Targets in the order of the slot queue, at most `limit` (W1).
   *
   * @param end `last`: the Targets at the end of the queue, in reverse order. @default 'first'
   */
  waiting(operation: OperationName, limit: number, end?: 'first' | 'last'): Promise<readonly WaitingTarget[]>;
  /** Whether a Target or batch is in the slot queue. */
  isWaiting(operation: OperationName, waiting: WaitingTarget): Promise<boolean>;
  /**
   * Removes a Target or batch from the slot queue (W3). False if the Target or batch was not in the queue, or has left
   * and entered the queue again: see {@link WaitingTarget.by}.
   *
   * @param which `any`: even if it has entered the queue again. @default 'this'
   */
  dequeue(operation: OperationName, waiting: WaitingTarget, which?: 'this' | 'any'): Promise<boolean>;
  /**
   * Pauses the operation. A pause by a person replaces any stored pause; a pause by the circuit replaces no stored
   * pause.
   */
  pause(operation: OperationName, pause: Pause): Promise<boolean>;
  /** Ends the pause with this id, at `at`. False if another pause, or no pause, is stored. */
  resume(operation: OperationName, id: string, at: Millis): Promise<boolean>;
  /**
   * Adds `by` to the failed attempts in a row, and returns their number and the recoveries so far. If the client
   * repeats a request whose answer was lost, an attempt may count twice, and the circuit opens that much earlier.
   *
   * @param reason why the attempt failed. Its beginning is stored with the count, until a recovery.
   */
  addFailure(
    operation: OperationName,
    by?: number,
    reason?: string,
  ): Promise<Pick<OperationState, 'failures' | 'recoveries'>>;
  /** Stores since when the downstream throttles calls, unless such a time is stored already. */
  markThrottled(operation: OperationName, at: Millis): Promise<void>;
  /** Resets the failures and counts a recovery, after the downstream has accepted a call. */
  resetFailures(operation: OperationName): Promise<void>;
  /**
   * Stores the form of the downstream's answers. `without-results` never replaces `with-results`. False if nothing
   * changed.
   */
  noteAnswers(operation: OperationName, form: AnswerForm): Promise<boolean>;
  /**
   * Stores which invocation wakes waiting Targets, by its id, if the stored id is still `seen`. Undefined stands for no
   * invocation.
   */
  markWaking(
    operation: OperationName,
    seen: string | undefined,
    next: NonNullable<OperationState['waking']> | undefined,
  ): Promise<boolean>;
}
