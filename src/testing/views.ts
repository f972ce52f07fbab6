/** Tasks and batches as the HTTP API shows them. */

import { batchView } from '../api/batches/views.ts';
import { printTask } from '../api/tasks/views.ts';
import { type Batch, type BatchStatus, membersOf } from '../domain/batches/batch.ts';
import type { SealReason } from '../domain/batches/policy.ts';
import { type Config, operationNamed } from '../domain/config/resolved.ts';
import { batchIdIn, type Task } from '../domain/tasks/task.ts';
import { payloadOf, type Tables } from '../memory/tables.ts';

/** A task, as `GET /v1/tasks/ID` shows it. */
export interface TaskView<Payload extends object = Record<string, unknown>> {
  readonly id: string;
  readonly operation: string;
  readonly target: string;
  readonly status: 'created' | 'batched' | 'in-progress' | 'succeeded' | 'failed';
  readonly payload: Payload;
  readonly batchId?: string;
  /** Attempts at its batch that count. */
  readonly attempts: number;
  readonly nextAttemptAfter?: string;
  /** Why its batch's last attempt was not the last. */
  readonly lastReason?: string;
  /** 1; a redrive adds one. */
  readonly run: number;
  readonly correlationId?: string;
  readonly priority?: number;
  readonly weight?: number;
  readonly coalesceKey?: string;
  readonly version?: number;
  readonly callback?: string;
  readonly fanOutItem?: string;
  readonly startBy?: string;
  /** When its first message was sent, where `coalesceKey` or `merge` make it matter which task is newer. */
  readonly sentAt?: string;
  readonly createdAt: string;
  readonly redrivenAt?: string;
  readonly finishedAt?: string;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly retriable: boolean };
  /** The newer task that took its place, by its `coalesceKey`. */
  readonly supersededBy?: string;
  readonly resultOmitted?: { readonly bytes: number };
}

/** A batch, as `GET /v1/batches/ID` shows it. */
export interface BatchView {
  readonly id: string;
  readonly operation: string;
  readonly target: string;
  readonly status: BatchStatus;
  /** Why it was sealed. */
  readonly sealedBy: SealReason;
  readonly size: number;
  /** The ids of its tasks. */
  readonly members: readonly string[];
  readonly attempt: number;
  /** Attempts that count. */
  readonly attempts: number;
  /** Tasks of which its job is to report. */
  readonly pending?: number;
  readonly counts?: { readonly succeeded: number; readonly failed: number };
  readonly oldestAt: string;
  readonly createdAt: string;
  readonly sealedAt?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly lastAttempt?: { readonly endedAt: string; readonly reason: string };
  readonly nextAttemptAfter?: string;
}

export const taskViewOf = (tables: Tables, task: Task): TaskView => {
  const batchId = batchIdIn(task.state);
  const batch = batchId && tables.batches.get(batchId);
  return JSON.parse(printTask(task, batch, { payload: payloadOf(tables, task) })) as TaskView;
};

export const batchViewOf = (config: Config, batch: Batch): BatchView => {
  const view = batchView(batch, operationNamed(config, batch.operation)?.batch.maxSize);
  // As it is read: without what is not there.
  return JSON.parse(JSON.stringify({ ...view, members: membersOf(batch) })) as BatchView;
};
