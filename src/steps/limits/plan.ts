/** Plans a step of the granter: which of the next rows get which moments, and when the next step is due. */
import pLimit from 'p-limit';
import { type Batch, isFinished } from '../../domain/batches/batch.ts';
import type { Lock } from '../../domain/batches/lock.ts';
import { due, weightOf } from '../../domain/batches/policy.ts';
import { type Config, handlerTimeout, operationFor } from '../../domain/config/resolved.ts';
import type { Millis, OperationName, Token } from '../../domain/ids.ts';
import {
  type Bucket,
  chanceIn,
  countsWeight,
  type Grant,
  granted,
  hasLeases,
  type Passed,
  RECENT,
} from '../../domain/limits/bucket.ts';
import type { BucketId } from '../../domain/limits/bucket-id.ts';
import { allowedIn } from '../../domain/limits/limits.ts';
import {
  type Class,
  classOf,
  grantable,
  horizonOf,
  LEAD,
  passedAfter,
  ungranted,
  type WaitingCall,
} from '../../domain/limits/queue.ts';
import { pauseNow } from '../../domain/operations/slots.ts';
import { CLOCK_SKEW, SECOND } from '../../domain/timings.ts';
import type { LeadDeps } from '../deps.ts';

/** Most rows of one step, most batches that are read at once, and most Targets whose tasks are. */
const [AT_ONCE, READS_AT_ONCE, ROWS_AT_ONCE] = [100, 20, 5];
/** The shortest time from a grant to its moment, in ms: two messages have to arrive before the call. */
export const SOONEST: Millis = 700;

/** How long a call's lease lasts after its moment: no attempt runs longer, even if clocks differ. */
export const leaseTime = (config: Config): Millis => handlerTimeout(config) + 2 * CLOCK_SKEW + SECOND;

/** A row of the queue, with the lock of its Target, or with its batch. */
export interface Waiter {
  readonly row: WaitingCall;
  readonly lock?: Lock | undefined;
  readonly batch?: Batch | undefined;
}

/** What a step grants, and when the next one is due. */
export interface Step {
  readonly bucket: Bucket;
  readonly grants: readonly (Waiter & { readonly grant: Grant })[];
  /** Those who have to decide anew: their operation or Target is paused or has other limits, or no task is left. */
  readonly looks: readonly Waiter[];
  /** When the next step is due. Undefined if the queue is empty. */
  readonly nextAt?: Millis;
}

/** What the rows of a step are compared with. */
interface Around {
  readonly limit: ReturnType<typeof allowedIn>;
  readonly paused: ReadonlySet<OperationName>;
  readonly now: Millis;
}

/** @param handled the id of the chain's message that this function handles, if any. */
export const planStep = async (
  deps: LeadDeps,
  id: BucketId,
  seen: Bucket,
  handled: Token | undefined,
): Promise<Step> => {
  const { buckets, config, machine } = deps;
  const rows = await rowsOf(deps, id, seen, grantable, AT_ONCE);
  const [waiters, paused] = await Promise.all([waitersOf(deps, rows), pausedOf(deps, rows)]);
  const around: Around = { limit: allowedIn(config, id), paused, now: buckets.now() };
  const last = { id: handled ?? machine.token(), from: seen.passed };
  let step: Step = { bucket: { ...seen, segment: seen.segment + 1, last }, grants: [], looks: [] };
  for (let from = 0; from < waiters.length; from += ROWS_AT_ONCE) {
    const some = waiters.slice(from, from + ROWS_AT_ONCE);
    const needs = await Promise.all(some.map((waiter) => needOf(deps, waiter, around)));
    for (const [index, waiter] of some.entries()) {
      const next = withWaiter(deps, id, around, step, waiter, needs[index]);
      if (next.nextAt !== undefined) return next;
      step = next;
    }
  }
  const [more] = await rowsOf(deps, id, step.bucket, ungranted, 1);
  return more ? { ...step, nextAt: around.now + pauseBefore(step.bucket, more, around) } : step;
};

/**
 * When the next step grants rows of later segments, and further rows. If steps followed at once, functions that put
 * their rows meanwhile would often have to put others. But no call may be lost because a step comes late.
 */
const pauseBefore = (bucket: Bucket, { weight }: WaitingCall, { limit, now }: Around): Millis => {
  if (!limit) return 0;
  const chance = chanceIn(bucket, { bucket: limit.bucket, allows: limit.allows, weight }, now);
  return chance.is === 'free' && chance.at <= now + SECOND ? 0 : SECOND;
};

/**
 * The step with one more row. If this row has to wait, `nextAt` is set, and the row is not passed.
 *
 * @param weight for which the row asks now. Undefined if its Target has no tasks left.
 */
const withWaiter = (
  { config, machine }: LeadDeps,
  id: BucketId,
  { limit, paused, now }: Around,
  step: Step,
  waiter: Waiter,
  weight: number | undefined,
): Step => {
  const { bucket, grants, looks } = step;
  const { row } = waiter;
  const passed = { ...bucket.passed, [classOf(row)]: row.entry };
  const skipped: Step = { ...step, bucket: { ...bucket, passed } };
  const place = placeOf(row);
  const { recent = [] } = bucket;
  if (isVoid(waiter) || isRepeated(recent, place, now)) return skipped;
  const mustLook = weight === undefined || paused.has(row.operation) || waiter.lock?.paused !== undefined;
  if (mustLook || !limit?.operations.includes(row.operation)) return { ...skipped, looks: [...looks, waiter] };
  const { allows } = limit;
  const asked = { bucket: id, allows, weight };
  const chance = chanceIn(bucket, asked, now, now + SOONEST);
  if (chance.is === 'full') return { ...step, nextAt: chance.at };
  if (chance.at > now + horizonOf(allows)) {
    const ahead = hasLeases(allows) ? SECOND : LEAD;
    return { ...step, nextAt: Math.max(now + SECOND, chance.at - ahead) };
  }
  const lease = { id: machine.token(), until: chance.at + leaseTime(config) };
  const next = granted(bucket, asked, chance.at, lease, now);
  return {
    ...step,
    bucket: { ...next.bucket, passed, recent: [...recent, `${place}@${Math.ceil(chance.at)}`].slice(-RECENT) },
    grants: [...grants, { ...waiter, grant: next.grant }],
  };
};

/** Rows of both classes in order. */
export const rowsOf = async (
  { buckets }: Pick<LeadDeps, 'buckets'>,
  id: BucketId,
  bucket: Bucket,
  range: typeof grantable,
  limit: number,
): Promise<readonly WaitingCall[]> => {
  const of = (each: Class) => buckets.waiting(id, range(each, bucket), limit);
  const [again, fresh] = await Promise.all([of('again'), of('fresh')]);
  return [...again, ...fresh].slice(0, limit);
};

/** Those that were passed since `from`, and have not moved on. */
export const passedSince = async (
  deps: LeadDeps,
  id: BucketId,
  bucket: Bucket,
  from: Passed,
): Promise<readonly Waiter[]> => {
  const rows = await rowsOf(deps, id, bucket, (of) => passedAfter(of, from, bucket.passed), AT_ONCE);
  return (await waitersOf(deps, rows)).filter((each) => !isVoid(each));
};

/** Reads the locks of waiting Targets, and the batches of the others. */
const waitersOf = async ({ locks, batches }: LeadDeps, rows: readonly WaitingCall[]): Promise<readonly Waiter[]> => {
  const targets = [...new Set(rows.filter(({ leader }) => leader).map(({ target }) => target))];
  const read = targets.length > 0 ? await locks.readAll(targets) : [];
  const lockOf = new Map(targets.map((target, index) => [target, read[index]?.lock]));
  return pLimit(READS_AT_ONCE).map(rows, async (row) =>
    row.batch ? { row, batch: await batches.get(row.batch.id) } : { row, lock: lockOf.get(row.target) },
  );
};

const pausedOf = async (
  { operations, machine }: LeadDeps,
  rows: readonly WaitingCall[],
): Promise<ReadonlySet<OperationName>> => {
  const names = [...new Set(rows.map(({ operation }) => operation))];
  const states = await Promise.all(names.map((name) => operations.read(name)));
  return new Set(names.filter((_, index) => pauseNow(states[index] ?? {}, machine.now()) !== undefined));
};

/** Names one wait of a Target or batch. */
const placeOf = ({ leader, batch }: WaitingCall): string => {
  const { turn = 0 } = leader ?? batch ?? {};
  return `${leader ? `${leader.token}#${leader.round}` : `${batch?.id}#${batch?.attempt}`}#${turn}`;
};

/**
 * Whether the same wait has got its moment already: it may have put two rows, or its message was received twice. Only
 * until shortly after that moment, because the message that brings the moment may be lost.
 */
const isRepeated = (recent: readonly string[], place: string, now: Millis): boolean =>
  recent.some((each) => each.startsWith(`${place}@`) && now < Number(each.slice(place.length + 1)) + REPEATED);

/** How long after its moment a wait is recognised, in ms. */
const REPEATED: Millis = 30 * SECOND;

/** Whether a Target or batch has moved on since it put this row. */
const isVoid = ({ row, lock, batch }: Waiter): boolean =>
  row.leader
    ? lock?.holder !== row.leader.token || lock.round !== row.leader.round || lock.openBatch !== undefined
    : batch === undefined || isFinished(batch.status) || batch.attempt !== row.batch?.attempt;

/**
 * The weight to grant: a Target's batch may have become heavier while it waited. Undefined if the Target has no tasks
 * left, because they were cancelled or have expired.
 */
const needOf = async (
  { config, waiting, machine }: LeadDeps,
  { row: { operation, target, leader, weight } }: Waiter,
  { limit }: Around,
): Promise<number | undefined> => {
  if (!leader || !limit?.operations.includes(operation)) return weight;
  const { batch } = operationFor(config, operation);
  const matters = countsWeight(limit.allows);
  const rows = await waiting.first(target, matters ? batch.maxSize : 1);
  if (rows.length === 0) return undefined;
  if (!matters) return weight;
  const next = due(rows, batch, machine.now());
  return next.do === 'seal' ? weightOf(next.rows) : weight;
};
