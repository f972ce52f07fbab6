/**
 * The rows of the table Batch: the key is the batch id, and a row holds everything about the batch, so that one read
 * shows its state.
 */
import type { Batch, Counts, Held, LastAttempt, Pending } from '../domain/batches/batch.ts';
import type { CallRecord } from '../domain/batches/call-record.ts';
import type { Suspicion } from '../domain/batches/suspicion.ts';
import { whyOf } from '../domain/downstream/downstream.ts';
import { type BatchId, type Millis, operationOf, type Target } from '../domain/ids.ts';
import type { Grant } from '../domain/limits/bucket.ts';
import type { FormingBatch, UnderWay } from '../ports/batches.ts';
import { type Attributes, type Item, read, written } from './item.ts';
import { readable, versionOf } from './row-version.ts';

export const batchKey = (id: BatchId): Item => ({ BatchId: id });

const GRANT: Attributes<Grant> = { bucket: 'B', at: 'A', line: 'L', weight: 'W', lease: 'I' };
export const grantItem = (grant: Grant): Item => written(GRANT, grant);

const FORMING: Attributes<Omit<FormingBatch, 'grants'>> = {
  id: 'BatchId',
  target: 'Target',
  sealedBy: 'SealedBy',
  candidates: 'Candidates',
  oldestAt: 'OldestAt',
  createdAt: 'CreatedAt',
  slotPage: 'SlotPage',
  targetPage: 'TargetPage',
};

/**
 * The fields that a row holds as they are. A row has nested items too, and rows of earlier releases lack some fields.
 */
const BATCH: Attributes<
  Omit<
    Batch,
    'dropped' | 'countedAttempts' | 'pending' | 'suspicion' | 'held' | 'lastAttempt' | 'counts' | 'calls' | 'grants'
  >
> = {
  ...FORMING,
  operation: 'Operation',
  status: 'Status',
  attempt: 'Attempt',
  runUntil: 'RunUntil',
  uncounted: 'Uncounted',
  startedBy: 'StartedBy',
  open: 'Open',
  split: 'Split',
  parts: 'Parts',
  partFailures: 'PartFailures',
  spared: 'Spared',
  sealedAt: 'SealedAt',
  startedAt: 'StartedAt',
  finishedAt: 'FinishedAt',
};

export const newBatchRow = ({ slotPage, grants, ...batch }: FormingBatch): Item => ({
  ...written(FORMING, { ...batch, ...(slotPage ? { slotPage } : {}) }),
  ...(grants ? { Grants: grants.map(grantItem) } : {}),
  Operation: operationOf(batch.target),
  Status: 'forming',
  Attempt: 0,
  Tries: 0,
  RunUntil: 0,
  Version: versionOf('batch'),
});

const PENDING: Attributes<Pending> = { ids: 'Ids', until: 'Until' };
export const pendingItem = (pending: Pending): Item => written(PENDING, pending);

const SUSPICION: Attributes<Suspicion> = {
  recoveries: 'Recoveries',
  proofs: 'Proofs',
  isExtended: 'Extended',
  inVain: 'InVain',
};
export const suspicionItem = (suspicion: Suspicion): Item => written(SUSPICION, suspicion);

const LAST_ATTEMPT: Attributes<LastAttempt> = {
  attempt: 'Attempt',
  endedAt: 'EndedAt',
  reason: 'Reason',
  quote: 'Quote',
  open: 'Open',
  pending: 'Pending',
};
/**
 * The item of the last attempt. It stays after the batch's end, because removing it would not make the write cheaper.
 */
export const lastAttemptItem = (attempt: LastAttempt): Item => written(LAST_ATTEMPT, attempt);

/** Short names, because each write of the row pays for all of its calls. */
const CALL: Attributes<Omit<CallRecord, 'isError'>> = {
  attempt: 'N',
  at: 'A',
  took: 'T',
  reason: 'R',
  quote: 'Q',
  items: 'I',
  members: 'M',
};
/** The calls, oldest first. A call whose reason is that of the call before it does not repeat the reason. */
export const callItems = (calls: readonly CallRecord[]): readonly Item[] =>
  calls.map(({ isError, ...call }, index) => {
    const { R, Q, ...rest } = written(CALL, call);
    const before = calls[index - 1];
    const isAsBefore = before !== undefined && before.reason === call.reason && before.quote === call.quote;
    return {
      ...rest,
      ...(isAsBefore ? {} : { R, ...(Q === undefined ? {} : { Q }) }),
      ...(isError ? { E: true } : {}),
    };
  });

const callsOf = (items: readonly Item[]): readonly CallRecord[] => {
  const calls: CallRecord[] = [];
  for (const item of items) {
    const before = calls.at(-1);
    const why = item.R === undefined && before ? whyOf(before) : {};
    calls.push({ ...read(CALL, item), ...why, isError: item.E ?? false });
  }
  return calls;
};

const COUNTS: Attributes<Counts> = { succeeded: 'Succeeded', failed: 'Failed' };
export const countsItem = (counts: Counts): Item => written(COUNTS, counts);

const HELD: Attributes<Held> = { by: 'HeldBy', span: 'HeldSpan' };

/** @throws NewerRow */
export const batchOf = (stored: Item): Batch => {
  const row = readable('batch', stored);
  return {
    ...read(BATCH, row),
    dropped: row.Dropped ?? [],
    // Rows without `Tries` are from a release in which every attempt counted.
    countedAttempts: row.Tries ?? row.Attempt,
    ...(row.Pending === undefined ? {} : { pending: read(PENDING, row.Pending) }),
    ...(row.Suspicion === undefined ? {} : { suspicion: read(SUSPICION, row.Suspicion) }),
    ...(row.HeldBy === undefined ? {} : { held: { ...read(HELD, row), isUncounted: row.HeldUncounted ?? false } }),
    ...(row.LastAttempt === undefined ? {} : { lastAttempt: read(LAST_ATTEMPT, row.LastAttempt) }),
    ...(row.Counts === undefined ? {} : { counts: read(COUNTS, row.Counts) }),
    ...(row.Grants === undefined ? {} : { grants: (row.Grants as readonly Item[]).map((each) => read(GRANT, each)) }),
    ...(row.Calls === undefined ? {} : { calls: callsOf(row.Calls) }),
  };
};

/**
 * An entry of the index of batches under way. Empty if its batch is finished: a function of release 0.2.0 does not remove
 * it from the index, but its write sets `ExpiresAt`.
 */
export const underWayOf = (row: Item): readonly UnderWay[] => {
  if (row.ExpiresAt !== undefined) return [];
  const last = row.LastAttempt === undefined ? undefined : read(LAST_ATTEMPT, row.LastAttempt as Item);
  const tasks = last?.open ?? (row.TaskCount as number | undefined);
  return [
    {
      id: row.BatchId as BatchId,
      target: row.Target as Target,
      oldestAt: row.OldestAt as Millis,
      ...(tasks === undefined ? {} : { tasks }),
      ...(last ? { lastAttempt: last } : {}),
    },
  ];
};
