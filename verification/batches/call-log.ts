/** What the downstream received and answered: calls, and reports of its jobs. */
import type { Answer, Call, ItemAnswer } from '../../src/domain/downstream/downstream.ts';
import type { BatchId, Millis, TaskId } from '../../src/domain/ids.ts';

/** A call that arrived. */
export interface LoggedCall {
  readonly call: Call;
  /** The invocation that made the call. */
  readonly by: string;
  readonly at: Millis;
  /** Missing while the call is in progress, or if the caller did not receive the answer. */
  answered?: { readonly at: Millis; readonly answer: Answer };
  /** Whether the caller knows that it will not receive an answer. */
  isLost?: true;
}

/** Results that a job reported. `all-succeeded` applies to all tasks of the batch's jobs. */
interface LoggedReport {
  readonly batchId: BatchId;
  readonly at: Millis;
  readonly items: ReadonlyMap<TaskId, ItemAnswer> | 'all-succeeded';
}

/** What the downstream received and answered, for checks at the end. */
export interface CallLog {
  readonly calls: LoggedCall[];
  /** The tasks of all calls that a function tried to make, including calls that did not reach the downstream. */
  readonly tried: Set<TaskId>;
  /** Reports of the downstream's jobs. */
  readonly reports: LoggedReport[];
}
