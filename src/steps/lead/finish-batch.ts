/**
 * Finish an open batch: form it, claim its tasks, seal it, send its message, delete the waiting rows, close it (F1 to
 * F6).
 *
 * Any number of functions may do this for the same batch, even at once, because each step is conditional or harmless
 * when repeated. The batch is stored before a task refers to it, and it is removed from the lock last. So after a
 * crash, there is always a row or a message that refers to the work that is left.
 */

import { type Batch, membersOf } from '../../domain/batches/batch.ts';
import { due, type SealReason, type Waiting } from '../../domain/batches/policy.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import { type BatchId, type Candidate, operationOf, parseCandidate, type Target } from '../../domain/ids.ts';
import type { Grant } from '../../domain/limits/bucket.ts';
import type { TaskDeps } from '../deps.ts';
import { settleAgain, settlementsOf } from '../tasks/settle.ts';

/**
 * What the leader that opened the batch has in memory. Any other function must finish the batch without these values.
 */
export interface InHand {
  readonly rows: readonly Waiting[];
  readonly because: SealReason;
  /** See {@link Batch.slotPage}, {@link Batch.targetPage}. */
  readonly slotPage?: number | undefined;
  readonly targetPage?: number | undefined;
  /** See {@link Batch.grants}. */
  readonly grants?: readonly Grant[];
}

export const finishBatch = async (deps: TaskDeps, target: Target, id: BatchId, inHand?: InHand): Promise<void> => {
  const formed = await form(deps, target, id, inHand);
  const sealed = formed.status === 'forming' ? await seal(deps, formed) : formed;
  // Send the batch's message (F4), which drives the batch, before the waiting rows are deleted (F5). If this function
  // dies in between, the next function finds the rows and deletes them.
  if (membersOf(sealed).length > 0 || holdsSlots(deps, sealed))
    await deps.queues.batch({ kind: 'due', batchId: id }, 0);
  await settleDropped(deps, sealed);
  await deps.waiting.remove(target, await entriesOf(deps, sealed, inHand));
  // A batch without a place in its Target is not counted. Its seal put it into the index, so note the time in the lock
  // (K3).
  await deps.locks.closeBatch(target, id, sealed.targetPage === undefined ? deps.machine.now() : undefined);
};

/**
 * Whether the batch may hold slots. If it may, it is handled even without members, because its slots are freed at its
 * end (H7).
 */
const holdsSlots = ({ config }: TaskDeps, { operation, targetPage }: Batch): boolean => {
  const { perTarget, total } = operationFor(config, operation).concurrency;
  return perTarget !== null || total !== null || targetPage !== undefined;
};

/**
 * F5. Settles candidates that ended while they waited. This must be done before their waiting rows are deleted, because
 * the notifications of an ended task are sent before its row is deleted.
 */
const settleDropped = async (deps: TaskDeps, { dropped }: Batch): Promise<void> => {
  if (dropped.length > 0) await settleAgain(deps, await deps.tasks.all(dropped.map((each) => parseCandidate(each).id)));
};

/** F1. Stores the batch and returns it. If the batch is stored already, its stored candidates apply. */
const form = async (deps: TaskDeps, target: Target, id: BatchId, inHand?: InHand): Promise<Batch> => {
  const stored = inHand ? undefined : await deps.batches.get(id);
  if (stored) return stored;
  const { rows, because, slotPage, targetPage, grants = [] }: InHand = inHand ?? (await takeRows(deps, target, id));
  const now = deps.machine.now();
  return deps.batches.form({
    id,
    target,
    sealedBy: because,
    // Remove duplicates: an earlier task with the same id may have left a waiting row, which must not add the task
    // twice.
    candidates: [...new Set(rows.map(({ candidate }) => candidate))],
    oldestAt: rows.reduce((least, { at }) => Math.min(least, at), now),
    createdAt: now,
    ...(slotPage ? { slotPage } : {}),
    ...(targetPage === undefined ? {} : { targetPage }),
    ...(grants.length > 0 ? { grants } : {}),
  });
};

/**
 * The rows for a batch whose leader died before it stored the batch. Empty if every waiting row belongs to a task that
 * has ended.
 */
const takeRows = async (
  { config, waiting, locks, machine }: TaskDeps,
  target: Target,
  id: BatchId,
): Promise<InHand> => {
  const policy = operationFor(config, operationOf(target)).batch;
  const inTurn = await waiting.first(target, policy.maxSize);
  // Leave out tasks that have expired or were replaced by a newer one. The next leader settles them (G2).
  const ended = new Set(settlementsOf(inTurn, machine.now()).map(({ row }) => row));
  const rows = inTurn.filter((row) => !ended.has(row));
  // Take a flush into account, because the leader may not have died: two deliveries of its guard may reach this point.
  const { flushedAt, inFlight = [], largestCap } = await locks.read(target);
  const next = rows.length > 0 ? due(rows, policy, machine.now(), flushedAt) : undefined;
  // Only the leader that opened the batch knows the page of its place. Page 1 stands for any page: when the batch ends,
  // all pages are searched for its place, even if the operation has no cap by then.
  const place = inFlight.includes(id) ? { targetPage: 0 } : largestCap === undefined ? {} : { targetPage: 1 };
  return { rows, because: 'waited', ...(next?.do === 'seal' ? next : {}), ...place };
};

/** F2, F3. Claims the candidates and seals the batch. */
const seal = async (deps: TaskDeps, formed: Batch): Promise<Batch> => {
  const claimed = await deps.tasks.claim(formed.candidates, formed.id);
  const { batch: policy, keepTasks } = operationFor(deps.config, formed.operation);
  const dropped = formed.candidates.filter((_, index) => !claimed[index]);
  const now = deps.machine.now();
  const { batch: sealed, byMe } = await deps.batches.seal(formed, dropped, now, keepTasks);
  if (!byMe) return sealed;
  const size = membersOf(sealed).length;
  deps.report({
    event: 'sealed',
    batchId: sealed.id,
    operation: sealed.operation,
    target: sealed.target,
    because: sealed.sealedBy,
    size,
    fill: size / policy.maxSize,
    waited: (sealed.sealedAt ?? now) - sealed.oldestAt,
  });
  return sealed;
};

/**
 * F5. Returns the keys of the candidates' waiting rows. A function that did not open the batch reads the first waiting
 * rows of the Target. A row that it overlooks becomes a dropped candidate of a later batch and is deleted with that
 * batch.
 */
const entriesOf = async (deps: TaskDeps, batch: Batch, inHand?: InHand): Promise<readonly string[]> => {
  const candidates = new Set<Candidate>(batch.candidates);
  const { maxSize } = operationFor(deps.config, batch.operation).batch;
  const rows = inHand?.rows ?? (await deps.waiting.first(batch.target, candidates.size + maxSize));
  return rows.filter(({ candidate }) => candidates.has(candidate)).map(({ entry }) => entry);
};
