/** The measures of a load, from the send times of tasks and the times of calls. */
import type { Millis } from '../../src/domain/ids.ts';
import type { ReceivedCall } from '../../test/factories/downstream.ts';
import { quantile } from '../quantile.ts';

export interface Sent {
  readonly at: Millis;
  readonly target: number;
}

export interface Measures {
  readonly lost: number;
  readonly twice: number;
  /** The time from a task's send to the arrival of its call, in ms. */
  readonly waits: { readonly p50: Millis; readonly p99: Millis; readonly longest: Millis };
  /** The longest time during which a Target had tasks and got no call, in ms. */
  readonly gap: Millis;
  /** The time from the first send to the last call, in ms. */
  readonly drained: Millis;
}

export const measure = (sentAt: ReadonlyMap<string, Sent>, calls: readonly ReceivedCall[]): Measures => {
  const arrivedAt = new Map<string, Millis>();
  let twice = 0;
  for (const { at, items } of calls)
    for (const { id } of items) {
      if (arrivedAt.has(id)) twice += 1;
      else arrivedAt.set(id, at);
    }
  const waits = [...arrivedAt].map(([id, at]) => at - (sentAt.get(id)?.at ?? at)).sort((a, b) => a - b);
  const first = Math.min(...[...sentAt.values()].map(({ at }) => at));
  return {
    lost: sentAt.size - arrivedAt.size,
    twice,
    waits: { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), longest: waits.at(-1) ?? 0 },
    gap: longestGap(sentAt, arrivedAt),
    drained: Math.max(...arrivedAt.values()) - first,
  };
};

/** The longest gap between calls of a Target. A Target has work from the send of a task until the task's call. */
const longestGap = (sentAt: ReadonlyMap<string, Sent>, arrivedAt: ReadonlyMap<string, Millis>): Millis => {
  const tasks = [...sentAt].map(([id, sent]) => ({ ...sent, called: arrivedAt.get(id) ?? Number.POSITIVE_INFINITY }));
  let longest = 0;
  for (const ofTarget of Map.groupBy(tasks, ({ target }) => target).values()) {
    const calls = [...new Set(ofTarget.map(({ called }) => called))].sort((a, b) => a - b);
    // The Target has work from the send of the oldest task that the call includes or that still waits.
    const byCall = Map.groupBy(ofTarget, ({ called }) => called);
    let oldestLater = Number.POSITIVE_INFINITY;
    for (let n = calls.length - 1; n >= 0; n -= 1) {
      const call = calls[n] as Millis;
      oldestLater = Math.min(oldestLater, ...(byCall.get(call) ?? []).map(({ at }) => at));
      longest = Math.max(longest, call - Math.max(calls[n - 1] ?? 0, oldestLater));
    }
  }
  return longest;
};
