/** What the downstream saw: calls, and what jobs reported later. */
import type { Answer, Call, ItemAnswer } from '../../src/domain/downstream/downstream.ts';
import type { BatchId, Millis, TaskId } from '../../src/domain/ids.ts';

/** A call that arrived. */
export interface LoggedCall {
  readonly call: Call;
  /** The run of the function that made it. */
  readonly by: string;
  readonly at: Millis;
  /** Missing while it is under way, or if its caller did not hear the answer. */
  answered?: { readonly at: Millis; readonly answer: Answer };
}

/** What a job said of its items; of all that jobs of this batch have, that they succeeded. */
interface LoggedReport {
  readonly batchId: BatchId;
  readonly at: Millis;
  readonly items: ReadonlyMap<TaskId, ItemAnswer> | 'all-succeeded';
}

/** What the downstream saw, for checks at the end. */
export interface CallLog {
  readonly calls: LoggedCall[];
  /** Tasks that somebody tried to call it about, whether or not it was reached. */
  readonly tried: Set<TaskId>;
  /** What its jobs reported later. */
  readonly reports: LoggedReport[];
}
