/**
 * The tables in memory, and a watcher that is called after every write. Verification checks its invariants in the
 * watcher.
 */
import type { Batch } from '../domain/batches/batch.ts';
import type { Lock } from '../domain/batches/lock.ts';
import type { Waiting } from '../domain/batches/policy.ts';
import type { FanOutId } from '../domain/fan-out-ids.ts';
import type { FanOut, Node } from '../domain/fan-outs/fan-out.ts';
import type { Position } from '../domain/fan-outs/tree.ts';
import type { BatchId, Millis, OperationName, Target, TaskId, Token } from '../domain/ids.ts';
import type { Bucket } from '../domain/limits/bucket.ts';
import type { BucketId } from '../domain/limits/bucket-id.ts';
import type { WaitingCall } from '../domain/limits/queue.ts';
import type { ListId, Range } from '../domain/lists/ids.ts';
import type { StoredClaim } from '../domain/lists/list.ts';
import type { InputKey } from '../domain/merging/inputs.ts';
import type { Known } from '../domain/merging/merge.ts';
import type { SlotPage } from '../domain/operations/slot-pages.ts';
import type { OperationState, Slot, WaitingTarget } from '../domain/operations/slots.ts';
import type { NewTask, Task } from '../domain/tasks/task.ts';
import type { Reservation } from '../ports/fan-outs.ts';
import type { Append, JobResult, Taken } from '../ports/lists.ts';
import type { PatrolMark } from '../ports/locks.ts';
import { DYNAMODB, limited } from './limits.ts';
import { rowBehind } from './remembered.ts';

/** Called after each write, before the next write can happen. */
export interface Watcher {
  task?(before: Task | undefined, after: Task): void;
  payload?(id: TaskId): void;
  batch?(before: Batch | undefined, after: Batch): void;
  lock?(target: Target, before: Lock, after: Lock): void;
  rowDeleted?(target: Target, row: Waiting): void;
  operation?(operation: OperationName, before: OperationState, after: OperationState): void;
  /** Called when a page of slots beyond the first page changes. */
  slotPage?(page: OwnedPage, before: readonly Slot[]): void;
  /** Called when a Target enters or leaves the slot queue of this operation. */
  waitingTarget?(operation: OperationName): void;
  fanOut?(before: FanOut | undefined, after: FanOut): void;
  /** Called when a claim in a row of its own changes alone. */
  listClaims?(id: ListId): void;
  fanOutNode?(id: FanOutId, position: Position, before: Node | undefined, after: Node): void;
}

/** When rows expire, in seconds since the epoch. A row without a time to live has no entry. */
interface Expiries {
  readonly tasks: Map<TaskId, number>;
  readonly batches: Map<BatchId, number>;
  readonly locks: Map<Target, number>;
}

/** A page of slots beyond the first page. */
export interface OwnedPage extends SlotPage {
  /**
   * Whether the owner is an operation or a Target. The name alone does not show that, because an operation and a Target
   * may have the same name.
   */
  readonly of: 'operation' | 'target';
  readonly owner: string;
}

export interface StoredPayload {
  readonly text: string;
  /** When the task of this payload was registered. */
  readonly createdAt: Millis;
  /** The number of the task's last run that uses this payload. */
  readonly run: number;
  /** When the payload expires, in seconds since the epoch. Undefined while the payload has no time to live. */
  readonly expires?: number;
}

export interface Tables {
  readonly tasks: Map<TaskId, Task>;
  /** Payloads, by the task's id or by the key of a payload row. */
  readonly payloads: Map<string, StoredPayload>;
  readonly waiting: Map<Target, Map<string, Waiting>>;
  readonly locks: Map<Target, Lock>;
  readonly batches: Map<BatchId, Batch>;
  readonly expiries: Expiries;
  readonly operations: Map<OperationName, OperationState>;
  /** Pages of slots beyond the first page, by owner and number. */
  readonly slotPages: Map<string, OwnedPage>;
  /** The keys of all pages that an owner has or had. */
  readonly slotPageKeys: Map<string, Set<string>>;
  /** The waiting Targets of each operation, by their place in the slot queue. */
  readonly waitingTargets: Map<OperationName, Map<string, WaitingTarget>>;
  readonly buckets: Map<BucketId, Bucket>;
  /** The queue of each bucket, by entry. */
  readonly waitingCalls: Map<BucketId, Map<string, WaitingCall>>;
  /** Inputs that were processed, by their keys. */
  readonly processed: Map<Target, Map<InputKey, Known & { readonly until: Millis }>>;
  readonly fanOuts: Map<FanOutId, FanOut>;
  /** Nodes of fan-outs, by fan-out, level and number. */
  readonly fanOutNodes: Map<string, Node>;
  /** Reservations of fan-outs, by fan-out and token. */
  readonly reservations: Map<string, Reservation>;
  /**
   * Additions to deferred lists, by list and token. `first` is the number of the addition's first job, and is present
   * only after the addition was published.
   */
  readonly listAppends: Map<string, Append>;
  readonly listSegments: Map<string, Range & { readonly id: ListId; readonly token: Token }>;
  /** Jobs, by list, token and index within the addition. */
  readonly listJobs: Map<string, string>;
  readonly listTriggers: Map<string, Taken>;
  /** Claims in rows of their own, by list and claim. */
  readonly listClaims: Map<string, StoredClaim>;
  readonly listResults: Map<string, JobResult>;
  /** Number of attempts to claim a candidate. Refused attempts are included, because AWS charges for them. */
  claims: number;
  patrolMark: PatrolMark | undefined;
  watcher: Watcher;
  readonly newRows: () => Map<string, Waiting>;
  /** Whether a task's payload has a row of its own. */
  readonly isApart: (task: NewTask) => boolean;
}

/**
 * A payload has a row of its own if the row with this payload is longer than this number of characters. The limit is
 * low, so that short schedules have both kinds of rows. As in DynamoDB the whole row counts, so two messages with the
 * same payload may differ.
 */
const INLINE = 50;
const isLarge = ({ payload, correlationId = '' }: NewTask): boolean => payload.length + correlationId.length > INLINE;

type NewTable = <K, V>() => Map<K, V>;

/**
 * @param newTable creates a table. If reads may be behind, this is a {@link Remembered} table
 * @param newRows creates the table of a Target's waiting rows
 */
export const emptyTables = (
  newTable: NewTable = () => new Map(),
  { newRows = newTable, isApart = isLarge }: Partial<Pick<Tables, 'newRows' | 'isApart'>> = {},
): Tables => {
  const rows = <K extends string, V>(): Map<K, V> => limited(newTable());
  const plainRows = <K extends string, V>(): Map<K, V> => limited(new Map());
  return {
    newRows: () => limited(newRows(), DYNAMODB.sortKey),
    isApart,
    tasks: rows(),
    payloads: rows(),
    waiting: new Map(),
    locks: rows(),
    batches: rows(),
    expiries: { tasks: new Map(), batches: new Map(), locks: new Map() },
    operations: rows(),
    slotPages: rows(),
    slotPageKeys: new Map(),
    waitingTargets: new Map(),
    buckets: plainRows(),
    waitingCalls: new Map(),
    processed: new Map(),
    fanOuts: rows(),
    fanOutNodes: plainRows(),
    reservations: plainRows(),
    listAppends: plainRows(),
    listSegments: plainRows(),
    listJobs: plainRows(),
    listTriggers: plainRows(),
    listClaims: plainRows(),
    listResults: plainRows(),
    claims: 0,
    patrolMark: undefined,
    watcher: {},
  };
};

export const putTask = (tables: Tables, task: Task): void => {
  const before = tables.tasks.get(task.id);
  tables.tasks.set(task.id, task);
  tables.watcher.task?.(before, task);
};

/** The key of a payload's own row. */
export const payloadKey = ({ id, payloadHash }: Pick<Task, 'id' | 'payloadHash'>): string =>
  `${id}#payload#${payloadHash}`;

/** A task's payload, from the task's row or from a row of its own. */
export const payloadOf = (tables: Tables, task: Task): string | undefined =>
  tables.payloads.get(task.payloadApart ? payloadKey(task) : task.id)?.text;

export const putPayload = (tables: Tables, of: Pick<Task, 'id' | 'payloadHash'>, payload: StoredPayload): void => {
  tables.payloads.set(payloadKey(of), payload);
  tables.watcher.payload?.(of.id);
};

export const putBatch = (tables: Tables, batch: Batch): void => {
  const before = tables.batches.get(batch.id);
  tables.batches.set(batch.id, batch);
  tables.watcher.batch?.(before, batch);
};

/** The taken slots of an operation, on all pages. */
export const slotsIn = (tables: Tables, operation: OperationName): readonly Slot[] => [
  ...(tables.operations.get(operation)?.inFlight ?? []),
  ...pagesOf(tables, 'operation', operation).flatMap(({ slots }) => slots),
];

/**
 * The pages of an owner beyond the first page.
 * @param lag how long ago the pages were current, in ms
 */
export const pagesOf = (
  { slotPages, slotPageKeys }: Tables,
  of: OwnedPage['of'],
  owner: string,
  lag: Millis = 0,
): readonly OwnedPage[] =>
  [...(slotPageKeys.get(`${of} ${owner}`) ?? [])].flatMap((key) => rowBehind(slotPages, key, lag) ?? []);

/** Number of batches of a Target in flight, if they are counted. */
export const inFlightIn = (tables: Tables, target: Target): number =>
  pagesOf(tables, 'target', target).reduce(
    (sum, { slots }) => sum + slots.length,
    tables.locks.get(target)?.inFlight?.length ?? 0,
  );

export const slotPageKey = ({ of, owner, page }: Omit<OwnedPage, 'slots'>): string => `${of} ${owner}#${page}`;

export const putSlotPage = (tables: Tables, page: OwnedPage, before: readonly Slot[]): void => {
  const [owned, key] = [`${page.of} ${page.owner}`, slotPageKey(page)];
  tables.slotPageKeys.set(owned, (tables.slotPageKeys.get(owned) ?? new Set()).add(key));
  tables.slotPages.set(key, page);
  tables.watcher.slotPage?.(page, before);
};

export const putFanOut = (tables: Tables, fanOut: FanOut): void => {
  const before = tables.fanOuts.get(fanOut.id);
  tables.fanOuts.set(fanOut.id, fanOut);
  tables.watcher.fanOut?.(before, fanOut);
};

/** The key of a node's row. */
export const nodeKey = (id: FanOutId, { level, n }: Position): string => `${id}#${level}.${n}`;

export const putFanOutNode = (tables: Tables, id: FanOutId, position: Position, node: Node): void => {
  const key = nodeKey(id, position);
  const before = tables.fanOutNodes.get(key);
  tables.fanOutNodes.set(key, node);
  tables.watcher.fanOutNode?.(id, position, before, node);
};

export const putLock = (tables: Tables, target: Target, lock: Lock, before: Lock): void => {
  tables.locks.set(target, lock);
  tables.watcher.lock?.(target, before, lock);
};

/** A page of the items. The cursor is the position of the next item. */
export const pageOf = <T>(items: readonly T[], limit: number, cursor?: string): { items: T[]; cursor?: string } => {
  const from = Number(cursor ?? 0);
  const page = items.slice(from, from + limit);
  return from + limit < items.length ? { items: page, cursor: String(from + limit) } : { items: page };
};

export const newestFirst = <T>(items: readonly T[], at: (item: T) => Millis): T[] =>
  items.toSorted((a, b) => at(b) - at(a));
