/**
 * Counts a Target's batches under way after its operation got a cap (`concurrency.perTarget`) (K3).
 *
 * Without a cap, a Target's batches are not counted, because counting would cost a write for each batch. The lock only
 * contains the time at which the last uncounted batch was opened. The first leader that has a cap in its configuration
 * finds the uncounted batches and gives each unfinished batch a place, before it opens another batch. The leader finds
 * the batches in an eventually consistent index, so it first waits until the index must contain them.
 */

import pLimit from 'p-limit';
import { type Batch, isFinished } from '../../domain/batches/batch.ts';
import type { Lock } from '../../domain/batches/lock.ts';
import type { GroupMessage } from '../../domain/batches/messages.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import { type BatchId, type Millis, operationOf, type Target } from '../../domain/ids.ts';
import { leaseOf } from '../../domain/limits/limits.ts';
import { CLOCK_SKEW, delayPast, SECOND, SOON } from '../../domain/timings.ts';
import type { Mine } from '../../ports/locks.ts';
import type { Next } from '../contention.ts';
import type { BatchDeps } from '../deps.ts';
import { wake } from '../slots/wake.ts';

/**
 * G5, K3. Counts the batches under way if enough time has passed for the index to contain them. Otherwise this hands
 * over to a guard that is delayed until then. If the message is a hint, it ends and leaves the count to the guard,
 * unless that guard is delayed for longer.
 *
 * @param uncountedAt when the last uncounted batch was opened, from the lock as it was read.
 */
export const countFirst = async (
  deps: BatchDeps,
  { target, fence, token, hint }: GroupMessage,
  lock: Lock,
  uncountedAt: Millis,
): Promise<Next> => {
  const { locks, queues, machine } = deps;
  const mine = { fence, token };
  const lease = leaseOf(operationFor(deps.config, operationOf(target)));
  const [now, from] = [machine.now(), uncountedAt + UNTIL_SHOWN];
  if (now >= from) {
    await countUnderWay(deps, target, mine, lock, uncountedAt);
    return 'again';
  }
  if (hint && lock.lockedUntil - lease <= from + SOON) return 'end';
  const nextToken = machine.token();
  await queues.group({ target, fence: fence + 1, token: nextToken }, delayPast(from, now), 'new');
  // This Target was woken for a free slot, but its next leader only starts later. So wake another Target for the slot.
  if (lock.blocked !== undefined) await wake(deps, operationOf(target));
  const next = { token: nextToken, seen: lock, now, until: from + lease, waits: true };
  const handedOver = await locks.handOver(target, mine, next);
  return handedOver || (await locks.read(target)).holder === nextToken ? 'end' : 'again';
};

/** The time after which the index contains a batch, even if the clocks of two functions differ. */
const UNTIL_SHOWN: Millis = CLOCK_SKEW + 5 * SECOND;

/** The largest number of batches to read. Each batch costs a read, so only a Target's newest batches are read. */
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
  // A batch's row may contain a place that the lock does not contain, if the function that counted the batch died
  // before it wrote the lock. Such a batch counts as uncounted.
  const isCounted = ({ id, targetPage }: Batch): boolean =>
    targetPage !== undefined && (targetPage > 0 || inFlight.includes(id));
  const uncounted = found.flatMap((batch) => (isCounted(batch) ? [] : batch.id));
  // Write the batch's row before the lock. A function that finishes the batch after this write frees its place.
  const placed = await pLimit(AT_ONCE).map(uncounted, async (id) => ((await deps.batches.place(id)) ? [id] : []));
  const batches = placed.flat();
  if (batches.length > 0 && !(await deps.locks.count(target, mine, batches))) return;
  // If a batch finished before the lock was written, its place was not freed. So free it here.
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
