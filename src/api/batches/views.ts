/** A batch as the HTTP API shows it. */
import { type Batch, isPending, membersOf } from '../../domain/batches/batch.ts';
import { inFull } from '../../domain/downstream/downstream.ts';
import { iso } from '../shared/iso.ts';
import type { BatchOutline, Batch as BatchShown } from './responses.ts';

export const batchView = (batch: Batch, maxSize: number | undefined): BatchOutline => {
  const members = membersOf(batch);
  return {
    id: batch.id,
    operation: batch.operation,
    target: batch.target,
    status: batch.status,
    sealedBy: batch.sealedBy,
    size: members.length,
    ...(maxSize === undefined ? {} : { fill: members.length / maxSize }),
    attempt: batch.attempt,
    attempts: batch.countedAttempts,
    ...(isPending(batch) ? { pending: batch.pending?.ids.length } : {}),
    ...(batch.counts ? { counts: batch.counts } : {}),
    oldestAt: iso(batch.oldestAt),
    createdAt: iso(batch.createdAt),
    ...(batch.sealedAt === undefined ? {} : { sealedAt: iso(batch.sealedAt) }),
    ...(batch.startedAt === undefined ? {} : { startedAt: iso(batch.startedAt) }),
    ...(batch.finishedAt === undefined ? {} : { finishedAt: iso(batch.finishedAt) }),
    ...(batch.lastAttempt
      ? { lastAttempt: { endedAt: iso(batch.lastAttempt.endedAt), reason: inFull(batch.lastAttempt) } }
      : {}),
    ...(batch.status === 'in-progress' ? { nextAttemptAfter: iso(batch.runUntil) } : {}),
  };
};

export const callsView = ({ calls }: Batch): Pick<BatchShown, 'calls'> =>
  calls
    ? {
        calls: calls.map((call) => ({
          attempt: call.attempt,
          startedAt: iso(call.at),
          tookMs: Math.max(0, call.took),
          isError: call.isError,
          answer: inFull(call),
          tasks: call.items,
          ...(call.members === undefined ? {} : { members: call.members }),
        })),
      }
    : {};
