/**
 * The moments that a sealed batch needs under its operation's limits. The leader that opened the batch took the
 * moments of the first call. Every later attempt takes others, and goes before batches that are not sealed yet.
 */
import type { Batch } from '../../domain/batches/batch.ts';
import { again, type DueMessage } from '../../domain/batches/messages.ts';
import type { Operation } from '../../domain/config/resolved.ts';
import type { Millis } from '../../domain/ids.ts';
import { type Asked, type Grant, isValid, startOf } from '../../domain/limits/bucket.ts';
import { allowedIn, countedIn, isLimited } from '../../domain/limits/limits.ts';
import { latenessOf } from '../../domain/limits/line.ts';
import { delaySeconds, SECOND } from '../../domain/timings.ts';
import type { CallDeps } from '../deps.ts';
import { reportDelay } from '../limits/delay.ts';
import { joinQueue, wakeIfChanged } from '../limits/join.ts';
import { countUse, endLeases, keepLeases } from '../limits/leases.ts';
import { leaseTime } from '../limits/plan.ts';
import { take } from '../limits/take.ts';
import { lookLater } from './hold.ts';
import type { Attempt } from './tally.ts';

/** A batch without a moment waits this long in its function, in ms, instead of in a queue. */
const REACH: Millis = SECOND;
/** A batch that waits in a queue looks again after this time, in s, in case a message was lost. */
const LOOK_AGAIN = 600;
/** The time from the last look at the bucket to the call, in ms. */
const START: Millis = 30;

/** @returns the moments of the next attempt, or `waits` if the batch waits for them. */
export const momentsFor = async (
  deps: CallDeps,
  message: DueMessage,
  batch: Batch,
  operation: Operation,
): Promise<readonly Grant[] | 'waits'> => {
  const { buckets, config, queues } = deps;
  if (!isLimited(operation)) return [];
  const held = heldBy(message, batch);
  const calls = askedBy(deps, batch, operation, held);
  const soonest = buckets.now() + START;
  const taken = await take(deps, calls, { held, ahead: START, reach: REACH, leaseFor: leaseTime(config) });
  if (taken.is === 'busy') {
    const { id, attempt, target, oldestAt } = batch;
    if (!message.granted) await lookLater(deps, message, batch, LOOK_AGAIN);
    const turn = message.granted?.attempt === attempt ? (message.granted.turn ?? 0) : 0;
    const waiting = { operation: operation.operation, target, since: oldestAt, batch: { id, attempt, turn } };
    await joinQueue(deps, taken.asked.bucket, taken.bucket, 'again', { ...waiting, weight: taken.asked.weight });
    return 'waits';
  }
  const { grants } = taken;
  reportDelay(deps, { grants, held, soonest }, operation.operation, batch.oldestAt);
  const wait = startOf(grants) - buckets.now();
  if (wait <= 2 * REACH) return grants;
  const before = message.granted?.attempt === batch.attempt ? message.granted : {};
  const granted = { ...before, grants, attempt: batch.attempt };
  await queues.batch({ ...again(message), granted }, delaySeconds(wait - REACH));
  return 'waits';
};

/** The moments that a batch has for its next attempt. The leader took those of the first attempt. */
const heldBy = ({ granted }: DueMessage, { attempt, grants = [] }: Batch): readonly Grant[] => [
  ...(granted?.attempt === attempt ? granted.grants : []),
  ...(attempt === 0 && !granted ? grants : []),
];

/** Ends the leases of a batch that cannot call now. Later it takes other moments. */
export const leaveMoments = async (deps: CallDeps, message: DueMessage, batch: Batch): Promise<void> => {
  const leased = withLease(heldBy(message, batch));
  if (leased.length === 0) return;
  // SQS may have delivered the message twice, and the other function may have begun an attempt with these moments.
  const stored = await deps.batches.get(batch.id);
  if (stored?.attempt === batch.attempt) await endLeases(deps, leased);
};

const withLease = (grants: readonly Grant[]): readonly Grant[] => grants.filter(({ lease }) => lease !== undefined);

const askedBy = (
  { config, machine }: CallDeps,
  { target, grants = [] }: Batch,
  operation: Operation,
  held: readonly Grant[],
): readonly Asked[] => {
  // The leader knew the weight of the batch. Without it, the batch may have any weight that the policy allows.
  const weight = grants[0]?.weight ?? Math.max(1, operation.batch.maxWeight);
  return countedIn(config, operation, target, machine.random, [...held, ...grants]).map(({ bucket, allows }) => ({
    bucket,
    allows,
    weight,
  }));
};

/**
 * Sleeps until the moment of the call.
 *
 * @returns false if the moment has lapsed, or the limit has changed.
 */
export const reachMoment = async (deps: CallDeps, grants: readonly Grant[]): Promise<boolean> => {
  const { buckets, config, machine } = deps;
  if (grants.length === 0) return true;
  const wait = startOf(grants) - START - buckets.now();
  if (wait > 0) await machine.sleep(wait);
  const read = await Promise.all(grants.map(async (grant) => ({ grant, bucket: await buckets.read(grant.bucket) })));
  await Promise.all(read.map(({ grant, bucket }) => wakeIfChanged(deps, grant.bucket, bucket)));
  const now = buckets.now();
  return read.every(({ grant, bucket }) => {
    const limit = allowedIn(config, grant.bucket);
    return limit === undefined || isValid(grant, bucket, limit.allows, now);
  });
};

/** Whether the first call of an attempt may still start. Sleeps for the rest of the time. */
export const mayStart = async ({ buckets, config, machine }: CallDeps, grants: readonly Grant[]): Promise<boolean> => {
  if (grants.length === 0) return true;
  const wait = startOf(grants) - buckets.now();
  if (wait > 0) await machine.sleep(wait);
  return grants.every(({ bucket, at }) => {
    const limit = allowedIn(config, bucket);
    return limit === undefined || buckets.now() <= at + latenessOf(limit.allows);
  });
};

/**
 * Takes moments for another call of an attempt, before waiting calls, and sleeps until then. The attempt keeps its
 * leases.
 *
 * @param weight of the tasks that the call contains.
 * @param most how long the attempt can wait, in ms.
 */
export const takeNext = async (
  deps: CallDeps,
  { batch, operation, grants, calling }: Pick<Attempt, 'batch' | 'operation' | 'grants' | 'calling'>,
  weight: number,
  most: Millis,
): Promise<boolean> => {
  const { buckets, machine } = deps;
  const calls = askedBy(deps, batch, operation, grants).flatMap(({ bucket, allows }) =>
    allows.calls === null && allows.weight === null
      ? []
      : [{ bucket, allows: { ...allows, concurrency: { calls: null, weight: null } }, weight }],
  );
  if (calls.length === 0) return true;
  const taken = await take(deps, calls, { ahead: 0, reach: most, isFirst: true, leaseFor: 0 });
  if (taken.is === 'busy') return false;
  calling.grants = taken.grants;
  const wait = startOf(taken.grants) - buckets.now();
  if (wait > 0) await machine.sleep(wait);
  return true;
};

/**
 * Counts the weight that a call really used, if its answer says so. If this fails, the call counts as it was granted: its
 * answer must not be lost.
 *
 * @returns the weight that counts. Undefined if no limit counts it.
 */
export const countUsage = async (
  deps: CallDeps,
  batch: Pick<Batch, 'id'>,
  grants: readonly Grant[],
  used: number | undefined,
): Promise<number | undefined> => {
  const counted = grants.filter(({ bucket }) => (allowedIn(deps.config, bucket)?.allows.weight ?? null) !== null);
  if (used !== undefined) for (const grant of counted) await orReport(deps, batch, () => countUse(deps, grant, used));
  return used !== undefined && counted.length > 0 ? used : counted[0]?.weight;
};

/** The moments of earlier attempts whose jobs may still report. */
export const momentsOfJobs = ({ pending, grants = [] }: Batch, now: Millis): readonly Grant[] =>
  pending && pending.until >= now ? withLease(grants) : [];

/** The moments to store when an attempt begins, because another function may end their leases. */
export const storedWith = (jobGrants: readonly Grant[], grants: readonly Grant[]): readonly Grant[] | undefined =>
  withLease(grants).length > 0 ? [...jobGrants, ...grants] : undefined;

/**
 * M6. Ends the leases of an attempt, except those of jobs that may still report: they count until the deadline.
 *
 * @param until the deadline of the batch's jobs. Undefined if none is under way.
 * @param hasTaken whether this attempt began a job.
 * @returns the moments whose leases were kept. Undefined if there is no job.
 */
export const settleAttempt = async (
  deps: CallDeps,
  { batch, jobGrants, grants }: Pick<Attempt, 'batch' | 'jobGrants' | 'grants'>,
  until: Millis | undefined,
  hasTaken: boolean,
): Promise<readonly Grant[] | undefined> => {
  const kept = until === undefined ? [] : hasTaken ? withLease([...jobGrants, ...grants]) : jobGrants;
  const ended = [...jobGrants, ...grants].filter((each) => !kept.includes(each));
  await settleLeases(deps, batch, ended);
  if (until === undefined) return undefined;
  if (hasTaken) await orReport(deps, batch, () => keepLeases(deps, kept, until));
  return kept;
};

/** Ends leases. If this fails, they end by themselves. */
export const settleLeases = (deps: CallDeps, batch: Pick<Batch, 'id'>, grants: readonly Grant[]): Promise<void> =>
  orReport(deps, batch, () => endLeases(deps, grants));

const orReport = async (
  { report }: CallDeps,
  { id: batchId }: Pick<Batch, 'id'>,
  act: () => Promise<void>,
): Promise<void> => {
  try {
    await act();
  } catch (cause) {
    report({ event: 'limit-not-written', batchId, cause: String(cause) });
  }
};
