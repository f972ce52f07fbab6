/** What a schedule leaves for its judges, and what they know without asking the code that they judge. */
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

/**
 * What was seen from outside, and what may be asked of it:
 *
 * | promise | is checked |
 * |---|---|
 * | everything that was sent ends, as was answered, or is refused; counts, sizes, payloads, since when they waited | always |
 * | no lock is held, every batch ends | always |
 * | every function ends before its timeout, whatever its requests take | always |
 * | a refusal costs no innocent task its result, where calls are halved | always |
 * | whoever wants to hear how a task ended is told, and nothing else | always |
 * | a redrive starts one run | always |
 * | where requests are merged: one succeeds when its inputs were done, a job gets each once and what is needed | always |
 * | an item of a fan-out shows how its task's first run ended, and did before anybody was told of that; the fan-out is complete when all are done, and is told of | always |
 * | nothing waits in the end | unless `mayStopAmidWork`; always if `patrolled` |
 * | an attempt whose answers came to a function that lived on does not count, where they could not be stored | unless `mayOverlap` or `isPurged` |
 * | every attempt that was started was made | unless `mayStopAmidWork` or `mayOverlap` |
 * | a task that was given up was called about | unless `mayStopAmidWork` or `mayOverlap` |
 * | calls about one batch do not overlap, a pause that was asked for is kept (but for `skew`) | unless `mayOverlap` |
 * | calls keep their operation's rate, whichever is configured at the time | if `isCalm` |
 * | a batch waits for its rate no longer than the calls before it need, a minute's sleep, and the reservations of one horizon | if `isCalm` |
 * | tasks that ended while they waited did so rightly, and whoever wants to hear of it is told | always |
 * | a task keeps the version and the time with which it was sent, however often its message is; it is superseded by a newer one only | always |
 * | no slot is taken in the end, nobody waits for room | always |
 * | no more calls at once than the caps allow | unless `mayOverlap` |
 * | nobody waits for room that is there; nothing is batched that expired; tasks go in their turns | if `isCalm` |
 * | a sweep ends in its time, and its patrol has its turn; a paused Target lends its slots to those that wait | if `isCalm` |
 * | a row has no more slots than a page | always |
 * | the patrol finds a Target that its operation forgot | if `mayBeForgotten` |
 * | each Target that nothing holds is led within half an hour of when its batch is due, or of the last fault | unless messages were lost |
 * | batches are full, sealed when they are due, called about at once and again in time, over once each member has its result; flushes are heeded; what was done is not done again; what expires ends then | if `isCalm`, but for operations that `waitFor` room |
 */
export interface Evidence {
  /** The first one: with every operation, and with what does not change. */
  readonly config: Config;
  readonly configs: Configurations;
  readonly tables: Tables;
  readonly sent: readonly ReceivedMessage[];
  /** Bodies of messages that were lost: those that SQS keeps no longer. */
  readonly lost: ReadonlySet<string>;
  /** Whether a message may be refused since its operation is removed, after it became a task too. */
  readonly mayLackOperation: boolean;
  /** Tasks whose payload expired, and is gone. */
  readonly payloadsGone: ReadonlySet<TaskId>;
  /** Batches that finished after the time to live had deleted one of their tasks: their counts leave it out, and no event is sent for it. */
  readonly outlived: ReadonlySet<BatchId>;
  /** Redrives that were asked for in vain: the task had expired, its operation was removed, or the message was lost. */
  readonly refusedRedrives: readonly TaskRun[];
  readonly rejected: readonly Rejection[];
  readonly log: CallLog;
  /** What initiators were told. */
  readonly sentCallbacks: readonly CallbackMessage[];
  /** How many items the fan-out has that tasks are items of, if there is one. */
  readonly items?: number;
  /** What those saw who watched. */
  readonly seen: Seen;
  /** Flushes that were answered, and when. */
  readonly flushes: readonly { readonly target: Target; readonly at: Millis }[];
  /** Tasks that somebody cancelled, or tried to. */
  readonly cancelled: ReadonlySet<TaskId>;
  /** Redrives that were asked for. */
  readonly redriven: readonly TaskRun[];
  /** Whether the patrol took part. */
  readonly patrolled: boolean;
  /** Whether the patrol took part in a schedule in which nothing went wrong but that messages were lost. */
  readonly mayBeForgotten: boolean;
  /** Whether queues were purged, and with them what only a message says. */
  readonly isPurged: boolean;
  /** Whether a function may have ended amid its work: in a crash, when its time was over, or because a call failed. */
  readonly mayStopAmidWork: boolean;
  /** Runs of functions that died, and those of which a call failed. */
  readonly died: ReadonlySet<string>;
  /** Runs that the platform ended because they took too long. */
  readonly late: ReadonlySet<string>;
  readonly hindered: ReadonlySet<string>;
  /** Those that could not send a message. */
  readonly unsent: ReadonlySet<string>;
  /** What the runs of the batch function received. */
  readonly received: ReadonlyMap<string, readonly string[]>;
  /** Whether a batch handler may have gone on after its time: then two may call about one batch at once. */
  readonly mayOverlap: boolean;
  /** Whether a leader may take a slot that its batch has had already: it stood still, or its request happened late. */
  readonly mayTakeLate: boolean;
  /** The most that a clock was off, either way. */
  readonly skew: Millis;
  /** When nothing went wrong any more; undefined where a message was lost. */
  readonly repairedAt: Millis | undefined;
  /** Whether nothing went wrong at all: then everything is in time too. */
  readonly isCalm: boolean;
  /** Whether somebody paused something. */
  readonly wasPaused: boolean;
  /** When pauses were to end. */
  readonly pauseEnds: readonly Millis[];
  /** Operations whose batches may have had to wait for others, or for the end of a pause. */
  readonly waitFor: ReadonlySet<OperationName>;
  /** What a calm schedule may take beyond the policy: delays that are up to a second late, and the steps themselves. */
  readonly slack: Millis;
}

/** What is known only from watching, for those who judge in the end. */
export interface Seen {
  /** How long, at the most, a Target waited for room that was there. */
  readonly idle: Idle;
  /** Tasks as they were when they ended while they waited: each run of them. */
  readonly settled: Task[];
  /** Guards of one fence and token in flight. */
  readonly guards: { most: number };
  readonly sweeps: SeenSweep[];
  /** When a batch was opened: long before it was stored, where a table was down in between. */
  readonly opened: Map<BatchId, Millis>;
  /** For how long, at the most, a Target was forgotten. */
  forgotten: Millis;
}

/** How long, at the most, a Target waited for room that was there. Nobody did yet: 0. */
export interface Idle {
  longest: Millis;
  /** The same, if a batch of a paused Target that cannot go on does not count as one that needs its slot. */
  longestForPaused: Millis;
  /** How many waited, at the most. */
  most: number;
}

/** A sweep, and how far it came. */
export interface SeenSweep {
  hasEnded: boolean;
  /** Whether its patrol, which comes last, looked at Targets. */
  hasPatrolled: boolean;
  /** How much longer each of its requests takes, at the most. */
  readonly slowness: Millis;
}

/** One that was redriven when its payload had expired. */
export const isPayloadGone = ({ payloadsGone }: Pick<Evidence, 'payloadsGone'>, task: Task | undefined): boolean =>
  task?.state.status === 'failed' &&
  task.state.error.code === 'payload-lost' &&
  task.redrivenAt !== undefined &&
  payloadsGone.has(task.id);

/** The payloads of the registered tasks, as sent. */
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

/** The bytes of items as a downstream receives them: each with the comma or the bracket behind it. */
export const bytesOf = (items: readonly CallItem[]): number =>
  Buffer.byteLength(JSON.stringify(items.map(({ id, payload }) => ({ id, payload: JSON.parse(payload) })))) - 1;

/** Since when each candidate of a batch waited; unknown of one that was redriven since. */
export const waitsOf = (tables: Tables, { candidates }: Batch): readonly (Millis | undefined)[] =>
  candidates.map((candidate) => {
    const { id, run } = parseCandidate(candidate);
    const task = tables.tasks.get(id);
    return task?.run === run ? (task.redrivenAt ?? task.createdAt) : undefined;
  });
