/**
 * The events that the steps report. Logs, metrics and, in simulation, statistics are made from this list. An event is
 * reported per batch or per message, never per task. measure.ts decides what an event adds to metrics and whether it is
 * a warning; tools/local/activity.ts decides what `npm start` shows of it. Neither compiles if a new event is missing
 * there.
 */

import type { Counts, FinishedStatus } from '../batches/batch.ts';
import type { Finding } from '../batches/findings.ts';
import type { SealReason } from '../batches/policy.ts';
import type { Reason } from '../downstream/downstream.ts';
import type { FanOutId } from '../fan-out-ids.ts';
import type { EndReason, FanOutStatus } from '../fan-outs/fan-out.ts';
import type { BatchId, LimitName, Millis, OperationName, Target, TaskId } from '../ids.ts';
import type { BucketId } from '../limits/bucket-id.ts';
import type { ClaimKey, ListId } from '../lists/ids.ts';
import type { Pause } from '../operations/slots.ts';
import type { Power, RulesMode } from '../producers/rules.ts';

export type FlowEvent =
  /** Messages were registered as waiting tasks. `duplicates` of them were stored already. */
  | {
      readonly event: 'registered';
      readonly operation: OperationName;
      readonly tasks: number;
      readonly duplicates: number;
    }
  /** Failed tasks were redriven. */
  | { readonly event: 'redriven'; readonly operation: OperationName; readonly tasks: number }
  /** Tasks ended while they waited: expired, superseded or cancelled. */
  | {
      readonly event: 'settled';
      readonly operation: OperationName;
      readonly target: Target;
      readonly how: string;
      readonly tasks: number;
    }
  /** A Target, or a sealed batch that had lent its slot, found no free slot of the operation and waits for one. */
  | { readonly event: 'blocked'; readonly operation: OperationName; readonly target: Target }
  /**
   * A limit delays the call of a Target or batch, and it is now decided when the call starts: in `ahead` ms. By then its
   * oldest task is `waited` ms old.
   */
  | {
      readonly event: 'granted';
      readonly bucket: BucketId;
      readonly limit: LimitName;
      readonly operation: OperationName;
      readonly waited: Millis;
      readonly ahead: Millis;
    }
  /** The end of a batch's call, or what the call used, could not be written to its limit. Its leases end by themselves. */
  | { readonly event: 'limit-not-written'; readonly batchId: BatchId; readonly cause: string }
  /** The slot of a batch was freed. The batch had ended, or was never stored. */
  | { readonly event: 'slot-freed'; readonly operation: OperationName; readonly slot: string }
  /**
   * Messages were rejected and sent to the rejected queue. `operation` is absent if they name no configured operation.
   */
  | {
      readonly event: 'rejected';
      readonly operation?: OperationName;
      readonly messages: number;
      readonly reasons: readonly string[];
    }
  /**
   * In a stage that only warns: `producerRules: "enforce"` would refuse these messages, or would not let these tasks
   * replace others. `senders` has at most ten ids.
   */
  | {
      readonly event: 'rule-broken';
      readonly rule: Power;
      readonly operation: OperationName;
      readonly messages: number;
      readonly senders: readonly string[];
    }
  /** The stage decided whether it enforces the rules of producers. Reported once for each stage. */
  | { readonly event: 'rules-decided'; readonly mode: RulesMode }
  /** A Target got a leader. `takenOver`: the lease of the leader before it had ended. */
  | { readonly event: 'led'; readonly target: Target; readonly fence: number; readonly takenOver: boolean }
  /** A batch was sealed. `waited` is the time since the batch's oldest task was registered. */
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
  /** One call of the downstream. `answer` describes its kind or HTTP status. */
  | {
      readonly event: 'called';
      readonly batchId: BatchId;
      readonly operation: OperationName;
      readonly attempt: number;
      readonly items: number;
      readonly took: Millis;
      readonly answer: string;
      /** Whether the call failed. An answer about single items is no failure. */
      readonly isError: boolean;
      /** The W3C trace context that was sent with the call. */
      readonly traceparent: string;
      /** What the call counts under limits of `weight`. Absent if the operation has none. */
      readonly weight?: number;
      readonly quote?: Reason['quote'];
    }
  | ({
      readonly event: 'postponed';
      readonly batchId: BatchId;
      readonly operation: OperationName;
      readonly open: number;
      /** How many of the open tasks belong to a job that reports later. Absent if no task does. */
      readonly pending?: number;
      readonly retryAt: Millis;
    } & Reason)
  /**
   * The results of an attempt could not be stored, and the batch handler will call again. Up to ten such attempts in a
   * row do not count.
   */
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
  /** Events were delivered to a destination. */
  | { readonly event: 'delivered'; readonly destination: string; readonly events: number }
  /** A delivery of an event failed. `cause` never quotes the destination's answer. */
  | { readonly event: 'not-delivered'; readonly destination: string; readonly cause: string }
  /**
   * Events for a destination were put off, each with its own delay. `uncalled` of these events were not sent because
   * the destination is slow or down. `waited` is the age of the oldest event, in milliseconds since the end that the
   * event reports.
   */
  | {
      readonly event: 'put-off';
      readonly destination: string;
      readonly events: number;
      readonly uncalled: number;
      readonly waited: Millis;
    }
  /** A destination refused an event for its size, and accepted it without its result. */
  | { readonly event: 'result-omitted'; readonly destination: string; readonly bytes: number; readonly cause: string }
  /**
   * A destination's circuit opened after `failures` calls in a row found it down. Groupage does not call it before
   * `until`.
   */
  | {
      readonly event: 'destination-down';
      readonly destination: string;
      readonly failures: number;
      readonly until: Millis;
    }
  /** A destination whose circuit was open accepts events again. */
  | { readonly event: 'destination-up'; readonly destination: string }
  /**
   * The row with the state of destinations could not be read or written. All destinations are called as if none were
   * slow or down.
   */
  | { readonly event: 'share-unknown'; readonly cause: string }
  /**
   * SQS did not accept the delays of some events. SQS delivers them again after the visibility timeout of their queue.
   */
  | { readonly event: 'not-put-off'; readonly messages: number; readonly cause?: string }
  /** An event could not be moved to the queue of given-up events. SQS delivers it again. */
  | { readonly event: 'not-given-up'; readonly messageId: string; readonly cause: string }
  /**
   * The end of tasks was not reported. The tasks name destinations, but the configuration has no destinations at all.
   */
  | { readonly event: 'untold'; readonly tasks: number; readonly destinations: readonly string[] }
  /** Requests were answered by one job, or without a job, because earlier jobs had done all of their inputs. */
  | {
      readonly event: 'merged';
      readonly operation: OperationName;
      readonly target: Target;
      readonly requests: number;
      /** Inputs that the requests need, each counted once. */
      readonly inputs: number;
      /** How many of these inputs earlier jobs had done. */
      readonly skipped: number;
      readonly called: boolean;
    }
  /** A batch waits because its operation or Target is paused. No attempt begins. */
  | {
      readonly event: 'held';
      readonly batchId: BatchId;
      readonly operation: OperationName;
      readonly by: Pause['by'];
      readonly until?: Millis;
    }
  /**
   * The circuit of an operation opened, after `failures` failed attempts in a row or because the configuration is
   * wrong. Groupage does not call before `until`.
   */
  | {
      readonly event: 'circuit-opened';
      readonly operation: OperationName;
      readonly reason: string;
      readonly until: Millis;
      readonly failures: number;
      /** Whether the last failure was a wrong configuration, which opens the circuit at once. */
      readonly isMisconfigured?: true;
      /** Whether the downstream throttles every call. */
      readonly isThrottled?: true;
    }
  /** A downstream whose circuit was open accepts calls again. */
  | { readonly event: 'circuit-closed'; readonly operation: OperationName }
  /** A fan-out ended: all of its items are done, or it ended for another reason. Reported once for each fan-out. */
  | {
      readonly event: 'fan-out-ended';
      readonly fanOut: FanOutId;
      readonly status: 'complete' | 'expired' | 'cancelled';
      readonly because: EndReason;
      readonly total: number;
      readonly failed: number;
    }
  /**
   * The sweep counted the open and sealed fan-outs on the first page. `oldest` is the age of the oldest of them.
   * `isAtLeast`: more may follow.
   */
  | {
      readonly event: 'fan-outs-counted';
      readonly open: number;
      readonly oldest: Millis;
      readonly isAtLeast: boolean;
    }
  /** The patrol completed a fan-out whose last ack had not finished. */
  | { readonly event: 'fan-out-repaired'; readonly fanOut: FanOutId }
  /**
   * The end of a fan-out was not reported. The fan-out names a destination, but the configuration has no destinations
   * at all.
   */
  | { readonly event: 'fan-out-untold'; readonly fanOut: FanOutId; readonly destination: string }
  /** A user deleted a fan-out or list. `was`: its status before. */
  | { readonly event: 'fan-out-deleted'; readonly fanOut: FanOutId; readonly was: FanOutStatus }
  /**
   * The lists that hand out jobs, as the sweep read them: on one page of their rows. `available` and `leased` are numbers
   * of jobs, done ones inside of ranges included. `deliveries`: the most of any range that was handed out.
   */
  | {
      readonly event: 'lists-counted';
      readonly open: number;
      readonly available: number;
      readonly leased: number;
      readonly oldest: Millis;
      readonly deliveries: number;
    }
  /** Jobs of a list failed, because workers got them as often as allowed without ending them (D10). */
  | { readonly event: 'jobs-undeliverable'; readonly list: ListId; readonly jobs: number; readonly deliveries: number }
  /** A person ended the claim of a worker (D12). */
  | { readonly event: 'claim-broken'; readonly list: ListId; readonly claim: ClaimKey; readonly jobs: number }
  /** A claim was refused, because the list has as many as it can have (D13). */
  | { readonly event: 'claim-refused'; readonly list: ListId; readonly claims: number }
  /** Tasks named items of fan-outs that do not exist, or no longer exist. */
  | { readonly event: 'unknown-items'; readonly items: number; readonly first: string }
  /** A message names a batch that is not stored: the message outlived the batch, or Groupage did not send it. */
  | { readonly event: 'unknown-batch'; readonly batchId: BatchId }
  /** The register function failed to check for a full batch. The batch is sealed when its leader wakes. */
  | { readonly event: 'nudge-failed'; readonly target: Target; readonly cause: string }
  /**
   * The batch's row could not name the message that checks the paused batch. Until a later write succeeds, the batch
   * may have one message more than needed.
   */
  | { readonly event: 'hold-not-noted'; readonly batchId: BatchId; readonly cause: string }
  /** A dead letter could not be sent again, or a discarded one not deleted. It stays in its queue. */
  | { readonly event: 'not-revived'; readonly queue: string; readonly messageId: string; readonly cause: string }
  /**
   * A dead letter that was sent again could not be deleted from its queue. It will be sent once more, which does no
   * harm.
   */
  | { readonly event: 'not-removed'; readonly queue: string; readonly messageId: string; readonly cause: string }
  /** A rejected message or a given-up event was deleted because a user requested it. */
  | { readonly event: 'discarded'; readonly queue: string; readonly messageId: string }
  /** Messages that were only read could not be made visible again at once. They become visible within 20 s. */
  | { readonly event: 'not-released'; readonly queue: string; readonly messages: number; readonly cause: string }
  /**
   * A guard was received before its leader had written the handover. The group function waits 100 ms and reads the lock
   * again.
   */
  | { readonly event: 'early-guard'; readonly target: Target; readonly fence: number }
  /** A group message has a fence that no leader can have had. Groupage did not send it, and ignores it. */
  | { readonly event: 'foreign-message'; readonly target: Target; readonly fence: number }
  /**
   * The downstream's answer contains items that were not in the call. `ids` are the first of their ids, and `expected`
   * the first ids of the call. An id that no task may have is not listed.
   */
  | {
      readonly event: 'foreign-results';
      readonly batchId: BatchId;
      readonly items: number;
      readonly ids?: readonly string[];
      readonly expected: readonly TaskId[];
    }
  /**
   * The first answer of a downstream that has never sent `results` has none, so each task counts as succeeded. Reported
   * once for each operation, unless `downstream.requireResults` is set.
   */
  | { readonly event: 'answers-without-results'; readonly operation: OperationName }
  /** A dead letter, or a rejected message, was sent again with a delay of `delay` seconds. */
  | {
      readonly event: 'revived';
      readonly queue: string;
      readonly messageId: string;
      readonly revivals: number;
      readonly delay: number;
    }
  /** An event was moved to the queue of given-up events. Only a person sends it again. */
  | { readonly event: 'given-up'; readonly destination: string; readonly messageId: string }
  /** A dead letter that Groupage did not write was moved to the rejected queue. */
  | { readonly event: 'unreadable'; readonly queue: string; readonly messageId: string }
  /** A part of the sweep ran out of time. It left `left` slots, lock rows or dead-letter queues unchecked. */
  | {
      readonly event: 'sweep-cut';
      readonly part: 'dead-letters' | 'slots' | 'patrol';
      readonly left: number;
    }
  /**
   * The patrol checked Targets of an operation. `oldestWaiting` is the age of the oldest waiting task of these Targets.
   */
  | {
      readonly event: 'looked';
      readonly operation: OperationName;
      readonly targets: number;
      readonly oldestWaiting: Millis;
    }
  /** Something had been stuck since `since`, and was repaired. */
  | {
      readonly event: 'repaired';
      readonly finding: Finding['finding'];
      readonly operation: OperationName;
      readonly target: Target;
      readonly since: Millis;
      readonly batchId?: BatchId;
    };
