/**
 * The capacity units that DynamoDB charges for each call of a port, as src/aws makes it. Each write of a task's row
 * takes one unit, since a large payload has a row of its own. So does each write of a waiting row. A batch's row grows
 * with its candidates.
 */

import type { OpenTask } from '../domain/batches/members.ts';
import type { Waiting } from '../domain/batches/policy.ts';
import { type BatchId, operationOf, type Target, type TaskId } from '../domain/ids.ts';
import type { SlotPage } from '../domain/operations/slot-pages.ts';
import type { Batches } from '../ports/batches.ts';
import type { Locks } from '../ports/locks.ts';
import type { Operations } from '../ports/operations.ts';
import type { Tasks } from '../ports/tasks.ts';
import type { WaitingTasks } from '../ports/waiting.ts';
import { newBatchRow } from '../rows/batch-rows.ts';
import { itemSize, readUnits, writeUnits } from '../rows/item-size.ts';
import { groupBy } from '../util/group-by.ts';

/** Units of one table: of rows of one Target, which share a partition key, or of rows that are spread. */
export interface Spent {
  readonly table: 'task' | 'batch-lock' | 'batch' | 'fleet';
  readonly partition?: Target | string;
  readonly write?: number;
  readonly read?: number;
}

/** A call of a port. */
type Call = (...args: never[]) => Promise<unknown>;

/** The price of each call. If a call failed, its answer is unknown, and all of it may have happened. */
export type Prices<Port> = {
  readonly [Name in keyof Port]?: Port[Name] extends Call
    ? (args: Parameters<Port[Name]>, answer: Awaited<ReturnType<Port[Name]>> | undefined) => readonly Spent[]
    : never;
};

const task = (units: Omit<Spent, 'table'>): readonly Spent[] => [{ table: 'task', ...units }];
const ofTarget = (partition: Target | string, units: Omit<Spent, 'table' | 'partition'>): readonly Spent[] => [
  { table: 'batch-lock', partition, ...units },
];

/** Size of a payload's row beside the payload, in bytes: its key, its run and its time. */
const PAYLOAD_ROW_BYTES = 150;

/** Read units of payloads that have rows of their own, strongly consistent. */
const payloadReads = (open: readonly OpenTask[]): number =>
  open.reduce(
    (sum, { payload, payloadRow }) =>
      sum + (payloadRow ? readUnits(Buffer.byteLength(payload) + PAYLOAD_ROW_BYTES) : 0),
    0,
  );

/** Row sizes that later writes are charged for. The code that deletes a row removes its entry. */
export interface RowSizes {
  /** Bytes of batches' rows when they were formed. */
  readonly batches: Map<BatchId, number>;
  /** Write units of payloads that have rows of their own. */
  readonly payloads: Map<TaskId, number>;
}

const tasks = (sizes: RowSizes): Prices<Tasks> => ({
  // A refused insert costs a read as well.
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
  // A failed task gets an entry in the index of failed tasks. A payload row gets a time to live.
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
 * Size of a waiting row beside its keys, in bytes: attribute names, the prefix of an entry, a time, bytes and a
 * version.
 */
const WAITING_ROW_BYTES = 42;
const waitingBytes = (target: Target, rows: readonly Waiting[]): number =>
  rows.reduce((sum, { entry }) => sum + entry.length + target.length + WAITING_ROW_BYTES, 0);
/** Bytes of an entry that is not read. */
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
  // A new Target gets its row, and an entry in the index of Targets. All Targets of an operation share that entry's
  // key.
  enlist: ([targets]) =>
    targets.flatMap((target) => [
      ...ofTarget(target, { write: 1 }),
      ...ofTarget(`index:${operationOf(target)}`, { write: 1 }),
    ]),
  readEventually: ([target]) => ofTarget(target, { read: 0.5 }),
  acquire: write,
  release: write,
  block: write,
  blockUnled: write,
  handOver: write,
  openBatch: write,
  closeBatch: write,
  releaseSlot: write,
  skipFence: write,
  // The index of Targets has only keys, of about 100 bytes.
  targets: (_, page) => [{ table: 'batch-lock', read: readUnits((page?.items.length ?? 0) * 100, false) }],
};

const ofOperation = ([operation]: readonly [string, ...unknown[]]) => ofTarget(`op:${operation}`, { write: 1 });
const readOfOperation = ([operation]: readonly [string, ...unknown[]]) => ofTarget(`op:${operation}`, { read: 1 });
const SLOT_PAGE_BYTES = 60;
/** Sixteen pages of slots share a partition. */
const slotReads = (operation: string, pages: readonly SlotPage[], isStrong: boolean): readonly Spent[] =>
  [...groupBy(pages, ({ page }) => slotKey(operation, page))].flatMap(([key, together]) => {
    const bytes = together.reduce((sum, { slots }) => sum + SLOT_PAGE_BYTES + slots.join('').length, 0);
    return ofTarget(key, { read: readUnits(bytes, isStrong) });
  });
/** Ten slots of Targets with short names fit into one unit. */
const slotWrite = (operation: string, page = 0): readonly Spent[] =>
  ofTarget(page === 0 ? `op:${operation}` : slotKey(operation, page), { write: 1 });
const slotKey = (operation: string, page: number): string => `op:${operation}#${Math.floor((page - 1) / 16)}`;
/** Bytes of a queue row: its key with its operation and Target, both again, a time, a fence and a version. */
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
  reserveCall: ofOperation,
};

/** Bytes that sealing, starting and finishing add to a batch's row. */
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

/** All prices of a deployment. @param sizes is updated by the calls. */
export const pricesOf = (sizes: RowSizes) => ({
  tasks: tasks(sizes),
  waiting,
  locks,
  operations,
  batches: batches(sizes),
});

/**
 * The port, with `spend` called for each priced call. A call in which its function dies never returns, and is not
 * counted.
 *
 * @param spend may let the caller wait for capacity before the call returns.
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
 * The port for callers that may be throttled. `spend` is called before each call, with the most that the call may cost.
 * If `spend` rejects, the call is not made.
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
