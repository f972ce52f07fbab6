/**
 * Finish an open batch: form it, claim its tasks, seal it, hand it on, tidy up (rules F1 to F6).
 *
 * By anyone, any number of times, also at once: every part is either conditional or harmless when repeated. The batch
 * is stored before any task shows it, and the lock forgets it only after that, so that a crash anywhere leaves
 * something that names what is left to do.
 */

import { type Batch, membersOf } from '../../domain/batches/batch.ts';
import { due, type SealReason, type Waiting } from '../../domain/batches/policy.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import { type BatchId, type Candidate, operationOf, parseCandidate, type Target } from '../../domain/ids.ts';
import type { TaskDeps } from '../deps.ts';
import { settleAgain, settlementsOf } from '../tasks/settle.ts';

/** What the leader that opened the batch has in hand; whoever finishes it for him does without. */
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
  // F4 before F5: the message is what makes the batch go on, the waiting rows are only in the way.
  if (membersOf(sealed).length > 0 || holdsSlots(deps, sealed))
    await deps.queues.batch({ kind: 'due', batchId: id }, 0);
  await settleDropped(deps, sealed);
  await deps.waiting.remove(target, await entriesOf(deps, sealed, inHand));
  // A batch without a place in its Target is not counted; the index that finds it does so from its seal on.
  await deps.locks.closeBatch(target, id, sealed.targetPage === undefined ? deps.machine.now() : undefined);
};

/** Whether it has to be handled even if nobody is in it: what it holds is given back then (H7). */
const holdsSlots = ({ config }: TaskDeps, { operation, targetPage }: Batch): boolean => {
  const { perTarget, total } = operationFor(config, operation).concurrency;
  return perTarget !== null || total !== null || targetPage !== undefined;
};

/** F5. Candidates that ended while they waited go with this batch's rows: whoever deletes such a row tells first. */
const settleDropped = async (deps: TaskDeps, { dropped }: Batch): Promise<void> => {
  if (dropped.length > 0) await settleAgain(deps, await deps.tasks.all(dropped.map((each) => parseCandidate(each).id)));
};

/** F1. The stored candidates decide, whoever wrote them. */
const form = async (deps: TaskDeps, target: Target, id: BatchId, inHand?: InHand): Promise<Batch> => {
  const stored = inHand ? undefined : await deps.batches.get(id);
  if (stored) return stored;
  const { rows, because, slotPage, targetPage }: InHand = inHand ?? (await takeRows(deps, target, id));
  const now = deps.machine.now();
  return deps.batches.form({
    id,
    target,
    sealedBy: because,
    // A row that was left behind by an earlier task of the same id must not double it.
    candidates: [...new Set(rows.map(({ candidate }) => candidate))],
    oldestAt: rows.reduce((least, { at }) => Math.min(least, at), now),
    createdAt: now,
    ...(slotPage ? { slotPage } : {}),
    ...(targetPage === undefined ? {} : { targetPage }),
  });
};

/** What a batch gets whose leader was gone before he stored it: nothing, if all that waits has ended but for being told. */
const takeRows = async (
  { config, waiting, locks, machine }: TaskDeps,
  target: Target,
  id: BatchId,
): Promise<InHand> => {
  const policy = operationFor(config, operationOf(target)).batch;
  const inTurn = await waiting.first(target, policy.maxSize);
  // What expired, or has a newer one of its key, is left to the next leader, who settles it (G2).
  const ended = new Set(settlementsOf(inTurn, machine.now()).map(({ row }) => row));
  const rows = inTurn.filter((row) => !ended.has(row));
  // Two guards of one living leader meet here too: the second must not take for old what was flushed.
  const { flushedAt, inFlight = [], largestCap } = await locks.read(target);
  const next = rows.length > 0 ? due(rows, policy, machine.now(), flushedAt) : undefined;
  // Only the leader that opened the batch knew its page. The end of the batch looks for it, also if there is no cap by then.
  const place = inFlight.includes(id) ? { targetPage: 0 } : largestCap === undefined ? {} : { targetPage: 1 };
  return { rows, because: 'waited', ...(next?.do === 'seal' ? next : {}), ...place };
};

/** F2, F3. */
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
 * F5. The candidates' waiting rows. Who finishes somebody else's batch looks for them at the head of the Target, where
 * they were; one that is overlooked will be a dropped candidate of a later batch, and is deleted with that.
 */
const entriesOf = async (deps: TaskDeps, batch: Batch, inHand?: InHand): Promise<readonly string[]> => {
  const candidates = new Set<Candidate>(batch.candidates);
  const { maxSize } = operationFor(deps.config, batch.operation).batch;
  const rows = inHand?.rows ?? (await deps.waiting.first(batch.target, candidates.size + maxSize));
  return rows.filter(({ candidate }) => candidates.has(candidate)).map(({ entry }) => entry);
};
