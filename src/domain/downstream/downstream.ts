/** The batch API as the batch handler sees it, whatever kind it is: what it is asked, in which words, and what it may answer. */

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
  /** A merged call: the inputs of all its items, each once, as JSON texts. Its items are their ids alone. */
  readonly inputs?: readonly string[];
}

export interface CallItem {
  readonly id: TaskId;
  /** JSON text. */
  readonly payload: string;
  /** Of requests that are merged the newest counts. Every task of a batch has it. */
  readonly age?: Age;
  /** Where its inputs are, if it was registered by an operation that merges. */
  readonly mergeKeys?: string;
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

/**
 * Why a call was refused of which smaller parts may be taken: for one of its items, for its size, or for the size of its answer.
 * With `its-answer` the downstream may have done the work of all items, but the answer that says so was too large to be read.
 */
export type Suspect = 'an-item' | 'its-size' | 'its-answer';

/** What became of a call. Kinds, not statuses: every kind of downstream speaks them. */
export type Answer =
  /** It did the work, or says which part. An item that is not in `items` is to be tried again. */
  | {
      readonly kind: 'results';
      readonly items: ReadonlyMap<TaskId, ItemAnswer> /** Ids nobody asked about. */;
      readonly foreign: number;
      /** Nothing was left to be done: nobody was called. */
      readonly withoutCall?: true;
    }
  /** It did the work, all of it. `inputs`: for a merged call, what it says of each input, as JSON text. */
  | { readonly kind: 'all-succeeded'; readonly inputs?: string }
  /** It has taken the call over, and reports later how each item ended. */
  | ({ readonly kind: 'pending' } & Apart)
  /** It will never take this call. `suspect`: it may take parts of it. */
  | ({ readonly kind: 'refused'; readonly suspect?: Suspect } & Apart & Reason)
  /** It may take this call later. `at-once`: nothing speaks against the very next moment. */
  | ({
      readonly kind: 'unavailable';
      readonly retryAfter?: Millis;
      readonly mayRetryAtOnce: boolean;
      /** It works, and refuses this call since there are too many. */
      readonly throttled?: true;
      /** The fault is the configuration's: no call will be taken before somebody has mended it. */
      readonly misconfigured?: true;
    } & Apart &
      Reason);

/** Items whose outcome does not depend on what became of the call. */
interface Apart {
  readonly settled?: ReadonlyMap<TaskId, Outcome>;
}

/** Why a call came to nothing; of any other answer its kind. */
export const reasonIn = (answer: Answer): Reason =>
  answer.kind === 'refused' || answer.kind === 'unavailable' ? whyOf(answer) : { reason: answer.kind };

export interface Downstream {
  /** Calls once, within the operation's timeout. Failures are answers; it rejects only on a defect, or where a store does. */
  call(call: Call): Promise<Answer>;
  /**
   * What it means for items what a job reported later about a call: its answer, for most kinds.
   *
   * @param call with those of its items that are open
   * @param hadOthers whether it was about items, too, that have ended since
   */
  reported?(call: Pick<Call, 'batchId' | 'target' | 'items'>, said: Answer, hadOthers: boolean): Promise<Answer>;
}

/**
 * The key under which a downstream can recognise a repeated call: the batch and exactly the items in it, so that a
 * retry with fewer items is a call of its own. So is one with fewer inputs, for the same items.
 */
export const idempotencyKey = ({ batchId, items, inputs = [] }: Pick<Call, 'batchId' | 'items' | 'inputs'>): string =>
  `${batchId}.${digest([...items.map(({ id }) => id), ...inputs].join('\n')).slice(0, 16)}`;

/** The header, or message attribute, that carries it. */
export const TRACE_HEADER = 'traceparent';

/**
 * W3C Trace Context, level 1: a batch is a trace, each attempt at it a span. Sampled, since there are few. Both ids come
 * from the batch's alone: a repeated call has the same, and the log needs no more to name them.
 */
export const traceparentOf = ({ batchId, attempt }: Pick<Call, 'batchId' | 'attempt'>): string =>
  `00-${hash(batchId).slice(0, 32)}-${hash(`${batchId}.${attempt}`).slice(0, 16)}-01`;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** `{"idempotencyKey", "traceparent", …}`, the rest as in the body of an HTTP call. */
export const printEvent = (call: Call): string =>
  `${JSON.stringify({ idempotencyKey: idempotencyKey(call), [TRACE_HEADER]: traceparentOf(call) }).slice(0, -1)},${printCall(call).slice(1)}`;

/** The body of a call. Payloads go through as they were sent; where they were merged, their inputs instead. */
export const printCall = ({ batchId, operation, target, attempt, items, inputs }: Call): string => {
  const envelope = JSON.stringify({ batchId, operation, target, attempt }).slice(0, -1);
  if (inputs)
    return `${envelope},"inputs":[${inputs.join(',')}],"items":${JSON.stringify(items.map(({ id }) => ({ id })))}}`;
  return `${envelope},"items":[${items.map(({ id, payload }) => printItem(id, payload)).join(',')}]}`;
};
