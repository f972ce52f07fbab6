/**
 * Simulates one Target's batches under the real policy (`due`), in virtual time. Its leader is always present and never
 * late.
 */

import { due, type Waiting, waitingRow } from '../../src/domain/batches/policy.ts';
import type { BatchPolicy } from '../../src/domain/config/policies.ts';
import type { Millis, TaskId } from '../../src/domain/ids.ts';

export interface Sealed {
  readonly size: number;
  /** The wait of each task of the batch, in milliseconds. */
  readonly waits: readonly Millis[];
}

export interface Calls {
  /** The duration of a call, in milliseconds. */
  readonly takes: Millis;
  /** The most batches in flight at once. */
  readonly perTarget: number | null;
}

/** @param arrivals the times at which tasks arrive, ascending */
export const batchesOf = (
  arrivals: readonly Millis[],
  policy: BatchPolicy,
  { takes, perTarget }: Calls = { takes: 0, perTarget: null },
): readonly Sealed[] => {
  const sealed: Sealed[] = [];
  let [now, next, waiting, underWay]: [Millis, number, Waiting[], Millis[]] = [0, 0, [], []];
  while (next < arrivals.length || waiting.length > 0) {
    const isFull = perTarget !== null && underWay.length >= perTarget;
    const decision = waiting.length === 0 || isFull ? undefined : due(waiting.slice(0, policy.maxSize), policy, now);
    if (decision?.do === 'seal') {
      const taken = new Set(decision.rows);
      sealed.push({ size: taken.size, waits: decision.rows.map(({ at }) => now - at) });
      waiting = waiting.filter((row) => !taken.has(row));
      underWay.push(now + takes);
      continue;
    }
    const moments = [arrivals[next], decision?.until, isFull ? Math.min(...underWay) : undefined];
    now = Math.min(...moments.filter((moment) => moment !== undefined));
    underWay = underWay.filter((end) => end > now);
    for (; (arrivals[next] ?? Number.POSITIVE_INFINITY) <= now; next += 1)
      waiting.push(rowOf(next, arrivals[next] ?? now));
  }
  return sealed;
};

/** A payload of half a kilobyte. */
const rowOf = (n: number, createdAt: Millis): Waiting =>
  waitingRow({ id: `t${n}` as TaskId, run: 1, createdAt, bytes: 550 });
