/** Tasks and batches as the HTTP API shows them. */

import { batchView, callsView } from '../api/batches/views.ts';
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
  /** Counted attempts of the task's batch. */
  readonly attempts: number;
  readonly nextAttemptAfter?: string;
  /** Why the last attempt did not end the task's batch. */
  readonly lastReason?: string;
  /** Number of the task's run: 1, plus 1 for each redrive. */
  readonly run: number;
  readonly correlationId?: string;
  readonly priority?: number;
  readonly weight?: number;
  readonly coalesceKey?: string;
  readonly version?: number;
  readonly callback?: string;
  readonly fanOutItem?: string;
  readonly startBy?: string;
  /**
   * Time at which the task's first message was sent. Present only if `coalesceKey` or `merge` depend on which task is
   * newer.
   */
  readonly sentAt?: string;
  readonly createdAt: string;
  readonly redrivenAt?: string;
  readonly finishedAt?: string;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly retriable: boolean };
  /** Id of the newer task that replaced this task, because both have the same `coalesceKey`. */
  readonly supersededBy?: string;
  readonly resultOmitted?: { readonly bytes: number };
}

/** A batch, as `GET /v1/batches/ID` shows it. */
export interface BatchView {
  readonly id: string;
  readonly operation: string;
  readonly target: string;
  readonly status: BatchStatus;
  /** Why the batch was sealed. */
  readonly sealedBy: SealReason;
  readonly size: number;
  /** Ids of the batch's tasks. */
  readonly members: readonly string[];
  readonly attempt: number;
  /** Counted attempts of the batch. */
  readonly attempts: number;
  /** Number of tasks whose outcomes the batch's job has not reported yet. */
  readonly pending?: number;
  readonly counts?: { readonly succeeded: number; readonly failed: number };
  readonly oldestAt: string;
  readonly createdAt: string;
  readonly sealedAt?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly lastAttempt?: { readonly endedAt: string; readonly reason: string };
  readonly nextAttemptAfter?: string;
  /** The last 20 calls, oldest first. The calls of an attempt are stored when it ends. */
  readonly calls?: readonly {
    readonly attempt: number;
    readonly startedAt: string;
    readonly tookMs: number;
    /** Whether the call failed. An answer about single tasks is no failure. */
    readonly isError: boolean;
    /** The answer, or the reason why the call failed. */
    readonly answer: string;
    /** Number of tasks in the call. */
    readonly tasks: number;
    /** Which members the call contained, by their place in `members`, such as `1-50`. Absent if all of them. */
    readonly members?: string | undefined;
  }[];
}

export const taskViewOf = (tables: Tables, task: Task): TaskView => {
  const batchId = batchIdIn(task.state);
  const batch = batchId && tables.batches.get(batchId);
  return JSON.parse(printTask(task, batch, { payload: payloadOf(tables, task) })) as TaskView;
};

export const batchViewOf = (config: Config, batch: Batch): BatchView => {
  const view = batchView(batch, operationNamed(config, batch.operation)?.batch.maxSize);
  // The view after conversion to JSON and back, which removes absent fields.
  return JSON.parse(JSON.stringify({ ...view, ...callsView(batch), members: membersOf(batch) })) as BatchView;
};
