/** Where a Target or batch stands in the queue of a limit, for people who ask what a task waits for. */
import type { Operation } from '../../domain/config/resolved.ts';
import type { BatchId, LimitName, Millis, Target } from '../../domain/ids.ts';
import { type Allowance, type Bucket, chanceIn, granted } from '../../domain/limits/bucket.ts';
import type { BucketId } from '../../domain/limits/bucket-id.ts';
import { bucketsOf } from '../../domain/limits/limits.ts';
import { plannedIn } from '../../domain/limits/line.ts';
import { ungranted, type WaitingCall, withoutRepeats } from '../../domain/limits/queue.ts';
import type { Deps } from '../deps.ts';
import { rowsOf } from './plan.ts';

/** Most rows of a queue that are read. */
const READ_MAX = 1_000;
/** Most buckets that are read. A limit for thousands of calls a second has a bucket for each 100 of them. */
const BUCKETS_MAX = 20;

/** A wait in the queue of a limit. */
export interface LimitWait {
  readonly limit: LimitName;
  readonly bucket: BucketId;
  /** The calls that go before it. */
  readonly before: number;
  /** When its call may start, if nothing else happens. Undefined if a call in progress has to end first. */
  readonly at?: Millis;
}

/**
 * The queue in which a Target waits, or a batch that calls again. Undefined if it waits in none, or in none that can be
 * read within {@link READ_MAX} rows.
 */
export const limitWaitOf = async (
  { buckets, config }: Pick<Deps, 'buckets' | 'config'>,
  operation: Operation,
  target: Target,
  batch?: BatchId,
): Promise<LimitWait | undefined> => {
  const isIts = (row: WaitingCall): boolean => row.target === target && row.batch?.id === batch;
  for (const { bucket: id, name, allows } of bucketsOf(config, operation, target).slice(0, BUCKETS_MAX)) {
    const bucket = await buckets.read(id);
    const rows = withoutRepeats(await rowsOf({ buckets }, id, bucket, ungranted, READ_MAX));
    const before = rows.findIndex(isIts);
    if (before >= 0)
      return { limit: name, bucket: id, before, ...startOf(bucket, id, allows, rows, before, buckets.now()) };
  }
  return undefined;
};

/** A limit whose queue a Target has left, because its call has been promised a start. */
export interface PlannedCall {
  readonly limit: LimitName;
  readonly bucket: BucketId;
  /** The last start that the limit has promised to any call. */
  readonly until: Millis;
}

/** The limit that has promised starts furthest ahead to calls of a Target. Undefined if none has. */
export const plannedCallOf = async (
  { buckets, config }: Pick<Deps, 'buckets' | 'config'>,
  operation: Operation,
  target: Target,
): Promise<PlannedCall | undefined> => {
  const now = buckets.now();
  const all = await Promise.all(
    bucketsOf(config, operation, target)
      .slice(0, BUCKETS_MAX)
      .map(async ({ bucket, name, allows }) => {
        const planned = plannedIn((await buckets.read(bucket)).line, allows, now);
        return planned ? [{ limit: name, bucket, until: planned.until }] : [];
      }),
  );
  return all.flat().toSorted((a, b) => b.until - a.until)[0];
};

/** When the call of a row may start, if all rows before it start as early as they may. */
const startOf = (
  seen: Bucket,
  id: BucketId,
  allows: Allowance,
  rows: readonly WaitingCall[],
  place: number,
  now: Millis,
): Pick<LimitWait, 'at'> => {
  let bucket = seen;
  let at = now;
  for (const { weight } of rows.slice(0, place + 1)) {
    const asked = { bucket: id, allows, weight };
    const chance = chanceIn(bucket, asked, now);
    if (chance.is === 'full') return {};
    at = chance.at;
    bucket = granted(bucket, asked, at, { id: '', until: Number.POSITIVE_INFINITY }, now).bucket;
  }
  return { at };
};
