/**
 * The ports that connect a step with its machine: time, randomness, the invocation, and the report of events. A
 * simulation replaces all of it, so that a schedule depends only on its seed.
 */

import { setTimeout } from 'node:timers/promises';
import type { FlowEvent } from '../domain/events/events.ts';
import type { Millis, Token } from '../domain/ids.ts';

/** Some work took longer than its limit. */
export class TimeIsUp extends Error {
  override readonly name = 'TimeIsUp';
  /** @param from the service that was called, if any */
  constructor(limit: Millis, from?: string) {
    super(`no answer${from === undefined ? '' : ` from ${from}`} within ${Math.round(limit)} ms`);
  }
}

/** Time, randomness and tokens. Steps take them from here, so that a simulation can determine them. */
export interface Machine {
  now(): Millis;
  sleep(duration: Millis): Promise<void>;
  /**
   * The result of some work, unless it takes longer than `limit`. The work is not stopped: it may still finish later.
   *
   * @throws TimeIsUp, or the error of the work
   */
  within<T>(limit: Millis, work: () => Promise<T>): Promise<T>;
  /** Uniform in [0, 1). */
  random(): number;
  token(): Token;
}

/** The function invocation that a step runs in. */
export interface Invocation {
  /** Milliseconds until the function's timeout. */
  timeLeft(): Millis;
}

/** The invocation for one message. */
export interface Delivery extends Invocation {
  /** SQS's id of the message. */
  readonly messageId: string;
  /**
   * How often the message was delivered, including this time. If more than once, an earlier invocation may have stopped
   * half-way.
   */
  readonly deliveries: number;
}

/** Reports an event, for logs and metrics. Must not throw. */
export type Report = (event: FlowEvent) => void;

/**
 * The result of some work, unless it takes longer than `limit`.
 *
 * @param work gets a signal that is aborted when its time is up. Work that ignores the signal continues, and its result
 *   is ignored
 * @param from the service that is called, for the error
 * @throws TimeIsUp, or the error of the work
 */
export const within = async <T>(limit: Millis, work: (over: AbortSignal) => Promise<T>, from?: string): Promise<T> => {
  const settled = new AbortController();
  const over = new AbortController();
  const late = setTimeout(Math.max(0, limit), undefined, { signal: settled.signal }).then(() => {
    throw new TimeIsUp(limit, from);
  });
  const working = work(over.signal);
  // The promise that settles second is not awaited: ignore its rejection.
  for (const each of [late, working]) each.catch(() => {});
  try {
    return await Promise.race([working, late]);
  } catch (cause) {
    // Abort only after the race. Before it, the work's own error would win the race.
    over.abort();
    throw cause;
  } finally {
    settled.abort();
  }
};
