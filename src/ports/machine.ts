/** The machine that a step runs on: time, chance, the invocation, and whom it tells what happened. */

import { setTimeout } from 'node:timers/promises';
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

/**
 * What some work comes to, unless it takes longer than `limit`.
 *
 * @param work gets a signal that is aborted when its time is up; work that ignores the signal goes on, and nothing waits for it
 * @param from the service that is asked, for the error
 * @throws TimeIsUp, or what the work throws
 */
export const within = async <T>(limit: Millis, work: (over: AbortSignal) => Promise<T>, from?: string): Promise<T> => {
  const settled = new AbortController();
  const over = new AbortController();
  const late = setTimeout(Math.max(0, limit), undefined, { signal: settled.signal }).then(() => {
    throw new TimeIsUp(limit, from);
  });
  const working = work(over.signal);
  // Nothing waits for the one that settles second.
  for (const each of [late, working]) each.catch(() => {});
  try {
    return await Promise.race([working, late]);
  } catch (cause) {
    // After the race, which the work would otherwise end with an error of its own.
    over.abort();
    throw cause;
  } finally {
    settled.abort();
  }
};
