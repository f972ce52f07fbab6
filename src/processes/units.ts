/**
 * The capacity units that DynamoDB charges for each call of a port, as src/aws makes it. Each write of a task's row
 * costs one unit, because a large payload has a row of its own. Each write of a waiting row also costs one unit. A
 * write of a batch's row costs more units if the batch has more candidates.
 */

import type { OpenTask } from '../domain/batches/members.ts';
import type { Waiting } from '../domain/batches/policy.ts';
import { type BatchId, operationOf, type Target, type TaskId } from '../domain/ids.ts';
import type { SlotPage } from '../domain/operations/slot-pages.ts';
import type { Batches } from '../ports/batches.ts';
import type { Buckets } from '../ports/buckets.ts';
import type { Locks } from '../ports/locks.ts';
import type { Operations } from '../ports/operations.ts';
import type { Tasks } from '../ports/tasks.ts';
import type { WaitingTasks } from '../ports/waiting.ts';
import { newBatchRow } from '../rows/batch-rows.ts';
import { itemSize, readUnits, writeUnits } from '../rows/item-size.ts';

/**
 * Units that are spent in one table, either on the rows of one Target, which share a partition key, or on rows with
 * many partition keys.
 */
export interface Spent {
  readonly table: 'task' | 'batch-lock' | 'batch' | 'fleet';
  readonly partition?: Target | string;
  readonly write?: number;
  readonly read?: number;
}

/** A method of a port. */
type Call = (...args: never[]) => Promise<unknown>;

/**
 * For each method of a port, the units that a call costs. After a failed call the answer is unknown, so the price is
 * that of a call that did everything.
 */
export type Prices<Port> = {
  readonly [Name in keyof Port]?: Port[Name] extends Call
    ? (args: Parameters<Port[Name]>, answer: Awaited<ReturnType<Port[Name]>> | undefined) => readonly Spent[]
    : never;
};

const task = (units: Omit<Spent, 'table'>): readonly Spent[] => [{ table: 'task', ...units }];
const ofTarget = (partition: Target | string, units: Omit<Spent, 'table' | 'partition'>): readonly Spent[] => [
  { table: 'batch-lock', partition, ...units },
];

/** Size of a payload's row without the payload, in bytes: its key, run and time. */
const PAYLOAD_ROW_BYTES = 150;

/** Read units for strongly consistent reads of the payloads that have rows of their own. */
const payloadReads = (open: readonly OpenTask[]): number =>
  open.reduce(
    (sum, { payload, payloadRow }) =>
      sum + (payloadRow ? readUnits(Buffer.byteLength(payload) + PAYLOAD_ROW_BYTES) : 0),
    0,
  );

/** Sizes of rows, which determine the price of later writes. The code that deletes a row removes its entry here. */
export interface RowSizes {
  /** Size of each batch's row when the batch was formed, in bytes. */
  readonly batches: Map<BatchId, number>;
  /** Write units of each payload that has a row of its own. */
  readonly payloads: Map<TaskId, number>;
}

const tasks = (sizes: RowSizes): Prices<Tasks> => ({
  // If an insert is refused, the task is read too.
  insert: ([all], answers = []) =>
    task({ write: all.length, read: answers.reduce((sum, { isNew }) => sum + (isNew ? 0 : 1), 0) }),
  storePayloads: ([all]) => {
    for (const { id, payload } of all)
      sizes.payloads.set(id, writeUnits(Buffer.byteLength(payload) + PAYLOAD_ROW_BYTES));
    return task({ write: all.reduce((sum, { id }) => sum + (sizes.payloads.get(id) ?? 0), 0) });
  },
  claim: ([all], answers = []) =>
    task({ write: all.length, read: answers.reduce((sum, isMine) => sum + (isMine ? 0 : 1), 0) }),
  members: ([ids], members) => task({ read: ids.length + payloadReads(members?.open ?? []) }),
  readEventually: ([ids], open = []) => task({ read: (ids.length + payloadReads(open)) / 2 }),
  // For a failed task, an entry is added to the index of failed tasks. For a payload row, a time to live is written.
  finish: ([results], answers = []) =>
    task({
      write: results.reduce(
        (sum, { id, outcome }) => sum + (outcome.status === 'failed' ? 2 : 1) + (sizes.payloads.get(id) ?? 0),
        0,
      ),
      read: answers.reduce((sum, status) => sum + (status === undefined ? 1 : 0), 0),
    }),
  settle: ([all]) => task({ write: all.reduce((sum, { as }) => sum + (as.status === 'failed' ? 2 : 1), 0) }),
  all: ([ids]) => task({ read: ids.length }),
  outlines: ([ids]) => task({ read: ids.length }),
  get: () => task({ read: 1 }),
});

/**
 * Size of a waiting row without its keys, in bytes: attribute names, the prefix of the sort key, the registration time,
 * the payload's size and a version.
 */
const WAITING_ROW_BYTES = 42;
const waitingBytes = (target: Target, rows: readonly Waiting[]): number =>
  rows.reduce((sum, { entry }) => sum + entry.length + target.length + WAITING_ROW_BYTES, 0);
/** Size of the entry in a waiting row's sort key, in bytes. Used where only the number of rows is known. */
const ENTRY_BYTES = 45;
const waiting: Prices<WaitingTasks> = {
  put: ([rows]) => {
    const byTarget = new Map<Target, number>();
    for (const { target } of rows) byTarget.set(target, (byTarget.get(target) ?? 0) + 1);
    return [...byTarget].flatMap(([target, write]) => ofTarget(target, { write }));
  },
  remove: ([target, entries]) => ofTarget(target, { write: entries.length }),
  first: ([target], rows = []) => ofTarget(target, { read: readUnits(waitingBytes(target, rows)) }),
  has: ([target]) => ofTarget(target, { read: 1 }),
  page: ([target], page) => ofTarget(target, { read: readUnits(waitingBytes(target, page?.items ?? []), false) }),
  count: ([target], count = 0) =>
    ofTarget(target, { read: readUnits(count * (WAITING_ROW_BYTES + ENTRY_BYTES + target.length), false) }),
};

const write = ([target]: readonly [Target, ...unknown[]]) => ofTarget(target, { write: 1 });
const locks: Prices<Locks> = {
  read: ([target]) => ofTarget(target, { read: 1 }),
  readAll: ([targets]) => targets.flatMap((target) => ofTarget(target, { read: 1 })),
  // A new Target costs a write of its lock row and one of its entry in the index of Targets. The index entries of all
  // Targets of an operation have the same partition key.
  enlist: ([targets]) =>
    targets.flatMap((target) => [
      ...ofTarget(target, { write: 1 }),
      ...ofTarget(`index:${operationOf(target)}`, { write: 1 }),
    ]),
  readEventually: ([target]) => ofTarget(target, { read: 0.5 }),
  acquire: write,
  extend: write,
  release: write,
  block: write,
  blockUnled: write,
  handOver: write,
  openBatch: write,
  closeBatch: write,
  releaseSlot: write,
  skipFence: write,
  // An entry in the index of Targets contains only keys, about 100 bytes.
  targets: (_, page) => [{ table: 'batch-lock', read: readUnits((page?.items.length ?? 0) * 100, false) }],
};

const ofOperation = ([operation]: readonly [string, ...unknown[]]) => ofTarget(`op:${operation}`, { write: 1 });
const readOfOperation = ([operation]: readonly [string, ...unknown[]]) => ofTarget(`op:${operation}`, { read: 1 });
const SLOT_PAGE_BYTES = 60;
/** Price of reading pages of slots. Sixteen pages share a partition. */
const slotReads = (operation: string, pages: readonly SlotPage[], isStrong: boolean): readonly Spent[] =>
  [...Map.groupBy(pages, ({ page }) => slotKey(operation, page))].flatMap(([key, together]) => {
    const bytes = together.reduce((sum, { slots }) => sum + SLOT_PAGE_BYTES + slots.join('').length, 0);
    return ofTarget(key, { read: readUnits(bytes, isStrong) });
  });
/** Price of writing a page. Ten slots of Targets with short names fit into one unit. */
const slotWrite = (operation: string, page = 0): readonly Spent[] =>
  ofTarget(page === 0 ? `op:${operation}` : slotKey(operation, page), { write: 1 });
const slotKey = (operation: string, page: number): string => `op:${operation}#${Math.floor((page - 1) / 16)}`;
/**
 * Size of a queue row, in bytes: its key with operation and Target, the operation and Target as attributes, a time, a
 * fence and a version.
 */
const WAITING_TARGET_BYTES = 150;
const operations: Prices<Operations> = {
  read: readOfOperation,
  slotPages: ([operation], pages = []) => slotReads(operation, pages, true),
  slotPagesEventually: ([operation], pages = []) => slotReads(operation, pages, false),
  slotPage: readOfOperation,
  waiting: ([operation], rows = []) =>
    ofTarget(`op:${operation}`, { read: readUnits(rows.length * WAITING_TARGET_BYTES) }),
  takeSlot: ([operation, , , page]) => slotWrite(operation, page),
  takeOnlyPage: ofOperation,
  noteCap: ofOperation,
  freeSlot: ([operation, , page]) => slotWrite(operation, page),
  isWaiting: readOfOperation,
  enqueue: ofOperation,
  dequeue: ofOperation,
  pause: ofOperation,
  resume: ofOperation,
  addFailure: ofOperation,
  markThrottled: ofOperation,
  resetFailures: ofOperation,
  markWaking: ofOperation,
};

const BUCKET_BYTES = 600;
const ofBucket = ([bucket]: readonly [string, ...unknown[]]) => ofTarget(bucket, { write: 1 });
const buckets: Prices<Buckets> = {
  read: ([bucket]) => ofTarget(bucket, { read: 1 }),
  write: ([bucket, , { line, leases }]) =>
    ofTarget(bucket, {
      write: writeUnits(BUCKET_BYTES + (line?.starts.length ?? 0) * 30 + leases.length * 45),
    }),
  enqueue: ofBucket,
  waiting: ([bucket], rows = []) => ofTarget(bucket, { read: readUnits(rows.length * 2 * WAITING_TARGET_BYTES) }),
};

/** Number of bytes by which a batch's row grows when the batch is sealed, started and finished. */
const [SEALED, STARTED, FINISHED] = [35, 75, 60];

const batches = ({ batches: sizes }: RowSizes): Prices<Batches> => {
  const grown = (id: BatchId, by: number): number => writeUnits((sizes.get(id) ?? 0) + by);
  const spent = (units: Omit<Spent, 'table'>): readonly Spent[] => [{ table: 'batch', ...units }];
  return {
    form: ([batch]) => {
      const bytes = itemSize(newBatchRow(batch));
      sizes.set(batch.id, bytes);
      return spent({ write: writeUnits(bytes) });
    },
    get: ([id]) => spent({ read: readUnits((sizes.get(id) ?? 0) + SEALED) }),
    // `SealedAt` adds an entry to the index of batches by Target.
    seal: ([{ id }]) => spent({ write: grown(id, SEALED) + 1 }),
    start: ([id]) => spent({ write: grown(id, SEALED + STARTED) }),
    postpone: ([id]) => spent({ write: grown(id, SEALED + STARTED + FINISHED) }),
    finish: ([id]) => spent({ write: grown(id, SEALED + STARTED + FINISHED) }),
  };
};

/** The prices of all ports of a deployment. @param sizes sizes of rows, which the prices use and update. */
export const pricesOf = (sizes: RowSizes) => ({
  tasks: tasks(sizes),
  waiting,
  locks,
  operations,
  buckets,
  batches: batches(sizes),
});

/**
 * Wraps a port so that `spend` is called after each call that has a price. If the function dies during a call, the call
 * never returns and is not counted.
 *
 * @param spend is called with the units of the call. It may wait for capacity before the call returns.
 */
export const charged = <Port extends object>(
  port: Port,
  prices: Prices<Port>,
  spend: (spent: readonly Spent[]) => Promise<void> | undefined,
): Port => {
  const metered = { ...port };
  for (const [name, price] of Object.entries(prices) as [keyof Port, AnyPrice][]) {
    const own = port[name] as unknown as (...args: unknown[]) => Promise<unknown>;
    const call = async (...args: unknown[]): Promise<unknown> => {
      let answer: unknown;
      try {
        answer = await own(...args);
      } catch (cause) {
        await spend(price(args, undefined));
        throw cause;
      }
      const wait = spend(price(args, answer));
      if (wait) await wait;
      return answer;
    };
    metered[name] = call as Port[typeof name];
  }
  return metered;
};

/**
 * Wraps a port for callers that may be throttled. `spend` is called before each call with the largest number of units
 * that the call may cost. If `spend` rejects, the call is not made.
 */
export const throttled = <Port extends object>(
  port: Port,
  prices: Prices<Port>,
  spend: (spent: readonly Spent[]) => Promise<void>,
): Port => {
  const metered = { ...port };
  for (const [name, price] of Object.entries(prices) as [keyof Port, AnyPrice][]) {
    const own = port[name] as unknown as (...args: unknown[]) => Promise<unknown>;
    const call = async (...args: unknown[]): Promise<unknown> => {
      await spend(price(args, undefined));
      return own(...args);
    };
    metered[name] = call as Port[typeof name];
  }
  return metered;
};

type AnyPrice = (args: readonly unknown[], answer: unknown) => readonly Spent[];
