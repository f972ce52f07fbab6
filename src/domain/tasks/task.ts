/**
 * A task: one unit of work, from its registration to its result.
 *
 * - *created*: the task waits, and has a waiting row (R2). A batch may claim it (F2). It may end by a settlement:
 *   expired, cancelled or replaced by a newer task (N1).
 * - *batched*: one batch has the task. Only a result of that batch ends it (H4, J1). Views show it as in-progress while
 *   its batch runs.
 * - *succeeded*: nothing changes any more.
 * - *failed*: the end of this run. A redrive that names the run starts the next one as *created* (N4).
 *
 * Invariants: a run gets at most one batch and one result. `run` only grows. The row expires only after the end.
 */
import type { ItemId } from '../fan-out-ids.ts';
import { type BatchId, digest, type Millis, type OperationName, type Target, type TaskId } from '../ids.ts';

/**
 * Optional settings that a producer sends with a task. They are stored and shown as sent, and apply to each run of the
 * task.
 *
 * A new option also needs a field in src/domain/register/register-fields.ts and its description in tools/contract, in
 * src/client/sent-tasks.ts, in the task of src/api/tasks/responses.ts and src/testing/views.ts, and in
 * tools/task-options.ts.
 */
export interface TaskOptions {
  /** Shown with the task, so that a person finds it by an id of another system. At most 128 characters. */
  readonly correlationId?: string;
  /** 0 to 9; 9 is the most urgent and goes first. */
  readonly priority?: number;
  /** The task's share of its batch's `maxWeight` (tokens, rows, euros): above 0, 1 if absent. */
  readonly weight?: number;
  /**
   * If a newer task of the Target with the same key waits, the newer task replaces this task, and this task ends as
   * succeeded. 1 to 128 characters.
   */
  readonly coalesceKey?: string;
  /**
   * Orders the tasks that bring the state of one subject: a whole number, such as a row's version or its time in
   * milliseconds. `coalesceKey` and `merge` keep the task with the highest version; without versions, they keep the
   * task that was sent last.
   */
  readonly version?: number;
  /** The configured destination that receives the task's event, instead of the operation's destination. */
  readonly callback?: string;
  /** The item of a fan-out (`fanOutId:groupId:index`) that is acked when the task has ended, as succeeded or failed. */
  readonly fanOutItem?: string;
}

/** A new task as its producer described it. A `priority` of 0 and a `weight` of 1 are left out. */
export interface NewTask extends TaskOptions {
  readonly id: TaskId;
  readonly operation: OperationName;
  readonly target: Target;
  /** JSON text, exactly as sent. */
  readonly payload: string;
  readonly payloadHash: string;
  /**
   * Bytes that its item adds to a downstream call. Stored with the task, so that the size does not depend on how the
   * payload is stored.
   */
  readonly bytes: number;
  /**
   * By how many milliseconds its waiting row moves forward for its priority. Stored with the task, so that a later
   * change of `maxWait` does not move the row.
   */
  readonly ahead?: Millis;
  /**
   * When the task's first message was sent. Stored only if {@link Age} needs it, because each attribute makes the row
   * larger.
   */
  readonly sentAt?: Millis;
  /** The path to the task's inputs (`merge.keys`), as configured when the task was registered. */
  readonly mergeKeys?: string;
  /** The task fails as expired if no batch has claimed it by this time. */
  readonly startBy?: Millis;
  readonly fanOutItem?: ItemId;
  /**
   * The sender, as `coalescesAmong` names it. Stored only with a `coalesceKey` whose comparison a rule limits to the
   * sender's own tasks.
   */
  readonly sender?: string;
  /** Whether the rule is enforced. In a stage that only warns, keys of all senders are compared. */
  readonly ownKey?: true;
  /** When the task was registered. Its wait begins at this time. */
  readonly createdAt: Millis;
  /** The number of the task's first run, see {@link firstRun}. */
  readonly run: number;
}

/** Why a task failed. */
export interface TaskError {
  /** Names the cause: the downstream's own code, or a {@link FailureCode}. */
  readonly code: FailureCode | (string & {});
  readonly message: string;
  /** Whether a redrive can help. */
  readonly retriable: boolean;
}

/** The codes that Groupage itself sets. The downstream's item errors bring their own. */
type FailureCode =
  /** All counted attempts failed. The message contains the last reason. */
  | 'attempts-exhausted'
  /** The downstream refused the whole call, and another call would be refused as well. */
  | 'refused'
  /** The downstream may have done the work, but its answer was too large to be read. */
  | 'answer-too-large'
  /** The task's payload row did not exist when its batch was called. */
  | 'payload-lost'
  /** The task's inputs, which `merge` combines with those of other tasks, could not be read. */
  | 'inputs-unreadable'
  /** The downstream failed this item without an error code. */
  | 'failed'
  /** No batch claimed the task within `expiresIn`. */
  | 'expired'
  /** A user cancelled the task before a batch claimed it. */
  | 'cancelled';

/** The state of a stored task. `in-progress` is stored on its batch only, see {@link Batch}. */
export type TaskState =
  | { readonly status: 'created' }
  | { readonly status: 'batched'; readonly batchId: BatchId }
  | ({
      readonly status: 'succeeded';
      readonly result?: string;
      readonly resultOmitted?: number;
      /** The newer task of its `coalesceKey` that replaced it. */
      readonly supersededBy?: TaskId;
    } & Finished)
  | ({ readonly status: 'failed'; readonly error: TaskError } & Finished);

interface Finished {
  /** Absent if the task ended while it waited. */
  readonly batchId?: BatchId;
  /** Counted attempts of its batch when it ended. */
  readonly attempts: number;
  readonly finishedAt: Millis;
}

export const hasEnded = (state: TaskState): state is Extract<TaskState, Finished> =>
  state.status === 'succeeded' || state.status === 'failed';

/** The batch that has a task, or had it when the task ended. */
export const batchIdIn = (state: TaskState): BatchId | undefined =>
  state.status === 'created' ? undefined : state.batchId;

/** A task as stored. */
export interface Task extends Omit<NewTask, 'payload'> {
  /** The number of the current run. A redrive sets a higher one. Users see {@link runNumber}. */
  readonly run: number;
  /** When the current run began, if it began with a redrive. */
  readonly redrivenAt?: Millis;
  /**
   * Whether an earlier run failed although the downstream worked, so that the task may have been at fault (H8). Its next
   * run has a batch of its own.
   */
  readonly suspect?: boolean;
  /** Whether the task's payload has a row of its own, as decided when the task was inserted. */
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

/** The options of a task, as users see them. */
export const optionsOf = (task: TaskOptions): TaskOptions =>
  Object.fromEntries(
    (Object.keys(OPTIONS) as (keyof TaskOptions)[]).flatMap((name) =>
      task[name] === undefined ? [] : [[name, task[name]]],
    ),
  );

/**
 * The columns of a task: for each field, the attribute of its row that holds the value unchanged. `Version` belongs to
 * the row, see src/rows/row-version.ts.
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
  sender: 'Sender',
  ownKey: 'OwnKey',
  createdAt: 'CreatedAt',
  run: 'Run',
  redrivenAt: 'RedrivenAt',
  suspect: 'Suspect',
} as const satisfies Readonly<Record<Exclude<keyof Task, 'payloadApart' | 'state'>, string>>;

/** How an item ended downstream. */
export type Outcome =
  | { readonly status: 'succeeded' /** JSON text. */; readonly result?: string; readonly resultOmitted?: number }
  | { readonly status: 'failed'; readonly error: TaskError };

/** The end of a task that no batch has claimed. */
export type Settlement =
  | { readonly status: 'failed'; readonly error: TaskError }
  | { readonly status: 'succeeded'; readonly supersededBy: TaskId };

/** The result of one task. */
export interface TaskResult {
  readonly id: TaskId;
  readonly outcome: Outcome;
  /** See {@link Task.suspect}. */
  readonly suspect?: boolean;
  /** Set if its payload has a row of its own. That row gets an expiry together with the task. */
  readonly payloadRow?: PayloadRow;
}

/** A payload that is stored in a row of its own, with the fields of its task that name the row. */
export type PayloadToStore = Pick<NewTask, 'payload'> & Pick<Task, 'id' | 'payloadHash' | 'createdAt' | 'run'>;

/** A payload row, and the run of its task that needs it. The row must not expire while a later run needs it. */
export interface PayloadRow {
  readonly payloadHash: string;
  readonly run: number;
}

/** A larger payload is refused: the payload and the rest of the task must fit into one DynamoDB item of 400 KB. */
export const PAYLOAD_MAX_BYTES = 256 * 1_024;
/** A larger result is not stored, only its size: the result is stored in the task row. */
export const RESULT_MAX_BYTES = 256 * 1_024;

/** Identifies a payload's exact text. 132 bits are enough to distinguish the payloads of one id. */
export const payloadHashOf = (payload: string): string => digest(payload).slice(0, 22);

/** The item of a downstream call, with its payload as sent. */
export const printItem = (id: TaskId, payload: string): string => `{"id":${JSON.stringify(id)},"payload":${payload}}`;

/** Bytes that {@link printItem} adds to a call's body, including the comma after it. */
export const itemBytes = (id: TaskId, payload: string): number => Buffer.byteLength(printItem(id, payload)) + 1;

/** The fields that must be equal for two messages with one id to describe the same task. */
type Identity = Pick<NewTask, 'operation' | 'payloadHash' | 'fanOutItem'>;

/**
 * Whether a message describes the task that is stored under its id. If not, the id is used twice: the message is
 * refused, and the stored task stays. A different fan-out item counts too: no task would ever ack it.
 */
export const isSameTask = (stored: Identity, sent: Identity): boolean =>
  stored.operation === sent.operation &&
  stored.payloadHash === sent.payloadHash &&
  (sent.fanOutItem === undefined || stored.fanOutItem === sent.fanOutItem);

/** The payload row that a task's result must name, if the task has such a row. */
export const payloadRowOf = ({ payloadApart, payloadHash, run }: Task): Pick<TaskResult, 'payloadRow'> =>
  payloadApart ? { payloadRow: { payloadHash, run } } : {};

/**
 * The number of the first run of a task that is registered at `createdAt`. An id may be used again once its task has
 * expired. The new task's runs have other numbers, so that no row, message or event of the earlier task refers to the
 * new one.
 */
export const firstRun = (createdAt: Millis): number => createdAt;

/**
 * Run numbers below this value are of release 0.2.0, which counted from 1. Later run numbers begin with the
 * registration time in ms, which is larger. No task is redriven often enough for a count to reach this value.
 */
const COUNTED_BELOW = 1_000_000_000;

const firstRunOf = ({ run, createdAt }: Pick<Task, 'run' | 'createdAt'>): number =>
  run < COUNTED_BELOW ? 1 : firstRun(createdAt);

/** The number of a task's run as users see it: 1, plus one for each redrive. */
export const runNumber = (task: Pick<Task, 'run' | 'createdAt'>): number => task.run - firstRunOf(task) + 1;

/** The stored number of a run. `named` is either that number, or the number as users see it. */
export const storedRun = (task: Pick<Task, 'run' | 'createdAt'>, named: number): number =>
  named < COUNTED_BELOW ? firstRunOf(task) + named - 1 : named;

/**
 * Whether the run that follows `run` began at `at`. A repeated redrive request recognises by this that an earlier
 * request started the run.
 */
export const isRedriveOf = (run: number, at: Millis, task: Task): boolean =>
  task.run === run + 1 && task.redrivenAt === at;

/** Whether a task ended in run `run` while it waited. */
export const isSettledIn = (run: number | undefined, { run: shown, state }: Pick<Task, 'run' | 'state'>): boolean =>
  run === shown && hasEnded(state) && state.batchId === undefined;
