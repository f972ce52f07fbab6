/**
 * The fewest calls that could have done some tasks of one Target, had their times been known beforehand.
 *
 * Each task is in one call, at its sending or up to `maxWait` after it; a call takes `maxSize` tasks. Greedy is the best:
 * at the moment when the oldest task without a call has to go, a call goes with the `maxSize` oldest that are there.
 *
 * Why: take the calls of any other way that is allowed, and delay each until the first of its tasks has to go. That is
 * allowed, and every call is then at the end of some task's wait. The first is at `d`, that of the oldest task. As long as
 * it has room, move any task that is there at `d` into it: no call is added. If it holds `x` and not an older `y`,
 * exchange them: `y` is there at `d`; the call of `y` is no earlier than `d`, when `x` is there too, and no later than
 * the end of the wait of `y`, which is before that of `x`. So the first call may be taken to be the greedy one, and the
 * rest is the same question with fewer tasks. (It is the batching of jobs with agreeable release times and deadlines on
 * unbounded parallel machines, in time zero.)
 *
 * The bytes of a call are left out: with them it would be a matter of packing. {@link fits} says whether they matter.
 */
import type { Millis } from '../../src/domain/ids.ts';

export interface Limits {
  readonly maxSize: number;
  readonly maxWait: Millis;
}

/** @param sent when the tasks of one Target were sent, in any order */
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
