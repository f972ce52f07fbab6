/**
 * Counts a Target's batches when its operation gets a cap (`concurrency.perTarget`) while batches are under way (K3).
 *
 * Without a cap, nothing counts a Target's batches, because a count would cost a write for each batch. The lock only
 * notes when the last uncounted batch was opened. The first leader that has a cap in its configuration finds such
 * batches, and gives each unfinished one a place, before it opens another batch. It finds them in an eventually
 * consistent index, so it first waits until the index must show them.
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
 * G5, K3. Counts the batches under way if the index must show them by now. Otherwise this hands over to a guard that is
 * delayed until then. A hint leaves the count to the guard, unless the guard sleeps for longer.
 *
 * @param uncountedAt from the lock as it was read.
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
  // The leader is about to sleep, so a Target that was woken for a free slot wakes the next one.
  if (lock.blocked !== undefined) await wake(deps, operationOf(target));
  const next = { token: nextToken, seen: lock, now, until: from + LEASE, waits: true };
  const handedOver = await locks.handOver(target, mine, next);
  return handedOver || (await locks.read(target)).holder === nextToken ? 'end' : 'again';
};

/** By then the index shows a batch, even if the clocks of two functions differ. */
const UNTIL_SHOWN: Millis = CLOCK_SKEW + 5 * SECOND;

/** Each batch costs a read, so only the newest ones of a Target are read. */
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
  // A batch may have its place noted while the lock does not show it: the function that counted it died before it wrote
  // the lock.
  const isCounted = ({ id, targetPage }: Batch): boolean =>
    targetPage !== undefined && (targetPage > 0 || inFlight.includes(id));
  const uncounted = found.flatMap((batch) => (isCounted(batch) ? [] : batch.id));
  // Write the batch before the lock. A function that finishes the batch from then on gives its place back.
  const placed = await pLimit(AT_ONCE).map(uncounted, async (id) => ((await deps.batches.place(id)) ? [id] : []));
  const batches = placed.flat();
  if (batches.length > 0 && !(await deps.locks.count(target, mine, batches))) return;
  // A batch that finished in between has not given back the place that it just got.
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
