/**
 * What the steps report: the one list from which logs, counts and, in simulation, statistics are made. Per batch or
 * per message, never per task. What an event adds to metrics, and whether it is a warning, is in measure.ts; what `npm start` shows of
 * it in tools/local/activity.ts. Neither compiles without a new event.
 */

import type { Counts, FinishedStatus } from '../batches/batch.ts';
import type { Finding } from '../batches/findings.ts';
import type { SealReason } from '../batches/policy.ts';
import type { Reason } from '../downstream/downstream.ts';
import type { FanOutId } from '../fan-out-ids.ts';
import type { EndReason } from '../fan-outs/fan-out.ts';
import type { BatchId, Millis, OperationName, Target } from '../ids.ts';
import type { Pause } from '../operations/slots.ts';

export type FlowEvent =
  /** Messages became waiting tasks; `duplicates` were there already. */
  | {
      readonly event: 'registered';
      readonly operation: OperationName;
      readonly tasks: number;
      readonly duplicates: number;
    }
  /** Failed tasks got another run. */
  | { readonly event: 'redriven'; readonly operation: OperationName; readonly tasks: number }
  /** Tasks ended while they waited: expired, superseded or cancelled. */
  | {
      readonly event: 'settled';
      readonly operation: OperationName;
      readonly target: Target;
      readonly how: string;
      readonly tasks: number;
    }
  /** No slot of the operation was free for a Target, or for a sealed batch that had lent its slot. It waits for one. */
  | { readonly event: 'blocked'; readonly operation: OperationName; readonly target: Target }
  /** A slot whose batch was over, or never came to be, was given back. */
  | { readonly event: 'slot-freed'; readonly operation: OperationName; readonly slot: string }
  /** Messages were refused and lie in the rejected queue. Of none where they name no operation that is configured. */
  | {
      readonly event: 'rejected';
      readonly operation?: OperationName;
      readonly messages: number;
      readonly reasons: readonly string[];
    }
  /** A Target got a leader. `takenOver`: from one whose lease had ended. */
  | { readonly event: 'led'; readonly target: Target; readonly fence: number; readonly takenOver: boolean }
  /** A batch's members are final. `waited` is from its oldest task's registration. */
  | {
      readonly event: 'sealed';
      readonly batchId: BatchId;
      readonly operation: OperationName;
      readonly target: Target;
      readonly because: SealReason;
      readonly size: number;
      readonly fill: number;
      readonly waited: Millis;
    }
  /** One call downstream. `answer` is its kind or HTTP status in words. */
  | {
      readonly event: 'called';
      readonly batchId: BatchId;
      readonly operation: OperationName;
      readonly attempt: number;
      readonly items: number;
      readonly took: Millis;
      readonly answer: string;
      /** It came to nothing. */
      readonly isError: boolean;
      /** The W3C trace context that went with it. */
      readonly traceparent: string;
      readonly quote?: Reason['quote'];
    }
  | ({
      readonly event: 'postponed';
      readonly batchId: BatchId;
      readonly operation: OperationName;
      readonly open: number;
      /** Those of them that have a job which reports later. Absent where none has. */
      readonly pending?: number;
      readonly retryAt: Millis;
    } & Reason)
  /** The results of an attempt could not be stored. Its batch is called about again; up to ten such attempts in a row do not count. */
  | {
      readonly event: 'not-stored';
      readonly batchId: BatchId;
      readonly operation: OperationName;
      readonly attempt: number;
      readonly retryAt: Millis;
      readonly cause: string;
    }
  | {
      readonly event: 'finished';
      readonly batchId: BatchId;
      readonly operation: OperationName;
      readonly status: FinishedStatus;
      readonly counts: Counts;
    }
  /** Events came to a destination. */
  | { readonly event: 'delivered'; readonly destination: string; readonly events: number }
  /** An event did not come to its destination this time; `cause` quotes nothing of what the destination said. */
  | { readonly event: 'not-delivered'; readonly destination: string; readonly cause: string }
  /**
   * Events for a destination come again after delays of their own. `uncalled` of them were not brought to it, since it is slow
   * or down; `waited` is from the end that the oldest is about.
   */
  | {
      readonly event: 'put-off';
      readonly destination: string;
      readonly events: number;
      readonly uncalled: number;
      readonly waited: Millis;
    }
  /** A destination refused an event for its size, and took it without its result. */
  | { readonly event: 'result-omitted'; readonly destination: string; readonly bytes: number; readonly cause: string }
  /** So many calls in a row found a destination down: it is not called until then. */
  | {
      readonly event: 'destination-down';
      readonly destination: string;
      readonly failures: number;
      readonly until: Millis;
    }
  /** A destination whose circuit was open takes events again. */
  | { readonly event: 'destination-up'; readonly destination: string }
  /** The row of what destinations may have could not be read or written: they are called as if all were well. */
  | { readonly event: 'share-unknown'; readonly cause: string }
  /** SQS did not take the delays of some events: they come again after the visibility timeout of their queue. */
  | { readonly event: 'not-put-off'; readonly messages: number; readonly cause?: string }
  /** An event could not be moved to the queue of those given up: it comes again. */
  | { readonly event: 'not-given-up'; readonly messageId: string; readonly cause: string }
  /** Nobody was told how tasks ended: the destinations that they name are not configured, nor is any other. */
  | { readonly event: 'untold'; readonly tasks: number; readonly destinations: readonly string[] }
  /** Requests got their answers from one job, or without one, since all that they needed was done. */
  | {
      readonly event: 'merged';
      readonly operation: OperationName;
      readonly target: Target;
      readonly requests: number;
      /** Inputs that they need, each counted once. */
      readonly inputs: number;
      /** Those of them that earlier jobs had done. */
      readonly skipped: number;
      readonly called: boolean;
    }
  /** An operation is paused: its batch waits, and no attempt at it begins. */
  | {
      readonly event: 'held';
      readonly batchId: BatchId;
      readonly operation: OperationName;
      readonly by: Pause['by'];
      readonly until?: Millis;
    }
  /** So many attempts in a row came to nothing, or the configuration is wrong: nobody is called until then. */
  | {
      readonly event: 'circuit-opened';
      readonly operation: OperationName;
      readonly reason: string;
      readonly until: Millis;
      readonly failures: number;
      /** The last failure was the configuration's, which counts for as many as open it. */
      readonly isMisconfigured?: true;
      /** It refuses every call since there are too many. */
      readonly isThrottled?: true;
    }
  /** A downstream whose circuit had opened takes calls again. */
  | { readonly event: 'circuit-closed'; readonly operation: OperationName }
  /** All items of a fan-out are done, or it ended otherwise: once for each, and by one caller. */
  | {
      readonly event: 'fan-out-ended';
      readonly fanOut: FanOutId;
      readonly status: 'complete' | 'expired' | 'cancelled';
      readonly because: EndReason;
      readonly total: number;
      readonly failed: number;
    }
  /** The patrol completed a fan-out whose last acks stopped half-way. */
  | { readonly event: 'fan-out-repaired'; readonly fanOut: FanOutId }
  /** Nobody was told how a fan-out ended: the destination that it names is not configured, nor is any other. */
  | { readonly event: 'fan-out-untold'; readonly fanOut: FanOutId; readonly destination: string }
  /** Tasks named items of fan-outs that nobody knows, or knows any more. */
  | { readonly event: 'unknown-items'; readonly items: number; readonly first: string }
  /** A message names a batch that is not stored: kept longer than the batch, or not ours. */
  | { readonly event: 'unknown-batch'; readonly batchId: BatchId }
  /** A look for a full batch failed; its leader will see for itself. */
  | { readonly event: 'nudge-failed'; readonly target: Target; readonly cause: string }
  /** A held batch's message could not be noted: the batch may have a message more than it needs until the next note. */
  | { readonly event: 'hold-not-noted'; readonly batchId: BatchId; readonly cause: string }
  /** A dead letter could not be sent again this time. */
  | { readonly event: 'not-revived'; readonly queue: string; readonly messageId: string; readonly cause: string }
  /** A letter that has had its turn could not be taken out of its queue: it will be there once more, which is harmless. */
  | { readonly event: 'not-removed'; readonly queue: string; readonly messageId: string; readonly cause: string }
  /** A guard was received before its leader had written that it hands over. It looks again. */
  | { readonly event: 'early-guard'; readonly target: Target; readonly fence: number }
  /** A group message for a fence that nobody can have led for: no λ wrote it, and nothing was done. */
  | { readonly event: 'foreign-message'; readonly target: Target; readonly fence: number }
  /** The downstream answered about items that it was not asked about. */
  | { readonly event: 'foreign-results'; readonly batchId: BatchId; readonly items: number }
  /** A dead letter, or a message that had been refused, was sent again after `delay` seconds. */
  | {
      readonly event: 'revived';
      readonly queue: string;
      readonly messageId: string;
      readonly revivals: number;
      readonly delay: number;
    }
  /** An event is not sent again by itself: it was moved to the queue of those given up. */
  | { readonly event: 'given-up'; readonly destination: string; readonly messageId: string }
  /** A dead letter that none of the λs wrote went to the rejected queue. */
  | { readonly event: 'unreadable'; readonly queue: string; readonly messageId: string }
  /** A part of the sweep ran out of time. `left` slots, lock rows, or dead-letter queues were not looked at. */
  | {
      readonly event: 'sweep-cut';
      readonly part: 'dead-letters' | 'slots' | 'patrol';
      readonly left: number;
    }
  /** The patrol looked at Targets of an operation: for how long the one has waited that has waited the longest. */
  | {
      readonly event: 'looked';
      readonly operation: OperationName;
      readonly targets: number;
      readonly oldestWaiting: Millis;
    }
  /** Something was stuck since then, and was put right. */
  | {
      readonly event: 'repaired';
      readonly finding: Finding['finding'];
      readonly operation: OperationName;
      readonly target: Target;
      readonly since: Millis;
      readonly batchId?: BatchId;
    };
