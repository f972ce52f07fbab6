/**
 * The fewest calls that could have processed the tasks of one Target if their times had been known in advance.
 *
 * Each task is in one call, between its send and `maxWait` later; a call takes `maxSize` tasks. The greedy schedule is
 * optimal: when the oldest task without a call has waited `maxWait`, make a call with the `maxSize` oldest waiting
 * tasks.
 *
 * Proof: take the calls of any other valid schedule, and delay each until the first of its tasks has waited `maxWait`.
 * The schedule stays valid, and every call is then at the end of some task's wait. The first call is at `d`, the end of
 * the oldest task's wait. While it has capacity, move any task that waits at `d` into it; this adds no call. If it
 * holds `x` and not an older task `y`, exchange them. `y` waits at `d`. The call of `y` is no earlier than `d`, when
 * `x` waits too, and no later than the end of the wait of `y`, which is before that of `x`. So the first call can be
 * the greedy one, and the rest is the same problem with fewer tasks. (It is the batching of jobs with agreeable release
 * times and deadlines on unbounded parallel machines with processing time zero.)
 *
 * The bytes of a call are ignored: they would make this a packing problem. {@link fits} says whether they matter.
 */
import type { Millis } from '../../src/domain/ids.ts';

export interface Limits {
  readonly maxSize: number;
  readonly maxWait: Millis;
}

/** @param sent the times at which the tasks of one Target were sent, in any order */
export const leastCalls = (sent: readonly Millis[], { maxSize, maxWait }: Limits): number => {
  const times = sent.toSorted((a, b) => a - b);
  let calls = 0;
  for (let next = 0; next < times.length; calls += 1) {
    const mustGo = (times[next] as Millis) + maxWait;
    const first = next;
    while (next < times.length && next - first < maxSize && (times[next] as Millis) <= mustGo) next += 1;
  }
  return calls;
};

/** Whether any `maxSize` of these tasks fit into a call by their bytes. */
export const fits = (bytes: readonly number[], { maxSize, maxBytes }: { maxSize: number; maxBytes: number }): boolean =>
  bytes
    .toSorted((a, b) => b - a)
    .slice(0, maxSize)
    .reduce((sum, each) => sum + each, 0) <= maxBytes;
