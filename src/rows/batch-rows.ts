/** The Batch table's rows (design, section 4). */
import type { Batch, BatchStatus, Counts, LastAttempt, Noted, Pending } from '../domain/batches/batch.ts';
import type { SealReason } from '../domain/batches/policy.ts';
import {
  type BatchId,
  type Candidate,
  type OperationName,
  operationOf,
  type Target,
  type TaskId,
  type Token,
} from '../domain/ids.ts';
import type { FormingBatch } from '../ports/batches.ts';
import type { Item } from './item.ts';
import { readable, versionOf } from './row-version.ts';

export const batchKey = (id: BatchId): Item => ({ BatchId: id });

export const newBatchRow = (batch: FormingBatch): Item => ({
  ...batchKey(batch.id),
  Target: batch.target,
  Operation: operationOf(batch.target),
  Status: 'forming',
  SealedBy: batch.sealedBy,
  Candidates: [...batch.candidates],
  Attempt: 0,
  Tries: 0,
  RunUntil: 0,
  OldestAt: batch.oldestAt,
  CreatedAt: batch.createdAt,
  ...(batch.slotPage ? { SlotPage: batch.slotPage } : {}),
  ...(batch.targetPage === undefined ? {} : { TargetPage: batch.targetPage }),
  Version: versionOf('batch'),
});

export const pendingItem = ({ ids, until }: Pending): Item => ({ Ids: [...ids], Until: until });
const pendingOf = ({ Ids, Until }: Item): Pending => ({ ids: Ids as TaskId[], until: Until as number });

/** Kept when the batch has ended: a row that was as large once is written at no other price. */
export const lastAttemptItem = ({ endedAt, reason, quote }: LastAttempt): Item => ({
  EndedAt: endedAt,
  Reason: reason,
  ...(quote === undefined ? {} : { Quote: quote }),
});
const lastAttemptOf = ({ EndedAt, Reason, Quote }: Item): LastAttempt => ({
  endedAt: EndedAt as number,
  reason: Reason as string,
  ...(Quote === undefined ? {} : { quote: Quote as string }),
});

const heldOf = ({ HeldBy, HeldSpan, HeldUncounted = false }: Item): Noted => ({
  by: HeldBy as Token,
  span: HeldSpan as number,
  isUncounted: HeldUncounted as boolean,
});

export const countsItem = ({ succeeded, failed }: Counts): Item => ({ Succeeded: succeeded, Failed: failed });

/** @throws NewerRow */
export const batchOf = (stored: Item): Batch => {
  const row = readable('batch', stored);
  const counts = row.Counts as { Succeeded: number; Failed: number } | undefined;
  return {
    id: row.BatchId as BatchId,
    target: row.Target as Target,
    operation: row.Operation as OperationName,
    status: row.Status as BatchStatus,
    sealedBy: row.SealedBy as SealReason,
    candidates: row.Candidates as Candidate[],
    dropped: (row.Dropped as Candidate[] | undefined) ?? [],
    attempt: row.Attempt as number,
    // Rows from before there were tries: then every attempt counted.
    tries: (row.Tries ?? row.Attempt) as number,
    runUntil: row.RunUntil as number,
    oldestAt: row.OldestAt as number,
    createdAt: row.CreatedAt as number,
    ...(row.SlotPage === undefined ? {} : { slotPage: row.SlotPage as number }),
    ...(row.TargetPage === undefined ? {} : { targetPage: row.TargetPage as number }),
    ...(row.Uncounted === undefined ? {} : { uncounted: row.Uncounted as number }),
    ...(row.StartedBy === undefined ? {} : { startedBy: row.StartedBy as Token }),
    ...(row.Open === undefined ? {} : { open: row.Open as TaskId[] }),
    ...(row.Pending === undefined ? {} : { pending: pendingOf(row.Pending as Item) }),
    ...(row.HeldBy === undefined ? {} : { held: heldOf(row) }),
    ...(row.Split === undefined ? {} : { split: row.Split as number }),
    ...(row.LastAttempt === undefined ? {} : { lastAttempt: lastAttemptOf(row.LastAttempt as Item) }),
    ...(counts ? { counts: { succeeded: counts.Succeeded, failed: counts.Failed } } : {}),
    ...(row.SealedAt === undefined ? {} : { sealedAt: row.SealedAt as number }),
    ...(row.StartedAt === undefined ? {} : { startedAt: row.StartedAt as number }),
    ...(row.FinishedAt === undefined ? {} : { finishedAt: row.FinishedAt as number }),
  };
};
