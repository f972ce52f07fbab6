/**
 * The batch API as the batch handler uses it, for every kind of downstream: the form of a call, and the possible
 * answers to a call.
 */

import { createHash } from 'node:crypto';
import { type BatchId, digest, type Millis, type OperationName, type Target, type TaskId } from '../ids.ts';
import type { Age } from '../tasks/age.ts';
import { type Outcome, printItem } from '../tasks/task.ts';

/** One call: the open items of a batch. */
export interface Call {
  readonly batchId: BatchId;
  readonly operation: OperationName;
  readonly target: Target;
  readonly attempt: number;
  readonly items: readonly CallItem[];
  /**
   * The inputs of a merged call, as JSON texts: the inputs of all items without duplicates. The items are then sent as
   * ids only.
   */
  readonly inputs?: readonly string[];
}

export interface CallItem {
  readonly id: TaskId;
  /** JSON text. */
  readonly payload: string;
  /** Decides which of several merged requests is the newest. Every task of a batch has it. */
  readonly age?: Age;
  /** Where its inputs are, if its operation merged requests when the task was registered. */
  readonly mergeKeys?: string;
}

/** Why a task, call or attempt has no result. */
export interface Reason {
  /** The reason in Groupage's words. */
  readonly reason: string;
  /**
   * The reason in the downstream's words, which may repeat the payload. Only for users who may see the task, never for
   * a log.
   */
  readonly quote?: string;
}

/** Only the reason and quote of a value. */
export const whyOf = ({ reason, quote }: Reason): Reason => (quote === undefined ? { reason } : { reason, quote });

export const inFull = ({ reason, quote }: Reason): string => (quote === undefined ? reason : `${reason}: ${quote}`);

/**
 * The downstream's answer about one item. `throttled`: the downstream works, but does not accept this item now. Such an
 * answer uses no attempt of the item.
 */
export type ItemAnswer = Outcome | ({ readonly status: 'retry' | 'throttled' } & Reason);

/** Whether an answer about an item is its result. */
export const isOutcome = (answer: ItemAnswer | undefined): answer is Outcome =>
  answer?.status === 'succeeded' || answer?.status === 'failed';

/**
 * Why a call was refused although its parts may be accepted: because of one item, its size, or the size of its answer.
 * With `its-answer` the downstream may have done all of the work, but its answer was too large to be read.
 */
export type Suspect = 'an-item' | 'its-size' | 'its-answer';

/** How a call ended. */
export type Answer = HowItEnded & {
  /** The weight that the call used, as the downstream reports it. Absent if it does not. */
  readonly usage?: number;
};

/** Every kind of downstream translates its answers into these. */
type HowItEnded =
  /** The downstream did all of the work, or a part. An item that is missing in `items` is retried. */
  | {
      readonly kind: 'results';
      readonly items: ReadonlyMap<TaskId, ItemAnswer> /** Ids in the answer that the call did not contain. */;
      readonly foreign: number;
      /** The first of these ids. Only ids that a task may have, so that they may be logged. */
      readonly foreignIds?: readonly string[];
      /** See `all-succeeded`. */
      readonly withoutResults?: true;
      /** No call was made, because no item had work left to do. */
      readonly withoutCall?: true;
    }
  /**
   * The downstream did all of the work. `inputs`: for a merged call, its answer about each input, as JSON text.
   * `withoutResults`: the answer named no results, although it could have.
   */
  | { readonly kind: 'all-succeeded'; readonly inputs?: string; readonly withoutResults?: true }
  /** The downstream has taken over the call, and reports the result of each item later. */
  | ({ readonly kind: 'pending' } & Apart)
  /** The downstream will never accept this call. `suspect`: the downstream may accept parts of the call. */
  | ({ readonly kind: 'refused'; readonly suspect?: Suspect } & Apart & Reason)
  /** The downstream may accept this call later. `mayRetryAtOnce`: the batch handler may retry without a delay. */
  | ({
      readonly kind: 'unavailable';
      readonly retryAfter?: Millis;
      readonly mayRetryAtOnce: boolean;
      /** The downstream works, but refuses this call because it receives too many calls. */
      readonly throttled?: true;
      /** The configuration is wrong: the downstream accepts no call before the configuration is fixed. */
      readonly misconfigured?: true;
      /** The downstream answered with success, in a form that cannot be read. No task is at fault. */
      readonly misread?: true;
    } & Apart &
      Reason);

/** Items whose outcome does not depend on the call's outcome. */
interface Apart {
  readonly settled?: ReadonlyMap<TaskId, Outcome>;
}

/** Why a call failed. For an answer that is no failure, the answer's kind. */
export const reasonIn = (answer: Answer): Reason =>
  answer.kind === 'refused' || answer.kind === 'unavailable' ? whyOf(answer) : { reason: answer.kind };

export interface Downstream {
  /**
   * Calls once, within the operation's timeout. Failures are answers. Rejects only for a defect, or if a store rejects.
   */
  call(call: Call): Promise<Answer>;
  /**
   * What a job's later report means for the items of its call. Without this method, the report counts as the call's
   * answer.
   *
   * @param call with its items that are still open
   * @param hadOthers whether the call also contained items that have ended since
   */
  reported?(call: Pick<Call, 'batchId' | 'target' | 'items'>, said: Answer, hadOthers: boolean): Promise<Answer>;
}

/**
 * The key by which a downstream can recognise a repeated call: the batch and exactly the items in the call. A retry
 * with fewer items, or with fewer inputs for the same items, has a key of its own.
 */
export const idempotencyKey = ({ batchId, items, inputs = [] }: Pick<Call, 'batchId' | 'items' | 'inputs'>): string =>
  `${batchId}.${digest([...items.map(({ id }) => id), ...inputs].join('\n')).slice(0, 16)}`;

/** The header, or message attribute, that carries the trace context. */
export const TRACE_HEADER = 'traceparent';

/**
 * The trace context of a call (W3C Trace Context, level 1). A batch is a trace, and each attempt is a span. All spans
 * are sampled, because there are few. The ids of trace and span are computed from the batch id and the attempt, so a
 * repeated call has the same ids, and a log with batch id and attempt identifies them.
 */
export const traceparentOf = ({ batchId, attempt }: Pick<Call, 'batchId' | 'attempt'>): string =>
  `00-${hash(batchId).slice(0, 32)}-${hash(`${batchId}.${attempt}`).slice(0, 16)}-01`;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The call as an event: `{"idempotencyKey", "traceparent", …}`, followed by the fields of an HTTP call's body. */
export const printEvent = (call: Call): string =>
  `${JSON.stringify({ idempotencyKey: idempotencyKey(call), [TRACE_HEADER]: traceparentOf(call) }).slice(0, -1)},${printCall(call).slice(1)}`;

/** The body of a call. Payloads are inserted as they were sent; a merged call has its inputs instead. */
export const printCall = ({ batchId, operation, target, attempt, items, inputs }: Call): string => {
  const envelope = JSON.stringify({ batchId, operation, target, attempt }).slice(0, -1);
  if (inputs)
    return `${envelope},"inputs":[${inputs.join(',')}],"items":${JSON.stringify(items.map(({ id }) => ({ id })))}}`;
  return `${envelope},"items":[${items.map(({ id, payload }) => printItem(id, payload)).join(',')}]}`;
};
