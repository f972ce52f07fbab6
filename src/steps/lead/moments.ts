/**
 * The moments that a leader needs under its operation's limits before it opens a batch. If there are none, the
 * leader waits in the queue of a bucket: it keeps the lock, and its message ends. Tasks that arrive meanwhile still join
 * the batch.
 *
 * Three messages may drive the Target again: a hint with moments from the granter, a hint that only asks to look again,
 * and the guard, in case the others are lost. The guard comes after a quarter of an hour at the latest. Only the function
 * that handles a guard sends it again, so there is one.
 */
import type { Lock } from '../../domain/batches/lock.ts';
import { firstExpiry, type Waiting, weightOf } from '../../domain/batches/policy.ts';
import { type Millis, operationOf } from '../../domain/ids.ts';
import { type Asked, countsWeight, type Grant, startOf } from '../../domain/limits/bucket.ts';
import { type Counted, countedIn, isLimited, leaseOf } from '../../domain/limits/limits.ts';
import { horizonOf } from '../../domain/limits/queue.ts';
import { delayPast, delaySeconds, LIMITED_LEASE, LOOK_AGAIN, MINUTE, SECOND, SOON } from '../../domain/timings.ts';
import { reportDelay } from '../limits/delay.ts';
import { joinQueue } from '../limits/join.ts';
import { endLeases } from '../limits/leases.ts';
import { leaseTime, SOONEST } from '../limits/plan.ts';
import { type Taken, take } from '../limits/take.ts';
import { freeSlotsOf } from '../slots/operation-slots.ts';
import { operationOfTurn, type Turn } from './turn.ts';

/** A batch is sealed this long before its call, in ms. Until then, tasks that arrive still join it. */
const SEALED_AHEAD: Millis = SECOND;
/** If the next moment is this near, in ms, the leader sleeps in its function. Otherwise it waits in a queue. */
const REACH: Millis = SEALED_AHEAD + 1.5 * SECOND;

/** The moments of a batch, and its rows: those whose weight was granted. */
interface Ready {
  readonly grants: readonly Grant[];
  readonly rows: readonly Waiting[];
}

/**
 * @returns what is ready; `waits` if the Target waits for a moment; `blocked` if the operation is paused or has no free
 *   slot, so that the Target must wait for that first; `again` if the lock and the rows must be read again.
 */
export const momentsFor = async (
  turn: Turn,
  lock: Lock,
  rows: readonly Waiting[],
): Promise<Ready | 'waits' | 'blocked' | 'again'> => {
  const { deps, message } = turn;
  const { target } = message;
  const operation = operationOfTurn(turn);
  if (!isLimited(operation)) return { grants: [], rows };
  const isAsleep = lock.lockedUntil - leaseOf(operation) > deps.machine.now() + SOON;
  const isCalled = turn.granted?.round === lock.round;
  if (!isCalled) turn.granted = undefined;
  const held = isCalled && turn.granted ? turn.granted.grants : [];
  // Without moments, a hint only concerns a leader that sleeps until its batch is due.
  if (message.hint && !isCalled && !turn.hasOpened && !isAsleep) return 'waits';
  // Look for a slot first: a moment lapses while the Target waits for a slot.
  if ((await freeSlotsOf(deps, operation.operation)).free === 0) return 'blocked';
  if (isCalled) turn.granted = undefined;
  const counted = countedIn(deps.config, operation, target, deps.machine.random, held);
  const fitting = rowsWithin(rows, grantedWeight(counted, held));
  // A task with a higher priority may have become the first one. If it is heavier than the grant, take another one.
  if (fitting.length === 0) await endLeases(deps, held);
  const [kept, those] = fitting.length === 0 ? [[], rows] : [held, fitting];
  const calls = counted.map(({ bucket, allows }): Asked => ({ bucket, allows, weight: weightOf(those) }));
  // While no Target waits, a leader takes moments as far ahead as the granter would.
  const reach = Math.max(REACH, Math.min(...counted.map(({ allows }) => horizonOf(allows))));
  const terms = { held: kept, ahead: SOONEST, reach, leaseFor: leaseTime(deps.config) };
  const soonest = deps.buckets.now() + SOONEST;
  const taken = await take(deps, calls, terms);
  if (taken.is === 'taken') {
    const { grants } = taken;
    reportDelay(deps, { grants, held: kept, soonest }, operation.operation, oldestOf(those));
    return whenDue(turn, lock, grants, those);
  }
  if (!(await keepLeading(turn, lock, rows, isAsleep))) return 'again';
  await queueUp(turn, lock, rows, taken);
  return 'waits';
};

/** The weight that the moments allow. Without a limit by weight, any. */
const grantedWeight = (counted: readonly Counted[], held: readonly Grant[]): number => {
  const byWeight = new Set(counted.filter(({ allows }) => countsWeight(allows)).map(({ bucket }) => bucket));
  return Math.min(
    Number.POSITIVE_INFINITY,
    ...held.filter(({ bucket }) => byWeight.has(bucket)).map((each) => each.weight),
  );
};

/** The first rows whose weight is at most `most`. More tasks may have arrived since the weight was granted. */
const rowsWithin = (rows: readonly Waiting[], most: number): readonly Waiting[] => {
  let sum = 0;
  const end = rows.findIndex(({ weight }) => {
    sum += weight;
    return sum > most;
  });
  return end === -1 ? rows : rows.slice(0, end);
};

/**
 * Waits until the batch should be sealed. A longer wait goes through the queue. After a wait, the rows are read again,
 * because tasks have arrived.
 */
const whenDue = async (
  turn: Turn,
  lock: Lock,
  grants: readonly Grant[],
  rows: readonly Waiting[],
): Promise<Ready | 'waits' | 'again'> => {
  const { deps, message } = turn;
  const { buckets, machine, queues } = deps;
  const { round } = lock;
  const granted = { ...(message.granted?.round === round ? message.granted : {}), grants, round };
  const wait = startOf(grants) - SEALED_AHEAD - buckets.now();
  if (wait > REACH) {
    if (!(await keepLeading(turn, lock, rows, false))) return 'again';
    const { target, fence, token } = message;
    await queues.group({ target, fence, token, hint: true, granted }, delaySeconds(wait - SECOND));
    return 'waits';
  }
  if (wait <= 0) return { grants, rows };
  await machine.sleep(wait);
  turn.granted = granted;
  return 'again';
};

/**
 * Prepares for the end of this function while the Target waits: the lease of the lock is long enough, and the guard is
 * sent, so that the Target is not forgotten.
 *
 * @returns false if another function has changed the lock, so that it must be read again.
 */
const keepLeading = async (
  { deps, message }: Turn,
  lock: Lock,
  rows: readonly Waiting[],
  isAsleep: boolean,
): Promise<boolean> => {
  const { locks, queues, machine } = deps;
  const { target, fence, token } = message;
  const now = machine.now();
  const until = now + LIMITED_LEASE;
  // The end of the lease shows other functions that this leader no longer sleeps until its batch is due.
  if ((isAsleep || lock.lockedUntil < until - MINUTE) && !(await locks.extend(target, { fence, token }, until)))
    return false;
  if (!message.hint) {
    const lookAt = Math.min(firstExpiry(rows), now + LOOK_AGAIN);
    await queues.group({ target, fence, token }, delayPast(lookAt, now));
  }
  return true;
};

const oldestOf = (rows: readonly Waiting[]): Millis => Math.min(...rows.map(({ at }) => at));

/** Waits in the queue of a bucket. */
const queueUp = (
  { deps, message: { target, token, granted } }: Turn,
  { round }: Lock,
  rows: readonly Waiting[],
  { asked, bucket }: Extract<Taken, { is: 'busy' }>,
): Promise<void> =>
  joinQueue(deps, asked.bucket, bucket, 'fresh', {
    operation: operationOf(target),
    target,
    since: oldestOf(rows),
    leader: { token, round, turn: granted?.round === round ? (granted.turn ?? 0) : 0 },
    weight: asked.weight,
  });
