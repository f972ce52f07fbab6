/**
 * Finish an open batch: form it, claim its tasks, seal it, send its message, delete the waiting rows, close it (F1 to
 * F6).
 *
 * Any function may do this, any number of times and at once: each part is conditional or harmless when repeated. The
 * batch is stored before a task shows its id, and the lock drops it last. So after a crash, a row or message always
 * names the work that is left.
 */

import { type Batch, membersOf } from '../../domain/batches/batch.ts';
import { due, type SealReason, type Waiting } from '../../domain/batches/policy.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import { type BatchId, type Candidate, operationOf, parseCandidate, type Target } from '../../domain/ids.ts';
import type { TaskDeps } from '../deps.ts';
import { settleAgain, settlementsOf } from '../tasks/settle.ts';

/** What the leader that opened the batch has in memory. Any other function finishes the batch without it. */
export interface InHand {
  readonly rows: readonly Waiting[];
  readonly because: SealReason;
  /** See {@link Batch.slotPage}, {@link Batch.targetPage}. */
  readonly slotPage?: number | undefined;
  readonly targetPage?: number | undefined;
}

export const finishBatch = async (deps: TaskDeps, target: Target, id: BatchId, inHand?: InHand): Promise<void> => {
  const formed = await form(deps, target, id, inHand);
  const sealed = formed.status === 'forming' ? await seal(deps, formed) : formed;
  // F4 before F5: the message drives the batch. The waiting rows only show the next function what is left.
  if (membersOf(sealed).length > 0 || holdsSlots(deps, sealed))
    await deps.queues.batch({ kind: 'due', batchId: id }, 0);
  await settleDropped(deps, sealed);
  await deps.waiting.remove(target, await entriesOf(deps, sealed, inHand));
  // A batch without a place in its Target is not counted. The index shows it from its seal on (K3).
  await deps.locks.closeBatch(target, id, sealed.targetPage === undefined ? deps.machine.now() : undefined);
};

/**
 * Whether the batch may hold slots. It is then handled even if it has no members, because its end gives the slots back
 * (H7).
 */
const holdsSlots = ({ config }: TaskDeps, { operation, targetPage }: Batch): boolean => {
  const { perTarget, total } = operationFor(config, operation).concurrency;
  return perTarget !== null || total !== null || targetPage !== undefined;
};

/**
 * F5. Settles candidates that ended while they waited. Their waiting rows are deleted next, and the notifications of an
 * ended task are sent before its row is deleted.
 */
const settleDropped = async (deps: TaskDeps, { dropped }: Batch): Promise<void> => {
  if (dropped.length > 0) await settleAgain(deps, await deps.tasks.all(dropped.map((each) => parseCandidate(each).id)));
};

/** F1. Stores the batch. If it is stored already, the stored candidates decide. */
const form = async (deps: TaskDeps, target: Target, id: BatchId, inHand?: InHand): Promise<Batch> => {
  const stored = inHand ? undefined : await deps.batches.get(id);
  if (stored) return stored;
  const { rows, because, slotPage, targetPage }: InHand = inHand ?? (await takeRows(deps, target, id));
  const now = deps.machine.now();
  return deps.batches.form({
    id,
    target,
    sealedBy: because,
    // An earlier task with the same id may have left a row behind. It must not add the task twice.
    candidates: [...new Set(rows.map(({ candidate }) => candidate))],
    oldestAt: rows.reduce((least, { at }) => Math.min(least, at), now),
    createdAt: now,
    ...(slotPage ? { slotPage } : {}),
    ...(targetPage === undefined ? {} : { targetPage }),
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
  // Two guards of one living leader meet here too, so a flush has to be taken into account.
  const { flushedAt, inFlight = [], largestCap } = await locks.read(target);
  const next = rows.length > 0 ? due(rows, policy, machine.now(), flushedAt) : undefined;
  // Only the leader that opened the batch knows the page of its place. When the batch ends, its place is found by a
  // search of the pages, even if the cap is gone by then.
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
 * F5. Returns the keys of the candidates' waiting rows. A function that did not open the batch reads them at the head
 * of the Target. A row that it overlooks becomes a dropped candidate of a later batch and is deleted with that.
 */
const entriesOf = async (deps: TaskDeps, batch: Batch, inHand?: InHand): Promise<readonly string[]> => {
  const candidates = new Set<Candidate>(batch.candidates);
  const { maxSize } = operationFor(deps.config, batch.operation).batch;
  const rows = inHand?.rows ?? (await deps.waiting.first(batch.target, candidates.size + maxSize));
  return rows.filter(({ candidate }) => candidates.has(candidate)).map(({ entry }) => entry);
};
