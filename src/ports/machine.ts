/** The machine that a step runs on: time, chance, the invocation, and whom it tells what happened. */

import type { FlowEvent } from '../domain/events/events.ts';
import type { Millis, Token } from '../domain/ids.ts';

/** Some work took longer than it may. */
export class TimeIsUp extends Error {
  override readonly name = 'TimeIsUp';
  /** @param from the service that was asked, where it was one */
  constructor(limit: Millis, from?: string) {
    super(`no answer${from === undefined ? '' : ` from ${from}`} within ${Math.round(limit)} ms`);
  }
}

/** Time, chance and names. Steps take them from here, so that a simulation can decide them. */
export interface Machine {
  now(): Millis;
  sleep(duration: Millis): Promise<void>;
  /**
   * What some work comes to, unless it takes longer than `limit`. Nothing stops the work: it may still happen later.
   *
   * @throws TimeIsUp, or what the work throws
   */
  within<T>(limit: Millis, work: () => Promise<T>): Promise<T>;
  /** Uniform in [0, 1). */
  random(): number;
  token(): Token;
}

/** The one run of a λ that a step is part of. */
export interface Invocation {
  /** Milliseconds until the function's timeout. */
  timeLeft(): Millis;
}

/** An invocation for a message. */
export interface Delivery extends Invocation {
  /** SQS's name for the message. */
  readonly messageId: string;
  /** How often the message was delivered, this time included. More than once: an earlier run may have stopped amid it. */
  readonly deliveries: number;
}

/** Tells what happened, for logs and counts. Must not throw. */
export type Report = (event: FlowEvent) => void;
