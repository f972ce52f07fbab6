/** The batch API as the batch handler sees it, whatever kind it is. */
import type { BatchId, Millis, OperationName, Target, TaskId } from '../batching/ids.ts';
import { digest } from '../batching/ids.ts';
import type { Outcome } from '../batching/task.ts';

/** One call: the open items of a batch. */
export interface Call {
  readonly batchId: BatchId;
  readonly operation: OperationName;
  readonly target: Target;
  readonly attempt: number;
  readonly items: readonly CallItem[];
}

export interface CallItem {
  readonly id: TaskId;
  /** JSON text. */
  readonly payload: string;
}

/** Why something did not end. */
export interface Reason {
  /** In our words. */
  readonly reason: string;
  /** In the downstream's, which may repeat what it was sent: for whoever may see the task, and for no log. */
  readonly quote?: string;
}

/** The reason alone, of something that has one. */
export const whyOf = ({ reason, quote }: Reason): Reason => (quote === undefined ? { reason } : { reason, quote });

export const inFull = ({ reason, quote }: Reason): string => (quote === undefined ? reason : `${reason}: ${quote}`);

/** What the downstream said about one item. */
export type ItemAnswer = Outcome | ({ readonly status: 'retry' } & Reason);

/** What became of a call. Kinds, not statuses: every kind of downstream speaks them. */
export type Answer =
  /** It did the work, or says which part. An item that is not in `items` is to be tried again. */
  | {
      readonly kind: 'results';
      readonly items: ReadonlyMap<TaskId, ItemAnswer> /** Ids nobody asked about. */;
      readonly foreign: number;
    }
  /** It did the work, all of it. */
  | { readonly kind: 'all-succeeded' }
  /** It has taken the call over, and reports later how each item ended. */
  | { readonly kind: 'pending' }
  /** It will never take this call. `suspect`: it may take parts of it, since one item, or its size, is at fault. */
  | ({ readonly kind: 'refused'; readonly suspect?: 'an-item' | 'its-size' } & Reason)
  /** It may take this call later. `at-once`: nothing speaks against the very next moment. */
  | ({
      readonly kind: 'unavailable';
      readonly retryAfter?: Millis;
      readonly mayRetryAtOnce: boolean;
      /** The fault is the configuration's: no call will be taken before somebody has mended it. */
      readonly misconfigured?: true;
    } & Reason);

export interface Downstream {
  /** Calls once, within the operation's timeout. Failures are answers; it rejects only on a defect. */
  call(call: Call): Promise<Answer>;
}

/**
 * The key under which a downstream can recognise a repeated call: the batch and exactly the items in it, so that a
 * retry with fewer items is a call of its own.
 */
export const idempotencyKey = (call: Pick<Call, 'batchId' | 'items'>): string =>
  `${call.batchId}.${digest(call.items.map(({ id }) => id).join('\n')).slice(0, 16)}`;
