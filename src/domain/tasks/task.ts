/** A task: one unit of work, from its registration to its result. */
import type { ItemId } from '../fan-out-ids.ts';
import { type BatchId, digest, type Millis, type OperationName, type Target, type TaskId } from '../ids.ts';

/**
 * What a producer may ask of a task beside its work. It is stored and shown as it was sent, and each run of the task has it.
 *
 * Another option is also a field of src/domain/register/register-fields.ts and of its description in tools/contract, of
 * src/client/sent-tasks.ts, of the task in src/api/tasks/responses.ts and src/testing/views.ts, and of tools/task-options.ts.
 */
export interface TaskOptions {
  /** Shown with the task, for who looks for it. At most 128 characters. */
  readonly correlationId?: string;
  /** 0 to 9, the most urgent. Urgent ones go first. */
  readonly priority?: number;
  /** What it counts of its batch's weight (tokens, rows, euros): above 0, 1 if absent. */
  readonly weight?: number;
  /** A newer waiting task of its Target with the same key replaces it; it has then succeeded. 1 to 128 characters. */
  readonly coalesceKey?: string;
  /**
   * Which state of its subject the task brings: a whole number, such as a row's version or its time in milliseconds. Where
   * `coalesceKey` or `merge` choose the newest, the highest version is it; without versions, the task that was sent last.
   */
  readonly version?: number;
  /** The configured destination that is told how it ended, instead of its operation's. */
  readonly callback?: string;
  /** The item of a fan-out (`fanOutId:groupId:index`) that is done when the task has ended, however that was. */
  readonly fanOutItem?: string;
}

/** A registered task as its producer described it. A `priority` of 0 and a `weight` of 1 are left out. */
export interface NewTask extends TaskOptions {
  readonly id: TaskId;
  readonly operation: OperationName;
  readonly target: Target;
  /** JSON text, exactly as sent. */
  readonly payload: string;
  readonly payloadHash: string;
  /** Bytes that its item adds to a downstream call; fixed here, so that it never depends on how it is stored. */
  readonly bytes: number;
  /** By how much its turn comes before its time, for its priority. Fixed here, whatever `maxWait` will be. */
  readonly ahead?: Millis;
  /** When its first message was sent; only where {@link Age} matters, since each attribute makes the row larger. */
  readonly sentAt?: Millis;
  /** Where its inputs are (`merge.keys`), as its operation had it when the task was registered. */
  readonly mergeKeys?: string;
  /** If no batch has it by then, it fails. */
  readonly startBy?: Millis;
  readonly fanOutItem?: ItemId;
  /** When it was registered: its wait counts from here. */
  readonly createdAt: Millis;
  /** The number of its first run, see {@link firstRun}. */
  readonly run: number;
}

/** Why a task failed. */
export interface TaskError {
  /** A word to tell causes apart: the downstream's own, or one of {@link FailureCode}. */
  readonly code: FailureCode | (string & {});
  readonly message: string;
  /** Whether trying again (a redrive) can help. */
  readonly retriable: boolean;
}

/** The codes that Groupage itself gives; a downstream's item errors bring their own. */
type FailureCode =
  /** Every attempt was used up; the message holds the last reason. */
  | 'attempts-exhausted'
  /** The downstream refused the call as a whole, and calling again would not change that. */
  | 'refused'
  /** The downstream may have done its work, but the answer about it was too large to be read. */
  | 'answer-too-large'
  /** Its payload was not there any more when it was its turn. */
  | 'payload-lost'
  /** Its inputs, which were to be merged with those of others, could not be read. */
  | 'inputs-unreadable'
  /** The downstream failed this item without saying why. */
  | 'failed'
  /** No batch had it in time (`expiresIn`). */
  | 'expired'
  /** Somebody cancelled it before a batch had it. */
  | 'cancelled';

/** What a stored task shows; `in-progress` is its batch's business, see {@link Batch}. */
export type TaskState =
  | { readonly status: 'created' }
  | { readonly status: 'batched'; readonly batchId: BatchId }
  | ({
      readonly status: 'succeeded';
      readonly result?: string;
      readonly resultOmitted?: number;
      /** The newer task of its `coalesceKey` that was done instead. */
      readonly supersededBy?: TaskId;
    } & Finished)
  | ({ readonly status: 'failed'; readonly error: TaskError } & Finished);

interface Finished {
  /** None for a task that ended while it waited. */
  readonly batchId?: BatchId;
  /** Attempts at its batch until then. */
  readonly attempts: number;
  readonly finishedAt: Millis;
}

export const hasEnded = (state: TaskState): state is Extract<TaskState, Finished> =>
  state.status === 'succeeded' || state.status === 'failed';

/** The batch that has a task, or had it when it ended. */
export const batchIdIn = (state: TaskState): BatchId | undefined =>
  state.status === 'created' ? undefined : state.batchId;

/** A task as stored. */
export interface Task extends Omit<NewTask, 'payload'> {
  /** Its run; a redrive adds one. People see {@link runNumber}. */
  readonly run: number;
  /** When its run began, if it was redriven. */
  readonly redrivenAt?: Millis;
  /** Whether its payload has a row of its own, as decided when it was inserted. */
  readonly payloadApart: boolean;
  readonly state: TaskState;
}

/** One life of a task, from its registration or a redrive to its result. */
export type TaskRun = Pick<Task, 'id' | 'run'>;

const OPTIONS = {
  correlationId: 'CorrelationId',
  priority: 'Priority',
  weight: 'Weight',
  coalesceKey: 'CoalesceKey',
  version: 'TaskVersion',
  callback: 'Callback',
  fanOutItem: 'FanOutItem',
} as const satisfies Readonly<Record<keyof TaskOptions, string>>;

/** What was asked of a task, as people are shown it. */
export const optionsOf = (task: TaskOptions): TaskOptions =>
  Object.fromEntries(
    (Object.keys(OPTIONS) as (keyof TaskOptions)[]).flatMap((name) =>
      task[name] === undefined ? [] : [[name, task[name]]],
    ),
  );

/**
 * A task's columns: the attribute in which its row holds each of these fields as it is. `Version` is the row's own, see
 * src/rows/row-version.ts.
 */
export const COLUMNS = {
  ...OPTIONS,
  id: 'Id',
  operation: 'Operation',
  target: 'Target',
  payloadHash: 'PayloadHash',
  bytes: 'Bytes',
  ahead: 'Ahead',
  sentAt: 'SentAt',
  mergeKeys: 'MergeKeys',
  startBy: 'StartBy',
  createdAt: 'CreatedAt',
  run: 'Run',
  redrivenAt: 'RedrivenAt',
} as const satisfies Readonly<Record<Exclude<keyof Task, 'payloadApart' | 'state'>, string>>;

/** How an item ended downstream. */
export type Outcome =
  | { readonly status: 'succeeded' /** JSON text. */; readonly result?: string; readonly resultOmitted?: number }
  | { readonly status: 'failed'; readonly error: TaskError };

/** How a task ends that no batch has. */
export type Settlement =
  | { readonly status: 'failed'; readonly error: TaskError }
  | { readonly status: 'succeeded'; readonly supersededBy: TaskId };

/** What became of one task. */
export interface TaskResult {
  readonly id: TaskId;
  readonly outcome: Outcome;
  /** Set where its payload has a row of its own, which has to go when the task goes. */
  readonly payloadRow?: PayloadRow;
}

/** A payload to be kept in a row of its own, for a task as it is stored. */
export type PayloadToStore = Pick<NewTask, 'payload'> & Pick<Task, 'id' | 'payloadHash' | 'createdAt' | 'run'>;

/** A payload in a row of its own, and the run of its task that wants it: it must not go while a later one does. */
export interface PayloadRow {
  readonly payloadHash: string;
  readonly run: number;
}

/** A payload above this is refused: it would not fit beside the rest into one DynamoDB item with room to spare. */
export const PAYLOAD_MAX_BYTES = 256 * 1_024;
/** A result above this is not kept (its size is): the task row has to hold it. */
export const RESULT_MAX_BYTES = 256 * 1_024;

/** Identifies a payload's exact text; 132 bits are enough to tell payloads of one id apart. */
export const payloadHashOf = (payload: string): string => digest(payload).slice(0, 22);

/** The item of a downstream call, its payload as sent. */
export const printItem = (id: TaskId, payload: string): string => `{"id":${JSON.stringify(id)},"payload":${payload}}`;

/** What {@link printItem} adds to a call's body, with the comma after it. */
export const itemBytes = (id: TaskId, payload: string): number => Buffer.byteLength(printItem(id, payload)) + 1;

/** What makes two messages with one id the same task. */
type Meant = Pick<NewTask, 'operation' | 'payloadHash' | 'fanOutItem'>;

/**
 * Whether a message describes the task that is stored under its id. If not, the id was used for something else: the
 * message is refused, the stored task stays. Another item of a fan-out would never be done, and nobody would say so.
 */
export const isSameTask = (stored: Meant, sent: Meant): boolean =>
  stored.operation === sent.operation &&
  stored.payloadHash === sent.payloadHash &&
  (sent.fanOutItem === undefined || stored.fanOutItem === sent.fanOutItem);

/** What a result says of the payload of the task that it is for. */
export const payloadRowOf = ({ payloadApart, payloadHash, run }: Task): Pick<TaskResult, 'payloadRow'> =>
  payloadApart ? { payloadRow: { payloadHash, run } } : {};

/**
 * The number of the first run of a task that is registered at `createdAt`. An id may be used again once its task has expired.
 * The new task's runs then have other numbers, so that no row, message or event of the earlier task can mean the new one.
 */
export const firstRun = (createdAt: Millis): number => createdAt;

/** Runs of release 0.2.0 count from 1. Nobody redrives a task this often, and no task was registered in January 1970. */
const COUNTED_BELOW = 1_000_000_000;

const firstRunOf = ({ run, createdAt }: Pick<Task, 'run' | 'createdAt'>): number =>
  run < COUNTED_BELOW ? 1 : firstRun(createdAt);

/** Which of its runs a task is in, as people see it: 1, and one more for each redrive. */
export const runNumber = (task: Pick<Task, 'run' | 'createdAt'>): number => task.run - firstRunOf(task) + 1;

/** The run of a task as it is stored, of one that is named as it is stored or as people see it. */
export const storedRun = (task: Pick<Task, 'run' | 'createdAt'>, named: number): number =>
  named < COUNTED_BELOW ? firstRunOf(task) + named - 1 : named;

/** Whether the run after `run` was begun at `at`: a request that is repeated recognises itself by that. */
export const isRedriveOf = (run: number, at: Millis, task: Task): boolean =>
  task.run === run + 1 && task.redrivenAt === at;

/** Whether a task ended in its `run` while it waited. */
export const isSettledIn = (run: number | undefined, { run: shown, state }: Pick<Task, 'run' | 'state'>): boolean =>
  run === shown && hasEnded(state) && state.batchId === undefined;
