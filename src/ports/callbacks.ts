/** The ports of the callback function, beside those that other functions have, too: ways to destinations, their share, and events that come back. */

import type { LeavingEvent } from '../domain/callbacks/event.ts';
import type { Share } from '../domain/callbacks/share.ts';

/** Where the share of destinations is stored: one small row. */
export interface Shares {
  /** @param how `eventually` is cheaper, and may be behind. */
  read(how: 'eventually' | 'now'): Promise<Share>;
  /** Stores a share under the next version. False where the stored version is no longer the one that was read. */
  write(share: Share): Promise<boolean>;
}

/** A message of the callback queue that comes back. */
export interface PutOff {
  /** SQS's name for the message, and the receipt of this delivery of it. */
  readonly messageId: string;
  readonly receipt: string;
  /** In how many seconds it is delivered again: 1 to 900. */
  readonly delay: number;
}

export interface Returns {
  /**
   * Has messages come back after delays of their own. Answers those that SQS did not take: they come back after the
   * queue's visibility timeout.
   */
  putOff(messages: readonly PutOff[]): Promise<readonly PutOff[]>;
}

/**
 * Brings an event to one destination. Rejects when it did not come there, or may not have, with a reason that quotes
 * nothing of what the destination said.
 *
 * @param signal ends the call. The event may come there all the same.
 */
export type Way = (event: LeavingEvent, signal?: AbortSignal) => Promise<void>;

/** A destination did not take an event. */
export class NotTaken extends Error {
  override readonly name = 'NotTaken';
  /** Whether it would take no other event either: it does not answer, or says that it cannot serve anything now. */
  readonly isDown: boolean;
  constructor(message: string, isDown: boolean, options?: ErrorOptions) {
    super(message, options);
    this.isDown = isDown;
  }
}

/** A destination refuses an event for its size alone. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}
