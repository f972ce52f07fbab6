/** How an event is brought to one destination, and what may go wrong on the way. */
import type { LeavingEvent } from '../domain/callbacks/event.ts';

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
