/**
 * The evidence of a schedule. The judges check promises against the evidence, without using the code that they judge.
 */
import type { Batch } from '../../src/domain/batches/batch.ts';
import type { CallbackMessage } from '../../src/domain/callbacks/callback.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import type { CallItem } from '../../src/domain/downstream/downstream.ts';
import {
  type BatchId,
  type Millis,
  type OperationName,
  parseCandidate,
  type Target,
  type TaskId,
} from '../../src/domain/ids.ts';
import {
  parseRegisterMessage,
  type ReceivedMessage,
  type SentTask,
} from '../../src/domain/register/register-message.ts';
import type { Rejection } from '../../src/domain/register/rejection.ts';
import { isSameTask, type Task, type TaskRun } from '../../src/domain/tasks/task.ts';
import type { Tables } from '../../src/memory/tables.ts';
import type { CallLog } from './call-log.ts';
import type { Configurations } from './configurations.ts';
import type { Poison } from './poison.ts';

/**
 * The observations of a schedule, and the promises that they are held against. Each line says when a promise is
 * checked.
 *
 * - Always: every sent message ends as the downstream answered, or is refused; counts, sizes, payloads and waiting
 * times are right.
 * - Always: no lock is held in the end, every batch ends.
 * - Always: every function ends before its timeout, however long its requests take.
 * - Always: if calls are halved, a refused call costs no other task its result.
 * - Always: the callback of every ended task is sent to its destination, and no other callback.
 * - Always: a redrive starts one run.
 * - Always: with `merge`, a request succeeds only if its inputs were processed; a job gets each input once, and only
 * inputs that its requests need.
 * - Always: an item of a fan-out has the outcome of its task's first run before the task's callback is sent; the
 * fan-out is complete and reported when all items are acked.
 * - Unless `mayStopAmidWork`; always if `patrolled`: no waiting row is left in the end.
 * - Unless `mayOverlap` or `isPurged`: an attempt does not count if its function received the answers, lived on and
 * could not store them.
 * - Unless `mayStopAmidWork` or `mayOverlap`: every started attempt makes a call.
 * - Unless `mayStopAmidWork` or `mayOverlap`: a task that failed as exhausted was included in a call.
 * - Unless `mayOverlap`: calls of one batch do not overlap, and a retry waits for the requested pause (up to `skew`).
 * - Always: calls stay within the limits configured at the time, including `rateLimit`.
 * - Unless messages were lost: a call waits for its limits no longer than the calls before it need, plus half an hour
 * after the last fault. If `isCalm`: plus three minutes.
 * - With `poison`: a task at fault fails no other task, and does not keep the circuit open for other Targets.
 * - Always: a settled task was settled for a valid reason, and its callback is sent.
 * - Always: a task keeps the version and sending time of its message, however often that is delivered; only a newer
 * task supersedes it.
 * - Always: no slot is taken and no Target waits for a slot in the end.
 * - Unless `mayOverlap`: no more calls run at once than the caps allow.
 * - If `isCalm`: no Target waits although a slot is free; no expired task is batched; tasks are batched in order of
 * priority and age.
 * - If `isCalm`: a sweep ends within its timeout and reaches its patrol; a paused Target gives its slots to waiting
 * Targets.
 * - Always: a row has at most one page of slots.
 * - If `mayBeForgotten`: the patrol finds each Target that is missing in the slot queue.
 * - Unless messages were lost: each Target with waiting tasks has a leader within half an hour after its batch is due,
 * or after the last fault, unless a cap, circuit or pause holds it.
 * - If `isCalm`, except operations in `waitFor`: batches are full, sealed when due, called at once, retried in time,
 * and over once each member has its result; flushes take effect; processed inputs are not processed again; expired
 * tasks end in time.
 */
export interface Evidence {
  /** The first configuration, which contains every operation. */
  readonly config: Config;
  readonly configs: Configurations;
  readonly tables: Tables;
  readonly sent: readonly ReceivedMessage[];
  /** Bodies of messages that SQS lost because they were older than the retention period. */
  readonly lost: ReadonlySet<string>;
  /** Whether a message may be refused because its operation is removed, even if the message became a task before. */
  readonly mayLackOperation: boolean;
  /** Tasks whose payload has expired and was deleted. */
  readonly payloadsGone: ReadonlySet<TaskId>;
  /**
   * Batches that finished after the time to live had deleted one of their tasks. The counts of such a batch leave the
   * deleted task out, and no callback is sent for that task.
   */
  readonly outlived: ReadonlySet<BatchId>;
  /** Redrives without effect: the task had expired, its operation was removed, or the message was lost. */
  readonly refusedRedrives: readonly TaskRun[];
  readonly rejected: readonly Rejection[];
  readonly log: CallLog;
  /** Callbacks that were sent. */
  readonly sentCallbacks: readonly CallbackMessage[];
  /** The number of items of the fan-out to which tasks belong; undefined without a fan-out. */
  readonly items?: number;
  /** Observations of the watchers. */
  readonly seen: Seen;
  /** Answered flushes, with the time of the request. */
  readonly flushes: readonly { readonly target: Target; readonly at: Millis }[];
  /** Tasks that a person cancelled, or tried to cancel. */
  readonly cancelled: ReadonlySet<TaskId>;
  /** Requested redrives. */
  readonly redriven: readonly TaskRun[];
  /** What the downstream did instead of its random behaviour. */
  readonly poison?: Poison;
  /** Whether the patrol was active. */
  readonly patrolled: boolean;
  /** Whether the patrol was active and no fault occurred except lost messages. */
  readonly mayBeForgotten: boolean;
  /** Whether queues were purged, and with them the information that only their messages had. */
  readonly isPurged: boolean;
  /**
   * Whether a function may have stopped in the middle of its work because of a crash, its timeout, or a failed call.
   */
  readonly mayStopAmidWork: boolean;
  /** Invocations in which the function died. `hindered` holds the invocations in which a call failed. */
  readonly died: ReadonlySet<string>;
  /** Invocations that the platform ended at the function's timeout. */
  readonly late: ReadonlySet<string>;
  readonly hindered: ReadonlySet<string>;
  /** Invocations that failed to send a message. */
  readonly unsent: ReadonlySet<string>;
  /** The messages that each invocation of the batch function received. */
  readonly received: ReadonlyMap<string, readonly string[]>;
  /**
   * Whether a batch handler may have continued after its timeout. Two handlers may then call the same batch at once.
   */
  readonly mayOverlap: boolean;
  /**
   * Whether a leader may take a slot that its batch has already freed, because the leader was paused or the leader's
   * request took effect late.
   */
  readonly mayTakeLate: boolean;
  /** The most by which a clock may be fast or slow, in ms. */
  readonly skew: Millis;
  /** When the last fault was over; undefined if messages were lost. */
  readonly repairedAt: Millis | undefined;
  /** Whether no fault occurred. Promises about time are then checked too. */
  readonly isCalm: boolean;
  /** Whether a person paused an operation or a Target. */
  readonly wasPaused: boolean;
  /** The times at which pauses were due to end. */
  readonly pauseEnds: readonly Millis[];
  /** Operations whose batches may have waited for a slot, a circuit, or the end of a pause. */
  readonly waitFor: ReadonlySet<OperationName>;
  /**
   * The time that a schedule without faults may take beyond the policy, in ms: delays are up to a second late, and
   * steps take time.
   */
  readonly slack: Millis;
}

/** Observations that can be made only while the schedule runs, for the judges at the end. */
export interface Seen {
  /** The longest time for which a Target waited although a slot was free. */
  readonly idle: Idle;
  /** Each task at the moment when it was settled, for each of its runs. */
  readonly settled: Task[];
  /** The most guards with the same fence and token that were in flight at once. */
  readonly guards: { most: number };
  readonly sweeps: SeenSweep[];
  /** When each batch was opened. During an outage a batch is opened long before its row can be stored. */
  readonly opened: Map<BatchId, Millis>;
  /** The longest time for which a waiting Target was missing in the slot queue. */
  forgotten: Millis;
}

/** The longest time for which a Target waited although a slot was free, in ms; 0 if no Target did. */
export interface Idle {
  longest: Millis;
  /** The same time, counting the slot of a paused Target as free if its batch cannot continue. */
  longestForPaused: Millis;
  /** The most Targets that waited at once. */
  most: number;
}

/** A sweep, and which of its parts it reached. */
export interface SeenSweep {
  hasEnded: boolean;
  /** Whether the sweep's patrol, which runs last, has read Targets. */
  hasPatrolled: boolean;
  /** The longest extra time that each request of the sweep takes. */
  readonly slowness: Millis;
}

/** Whether the task failed because its payload had expired before the redrive. */
export const isPayloadGone = ({ payloadsGone }: Pick<Evidence, 'payloadsGone'>, task: Task | undefined): boolean =>
  task?.state.status === 'failed' &&
  task.state.error.code === 'payload-lost' &&
  task.redrivenAt !== undefined &&
  payloadsGone.has(task.id);

/** The payloads of the registered tasks, as they were sent. */
export const sentPayloads = ({
  config,
  tables,
  sent,
}: Pick<Evidence, 'config' | 'tables' | 'sent'>): ReadonlyMap<TaskId, string> => {
  const isStored = (task: SentTask): boolean => {
    const stored = tables.tasks.get(task.id);
    return stored !== undefined && isSameTask(stored, task);
  };
  const tasks = sent
    .map((message) => parseRegisterMessage(config, message))
    .flatMap((parsed) => (parsed.ok ? [parsed.value] : []));
  return new Map(tasks.filter(isStored).map(({ id, payload }) => [id, payload]));
};

/**
 * The size in bytes of items as the downstream receives them. Each item includes the comma or bracket that follows it.
 */
export const bytesOf = (items: readonly CallItem[]): number =>
  Buffer.byteLength(JSON.stringify(items.map(({ id, payload }) => ({ id, payload: JSON.parse(payload) })))) - 1;

/** When each candidate of a batch began to wait; undefined for a candidate that was redriven since. */
export const waitsOf = (tables: Tables, { candidates }: Batch): readonly (Millis | undefined)[] =>
  candidates.map((candidate) => {
    const { id, run } = parseCandidate(candidate);
    const task = tables.tasks.get(id);
    return task?.run === run ? (task.redrivenAt ?? task.createdAt) : undefined;
  });
