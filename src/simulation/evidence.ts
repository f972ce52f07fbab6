/** What a schedule leaves for its judges, and what they know without asking the code that they judge. */
import type { Batch } from '../batching/batch.ts';
import { type Millis, parseCandidate, type Target, type TaskId } from '../batching/ids.ts';
import { parseRegisterMessage, type RegisterMessage, type SentTask } from '../batching/register-message.ts';
import type { Rejection } from '../batching/rejection.ts';
import { isSameTask, type Task } from '../batching/task.ts';
import type { CallbackMessage } from '../callbacks/callback.ts';
import type { Config } from '../config/resolved.ts';
import type { CallItem } from '../downstream/downstream.ts';
import type { TaskRun } from '../ports.ts';
import type { Seen } from './invariants.ts';
import type { CallLog } from './simulated-downstream.ts';
import type { Tables } from './tables.ts';

/**
 * What was seen from outside, and what may be asked of it:
 *
 * | promise | is checked |
 * |---|---|
 * | everything that was sent ends, as was answered, or is refused; counts, sizes, payloads, since when they waited | always |
 * | no lock is held, every batch ends | always |
 * | a refusal costs no innocent task its result, where calls are halved | always |
 * | whoever wants to hear how a task ended is told, and nothing else | always |
 * | a redrive starts one run | always |
 * | where requests are merged: one succeeds when its inputs were done, a job gets each once and what is needed | always |
 * | an item of a fan-out shows how its task's first run ended, and did before anybody was told of that; the fan-out is complete when all are done, and is told of | always |
 * | nothing waits in the end | unless `mayStopAmidWork`; always if `patrolled` |
 * | every attempt that was started was made | unless `mayStopAmidWork` or `mayOverlap` |
 * | a task that was given up was called about | unless `mayStopAmidWork` or `mayOverlap` |
 * | calls about one batch do not overlap, a pause that was asked for is kept (but for `skew`) | unless `mayOverlap` |
 * | calls keep their operation's rate | if `isCalm` |
 * | tasks that ended while they waited did so rightly, and whoever wants to hear of it is told | always |
 * | no slot is taken in the end, nobody waits for room | always |
 * | no more calls at once than the caps allow | unless `mayOverlap` |
 * | nobody waits for room that is there; nothing is batched that expired; tasks go in their turns | if `isCalm` |
 * | batches are full, sealed when they are due, called about at once and again in time, over once each member has its result; flushes are heeded; what was done is not done again; what expires ends then | if `isCalm`, and not `mayWaitForRoom` |
 */
export interface Evidence {
  readonly config: Config;
  readonly tables: Tables;
  readonly sent: readonly RegisterMessage[];
  readonly rejected: readonly Rejection[];
  readonly log: CallLog;
  /** What initiators were told. */
  readonly told: readonly CallbackMessage[];
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
  /** Whether a function may have ended amid its work: in a crash, or because a call failed. */
  readonly mayStopAmidWork: boolean;
  /** Whether a batch handler may have gone on after its time: then two may call about one batch at once. */
  readonly mayOverlap: boolean;
  /** The most that a clock was off, either way. */
  readonly skew: Millis;
  /** Whether nothing went wrong at all: then everything is in time too. */
  readonly isCalm: boolean;
  /** Whether somebody paused something. */
  readonly wasPaused: boolean;
  /** Whether batches had to wait for others, or for the end of a pause. */
  readonly mayWaitForRoom: boolean;
}

/** The payloads of the registered tasks, as sent. */
export const sentPayloads = ({
  config,
  tables,
  sent,
}: Pick<Evidence, 'config' | 'tables' | 'sent'>): ReadonlyMap<TaskId, string> => {
  const isStored = (task: SentTask): boolean => isSameTask(tables.tasks.get(task.id) as Task, task);
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
