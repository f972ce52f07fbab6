/**
 * A Target whose operation gets a cap (`concurrency.perTarget`) while batches are under way that were opened without one.
 *
 * Where there is no cap, nothing counts a Target's batches: a count would cost a write for each batch. The lock notes when the last batch was
 * opened that is not counted. The first leader that knows of the cap looks for such batches, and counts those that are not over, before it
 * opens another one. They are looked for in an index that is a moment behind, so the leader waits until it must show them.
 */

import pLimit from 'p-limit';
import { type Batch, isFinished } from '../../domain/batches/batch.ts';
import type { Lock } from '../../domain/batches/lock.ts';
import type { GroupMessage } from '../../domain/batches/messages.ts';
import { type BatchId, type Millis, operationOf, type Target } from '../../domain/ids.ts';
import { CLOCK_SKEW, delayPast, LEASE, SECOND, SOON } from '../../domain/timings.ts';
import type { Mine } from '../../ports/locks.ts';
import type { Next } from '../contention.ts';
import type { BatchDeps } from '../deps.ts';
import { wake } from '../slots/wake.ts';

/**
 * G5. Counts the batches that are under way, if they can be found already; otherwise the next guard sleeps until then. A hint leaves that
 * to the guard, unless the guard sleeps for longer.
 *
 * @param uncountedAt of the lock as it was read
 */
export const countFirst = async (
  deps: BatchDeps,
  { target, fence, token, hint }: GroupMessage,
  lock: Lock,
  uncountedAt: Millis,
): Promise<Next> => {
  const { locks, queues, machine } = deps;
  const mine = { fence, token };
  const [now, from] = [machine.now(), uncountedAt + UNTIL_SHOWN];
  if (now >= from) {
    await countUnderWay(deps, target, mine, lock, uncountedAt);
    return 'again';
  }
  if (hint && lock.lockedUntil - LEASE <= from + SOON) return 'end';
  const nextToken = machine.token();
  await queues.group({ target, fence: fence + 1, token: nextToken }, delayPast(from, now));
  // It sleeps: a Target that was woken for a free slot wakes the next one.
  if (lock.blocked !== undefined) await wake(deps, operationOf(target));
  const next = { token: nextToken, seen: lock, now, until: from + LEASE, waits: true };
  const handedOver = await locks.handOver(target, mine, next);
  return handedOver || (await locks.read(target)).holder === nextToken ? 'end' : 'again';
};

/** After so long the index shows a batch, though the clocks of two functions differ. */
const UNTIL_SHOWN: Millis = CLOCK_SKEW + 5 * SECOND;

/** Older batches of a Target are not looked for: each costs a read. */
const MOST = 1_000;
const PAGE = 100;
const AT_ONCE = 20;

const countUnderWay = async (
  deps: BatchDeps,
  target: Target,
  mine: Mine,
  { inFlight = [] }: Lock,
  uncountedAt: Millis,
): Promise<void> => {
  const found = await notOver(deps, await latestOf(deps, target));
  // One with its place in the lock that the lock does not show: whoever counted it stopped before the lock was written.
  const isCounted = ({ id, targetPage }: Batch): boolean =>
    targetPage !== undefined && (targetPage > 0 || inFlight.includes(id));
  const uncounted = found.flatMap((batch) => (isCounted(batch) ? [] : batch.id));
  // The batch first: whoever ends it looks for its place from then on.
  const placed = await pLimit(AT_ONCE).map(uncounted, async (id) => ((await deps.batches.place(id)) ? [id] : []));
  const batches = placed.flat();
  if (batches.length > 0 && !(await deps.locks.count(target, mine, batches))) return;
  // One that ended in between has not given back the place that it has now.
  const counted = [...new Set([...inFlight, ...batches])];
  const still = new Set((await notOver(deps, counted)).map(({ id }) => id));
  for (const id of counted) if (!still.has(id)) await deps.locks.releaseSlot(target, id);
  await deps.locks.counted(target, mine, uncountedAt);
};

const latestOf = async ({ batches }: BatchDeps, target: Target): Promise<readonly BatchId[]> => {
  const ids: BatchId[] = [];
  let cursor: string | undefined;
  do {
    const page = await batches.ofTarget(target, PAGE, cursor);
    ids.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined && ids.length < MOST);
  return ids;
};

const notOver = async ({ batches }: BatchDeps, ids: readonly BatchId[]): Promise<readonly Batch[]> => {
  const stored = await pLimit(AT_ONCE).map(ids, (id) => batches.get(id));
  return stored.flatMap((batch) => (batch && !isFinished(batch.status) ? batch : []));
};
