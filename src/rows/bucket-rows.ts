/**
 * The rows of buckets, in the table BatchLock: a bucket's row, and the rows of its queue. Their partition cannot be a
 * Target's or an operation's, because it begins with `limit:`.
 */
import { expiresAt } from '../domain/expiry.ts';
import type { Millis } from '../domain/ids.ts';
import {
  type Bucket,
  type Granter,
  type LastGrant,
  type Lease,
  NEW_BUCKET,
  type Passed,
} from '../domain/limits/bucket.ts';
import type { BucketId } from '../domain/limits/bucket-id.ts';
import { groupOf } from '../domain/limits/limits.ts';
import type { Line, Pace, Starts } from '../domain/limits/line.ts';
import type { WaitingCall } from '../domain/limits/queue.ts';
import { MINUTE } from '../domain/timings.ts';
import { type Attributes, type Item, read, written } from './item.ts';
import { readable, versionOf } from './row-version.ts';

const BUCKET_ENTRY = 'bucket';
const QUEUE_PREFIX = 'queue#';
/** How long an idle bucket and its queue rows are kept: longer than any `per`, so that no start is forgotten too early. */
const KEPT: Millis = 7 * 24 * 60 * MINUTE;

export const bucketKey = (id: BucketId): Item => ({ Target: id, Entry: BUCKET_ENTRY });

const STATE: Attributes<Pick<Bucket, 'turn' | 'by' | 'segment' | 'recent'>> = {
  turn: 'Turn',
  by: 'WrittenBy',
  segment: 'Segment',
  recent: 'Recent',
};
const LINE: Attributes<Omit<Line, 'pace' | 'starts'>> = { since: 'Since', callsAt: 'CallsAt', weightAt: 'WeightAt' };
const PACE: Attributes<Pace> = { calls: 'Calls', weight: 'Weight', per: 'Per', burst: 'Burst' };
const STARTS: Attributes<Starts> = { at: 'A', calls: 'C', weight: 'W' };
const LEASE: Attributes<Lease> = { id: 'I', weight: 'W', until: 'U' };
const PASSED: Attributes<Passed> = { again: 'A', fresh: 'F' };
const GRANTER: Attributes<Granter> = { id: 'Id', at: 'At' };
const LAST: Attributes<Pick<LastGrant, 'id'>> = { id: 'Id' };

export const bucketItem = (
  id: BucketId,
  { line, leases, passed, granter, last, ...state }: Bucket,
  now: Millis,
): Item => ({
  ...bucketKey(id),
  ...written(STATE, state),
  ...(line
    ? {
        Line: {
          ...written(LINE, line),
          Pace: written(PACE, line.pace),
          Starts: line.starts.map((each) => written(STARTS, each)),
        },
      }
    : {}),
  ...(leases.length > 0 ? { Leases: leases.map((each) => written(LEASE, each)) } : {}),
  Passed: written(PASSED, passed),
  ...(granter ? { Granter: written(GRANTER, granter) } : {}),
  ...(last ? { Last: { ...written(LAST, last), From: written(PASSED, last.from) } } : {}),
  // Lists the buckets of a limit in the index of Targets.
  Operation: groupOf(id),
  ExpiresAt: expiresAt(now, KEPT),
  Version: versionOf('bucket'),
});

/** @throws NewerRow */
export const bucketOf = (stored: Item | undefined): Bucket => {
  if (stored === undefined) return NEW_BUCKET;
  const row = readable('bucket', stored);
  return {
    ...read(STATE, row),
    ...(row.Line === undefined ? {} : { line: lineOf(row.Line) }),
    leases: ((row.Leases ?? []) as readonly Item[]).map((each) => read(LEASE, each)),
    passed: read(PASSED, row.Passed),
    ...(row.Granter === undefined ? {} : { granter: read(GRANTER, row.Granter) }),
    ...(row.Last === undefined ? {} : { last: { ...read(LAST, row.Last), from: read(PASSED, row.Last.From) } }),
  };
};

const lineOf = (item: Item): Line => ({
  ...read(LINE, item),
  pace: read(PACE, item.Pace),
  starts: (item.Starts as readonly Item[]).map((each) => read(STARTS, each)),
});

export const queueKey = (id: BucketId, entry: string): Item => ({ Target: id, Entry: `${QUEUE_PREFIX}${entry}` });

/** `Operation` would put the row into the index of Targets. */
const WAITING: Attributes<Omit<WaitingCall, 'entry' | 'leader' | 'batch'>> = {
  operation: 'WaitingFor',
  target: 'WaitingTarget',
  since: 'At',
  weight: 'Weight',
};
const LEADER: Attributes<NonNullable<WaitingCall['leader']>> = { token: 'T', round: 'R', turn: 'N' };
const BATCH: Attributes<NonNullable<WaitingCall['batch']>> = { id: 'B', attempt: 'N', turn: 'T' };

export const queueItem = (id: BucketId, { entry, leader, batch, ...waiting }: WaitingCall, now: Millis): Item => ({
  ...queueKey(id, entry),
  ...written(WAITING, waiting),
  ...(leader ? { Leader: written(LEADER, leader) } : {}),
  ...(batch ? { WaitingBatch: written(BATCH, batch) } : {}),
  ExpiresAt: expiresAt(now, KEPT),
  Version: versionOf('waiting call'),
});

/** @throws NewerRow */
export const waitingCallOf = (stored: Item): WaitingCall => {
  const row = readable('waiting call', stored);
  return {
    entry: (row.Entry as string).slice(QUEUE_PREFIX.length),
    ...read(WAITING, row),
    ...(row.Leader === undefined ? {} : { leader: read(LEADER, row.Leader) }),
    ...(row.WaitingBatch === undefined ? {} : { batch: read(BATCH, row.WaitingBatch) }),
  };
};
