/**
 * The ports of the callback function that no other function uses: calls to destinations, their shared state, and events
 * that return to their queue.
 */

import type { LeavingEvent } from '../domain/callbacks/event.ts';
import type { Share } from '../domain/callbacks/share.ts';

/** The store of the destinations' share, which is one small row. */
export interface Shares {
  /** @param how `eventually` costs less, but the returned share may be out of date. */
  read(how: 'eventually' | 'now'): Promise<Share>;
  /** Stores a share under the next version. False if the stored version is no longer the one that was read. */
  write(share: Share): Promise<boolean>;
}

/** A message of the callback queue that returns to the queue. */
export interface PutOff {
  /** The id of the message, and the receipt of this delivery. */
  readonly messageId: string;
  readonly receipt: string;
  /** After how many seconds SQS delivers it again: 0 to 900. */
  readonly delay: number;
}

export interface Returns {
  /**
   * Sets a delay for each message after which SQS delivers it again. Returns the messages whose delay SQS did not
   * accept: they return after the queue's visibility timeout.
   */
  putOff(messages: readonly PutOff[]): Promise<readonly PutOff[]>;
}

/**
 * Sends an event to one destination. Rejects if the destination did not accept the event, or if it is unknown whether
 * it did. The reason never quotes the destination's answer.
 *
 * @param signal ends the call. The event may still arrive.
 */
export type Way = (event: LeavingEvent, signal?: AbortSignal) => Promise<void>;

/** A destination did not accept an event. */
export class NotTaken extends Error {
  override readonly name = 'NotTaken';
  /**
   * Whether the destination accepts no events at all now: it does not answer, or says that it cannot serve any request.
   */
  readonly isDown: boolean;
  constructor(message: string, isDown: boolean, options?: ErrorOptions) {
    super(message, options);
    this.isDown = isDown;
  }
}

/** A destination refuses an event only because of its size. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}
