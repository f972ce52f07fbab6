/**
 * Grants moments to those who wait in a bucket's queue.
 *
 * One chain of messages does this while any wait. Each step reads the bucket and the next rows, grants moments up to the
 * horizon in one write, and sends each Target or batch its message. The chain's next message is sent before the write,
 * so the chain does not break if the function dies. If it dies after the write, its own message is delivered again, and
 * those whose grants were lost are asked to look again. A call that ends its lease makes the same step in the write that
 * ends the lease, so that the next call begins at once.
 */
import pLimit from 'p-limit';
import type { Lock } from '../../domain/batches/lock.ts';
import type { GrantMessage } from '../../domain/batches/messages.ts';
import { due } from '../../domain/batches/policy.ts';
import { type Config, handlerTimeout, operationFor } from '../../domain/config/resolved.ts';
import type { Millis, OperationName, Target, Token } from '../../domain/ids.ts';
import {
  type Asked,
  type Bucket,
  chanceIn,
  type Grant,
  type Granter,
  granted,
  hasLeases,
  RECENT,
} from '../../domain/limits/bucket.ts';
import type { BucketId } from '../../domain/limits/bucket-id.ts';
import { allowedIn } from '../../domain/limits/limits.ts';
import {
  type Class,
  classOf,
  grantable,
  horizonOf,
  isGranting,
  LEAD,
  ungranted,
  type WaitingCall,
} from '../../domain/limits/queue.ts';
import { pauseNow } from '../../domain/operations/slots.ts';
import { CLOCK_SKEW, delaySeconds, MAX_DELAY, SECOND } from '../../domain/timings.ts';
import type { Delivery } from '../../ports/machine.ts';
import type { LeadDeps } from '../deps.ts';
import { replace } from './change.ts';
import { ensureGranting } from './join.ts';

/** Most rows of one step. */
const AT_ONCE = 100;
/** Messages that are sent at once. */
const SENDS_AT_ONCE = 20;
/** The shortest time from a grant to its moment, in ms: two messages have to arrive before the call. */
export const SOONEST: Millis = 700;
/** A message arrives this long before the moment, in ms, or up to a second earlier, because delays are whole seconds. */
const EARLY: Millis = 1_200;

/** How long a call's lease lasts after its moment: no attempt runs longer, even if clocks differ. */
export const leaseTime = (config: Config): Millis => handlerTimeout(config) + 2 * CLOCK_SKEW + SECOND;

/** Handles a message of the chain. */
export const grantNext = async (
  deps: LeadDeps,
  message: GrantMessage,
  delivery: Pick<Delivery, 'deliveries'>,
): Promise<void> => {
  const { bucket: id, grant: handled, turn } = message;
  let bucket = await deps.buckets.read(id);
  if (bucket.turn <= turn) {
    await deps.machine.sleep(MOMENT);
    bucket = await deps.buckets.read(id);
  }
  if (bucket.granter?.id === handled) return grantWith(deps, id, (stored) => stored, handled);
  if (bucket.turn <= turn) return awaitWrite(deps, message);
  if (bucket.last?.id === handled && delivery.deliveries > 1) await remind(deps, id, bucket);
};

/**
 * The message is sent before the bucket is written, so it may be received first. It is then sent again, with growing
 * delays. If the function died before the write, the message that it handled is delivered again.
 */
const awaitWrite = async ({ queues }: LeadDeps, message: GrantMessage): Promise<void> => {
  const { early = 0 } = message;
  if (early < EARLY_MOST) await queues.grant({ ...message, early: early + 1 }, EARLY_BACKOFF ** early);
};

/** Most buckets are written within `MOMENT`, in ms, after the message was sent. */
const MOMENT: Millis = 100;
const [EARLY_MOST, EARLY_BACKOFF] = [3, 4];

/**
 * Changes a bucket, and grants moments to those who wait in the same write.
 *
 * @param change returns its argument if there is nothing to change.
 * @param handled the id of the chain's message, if this function handles one. Nothing is done if the chain has another
 *   one meanwhile.
 */
export const grantWith = async (
  deps: LeadDeps,
  id: BucketId,
  change: (bucket: Bucket) => Bucket,
  handled?: Token,
): Promise<void> => {
  for (let seen: Bucket | undefined = await deps.buckets.read(id); seen; ) {
    if (handled !== undefined && seen.granter?.id !== handled) return;
    const changed = change(seen);
    if (handled === undefined && changed === seen) return;
    if (!changed.granter) {
      seen = await replace(deps, id, seen, changed);
      continue;
    }
    const step = await planned(deps, id, changed, handled);
    const next = await withChain(deps, id, step, handled);
    const other: Bucket | undefined = await replace(deps, id, seen, next);
    if (!other) return carryOut(deps, id, step, next);
    seen = other;
  }
};

/** What a step grants, and when the next one is due. */
interface Step {
  readonly bucket: Bucket;
  readonly grants: readonly { readonly row: WaitingCall; readonly lock: Lock | undefined; readonly grant: Grant }[];
  /** Rows whose Target or batch has to decide anew, because its operation or Target is paused, or has other limits. */
  readonly looks: readonly { readonly row: WaitingCall; readonly lock: Lock | undefined }[];
  /** When the next step is due. Undefined if nobody waits. */
  readonly nextAt?: Millis;
}

const planned = async (deps: LeadDeps, id: BucketId, seen: Bucket, handled: Token | undefined): Promise<Step> => {
  const { buckets, config, machine } = deps;
  const limit = allowedIn(config, id);
  const rows = await rowsOf(deps, id, seen, grantable, AT_ONCE);
  const [locks, paused] = await Promise.all([locksOf(deps, rows), pausedOf(deps, rows)]);
  const now = buckets.now();
  const grants: Step['grants'][number][] = [];
  const looks: Step['looks'][number][] = [];
  let bucket: Bucket = {
    ...seen,
    segment: seen.segment + 1,
    last: { id: handled ?? machine.token(), from: seen.passed },
  };
  let nextAt: Millis | undefined;
  for (const row of rows) {
    const lock = locks.get(row.target);
    if (!isVoid(row, lock) && !bucket.recent?.includes(placeOf(row))) {
      if (!limit?.operations.includes(row.operation) || paused.has(row.operation) || lock?.paused)
        looks.push({ row, lock });
      else {
        const asked: Asked = { bucket: id, allows: limit.allows, weight: await weightOf(deps, row, limit.allows) };
        const chance = chanceIn(bucket, asked, now, now + SOONEST);
        const ahead = hasLeases(limit.allows) ? SECOND : LEAD;
        nextAt = chance.is === 'full' ? chance.at : Math.max(now + SECOND, chance.at - ahead);
        if (chance.is === 'full' || chance.at > now + horizonOf(limit.allows)) break;
        nextAt = undefined;
        const lease = { id: machine.token(), until: chance.at + leaseTime(config) };
        const next = granted(bucket, asked, chance.at, lease, now);
        bucket = { ...next.bucket, recent: [...(bucket.recent ?? []), placeOf(row)].slice(-RECENT) };
        grants.push({ row, lock, grant: next.grant });
      }
    }
    bucket = { ...bucket, passed: { ...bucket.passed, [classOf(row)]: row.entry } };
  }
  // Rows of later segments, and further rows, are granted in the next step. If steps followed at once, functions that
  // put their rows meanwhile would often have to put others.
  if (nextAt === undefined && (await rowsOf(deps, id, bucket, ungranted, 1)).length > 0) nextAt = now + SECOND;
  return { bucket, grants, looks, ...(nextAt === undefined ? {} : { nextAt }) };
};

/** Rows of both classes in order. */
const rowsOf = async (
  { buckets }: LeadDeps,
  id: BucketId,
  bucket: Bucket,
  range: typeof grantable,
  limit: number,
): Promise<readonly WaitingCall[]> => {
  const of = (each: Class) => buckets.waiting(id, range(each, bucket), limit);
  const [again, fresh] = await Promise.all([of('again'), of('fresh')]);
  return [...again, ...fresh].slice(0, limit);
};

const locksOf = async ({ locks }: LeadDeps, rows: readonly WaitingCall[]): Promise<ReadonlyMap<Target, Lock>> => {
  const targets = [...new Set(rows.filter(({ leader }) => leader).map(({ target }) => target))];
  const read = targets.length > 0 ? await locks.readAll(targets) : [];
  return new Map(targets.flatMap((target, index) => (read[index] ? [[target, read[index].lock]] : [])));
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
const placeOf = ({ leader, batch }: WaitingCall): string =>
  leader ? `${leader.token}#${leader.round}` : `${batch?.id}#${batch?.attempt}`;

/** Whether a Target has moved on since it put this row. */
const isVoid = ({ leader }: WaitingCall, lock: Lock | undefined): boolean =>
  leader !== undefined &&
  (lock?.holder !== leader.token || lock.round !== leader.round || lock.openBatch !== undefined);

/** The weight to grant: a Target's batch may have become heavier while it waited. */
const weightOf = async (
  { config, waiting, machine }: LeadDeps,
  { operation, target, leader, weight }: WaitingCall,
  allows: Asked['allows'],
): Promise<number> => {
  if (!leader || (allows.weight === null && allows.concurrency.weight === null)) return weight;
  const { batch } = operationFor(config, operation);
  const rows = await waiting.first(target, batch.maxSize);
  if (rows.length === 0) return weight;
  const next = due(rows, batch, machine.now());
  return next.do === 'seal' ? sumOf(next.rows) : weight;
};

const sumOf = (rows: readonly { readonly weight: number }[]): number =>
  rows.reduce((sum, { weight }) => sum + weight, 0);

/** The bucket with the chain's next message, which is sent now unless an earlier one still comes in time. */
const withChain = async (
  deps: LeadDeps,
  id: BucketId,
  { bucket, nextAt }: Step,
  handled: Token | undefined,
): Promise<Bucket> => {
  const { granter, ...rest } = bucket;
  if (nextAt === undefined) return rest;
  const now = deps.buckets.now();
  const at = Math.min(nextAt, now + MAX_DELAY);
  if (granter && granter.id !== handled && granter.at <= at + SECOND && isGranting({ granter }, now)) return bucket;
  const next: Granter = { id: deps.machine.token(), at };
  await deps.queues.grant({ kind: 'grant', bucket: id, grant: next.id, turn: bucket.turn }, delaySeconds(at - now));
  return { ...rest, granter: next };
};

/** Sends the messages of a step that was written. */
const carryOut = async (deps: LeadDeps, id: BucketId, { grants, looks }: Step, stored: Bucket): Promise<void> => {
  const { buckets, report } = deps;
  const sends = pLimit(SENDS_AT_ONCE);
  await Promise.all([
    ...grants.map(({ row, lock, grant }) => sends(() => sendTo(deps, row, lock, grant))),
    ...looks.map(({ row, lock }) => sends(() => sendTo(deps, row, lock))),
  ]);
  for (const { row, grant } of grants)
    report({
      event: 'granted',
      bucket: id,
      operation: row.operation,
      waited: buckets.now() - row.since,
      ahead: grant.at - buckets.now(),
    });
  // A Target may have put its row while this step ended the chain.
  if (stored.granter) return;
  const bucket = await buckets.read(id);
  if (!isGranting(bucket, buckets.now()) && (await rowsOf(deps, id, bucket, ungranted, 1)).length > 0)
    await ensureGranting(deps, id, bucket);
};

/** Sends a Target or batch its grant, or asks it to look again. */
const sendTo = async (
  { buckets, queues }: LeadDeps,
  { target, batch, leader }: WaitingCall,
  lock: Lock | undefined,
  grant?: Grant,
): Promise<void> => {
  const delay = grant ? Math.max(0, Math.floor((grant.at - buckets.now() - EARLY) / SECOND)) : 0;
  const grants = grant ? [grant] : [];
  if (batch) await queues.batch({ kind: 'due', batchId: batch.id, granted: { grants, attempt: batch.attempt } }, delay);
  else if (leader && lock?.holder)
    await queues.group(
      { target, fence: lock.fence, token: lock.holder, hint: true, granted: { grants, round: leader.round } },
      delay,
      'new',
    );
};

/** Asks those to look again whose grants may not have been sent. */
const remind = async (deps: LeadDeps, id: BucketId, bucket: Bucket): Promise<void> => {
  const { last, passed } = bucket;
  if (!last) return;
  const rows = await Promise.all(
    (['again', 'fresh'] as const).map((of) =>
      passed[of] > last.from[of]
        ? deps.buckets.waiting(
            id,
            { after: last.from[of] || grantable(of, { ...bucket, passed: last.from }).after, upTo: passed[of] },
            AT_ONCE,
          )
        : [],
    ),
  );
  const locks = await locksOf(deps, rows.flat());
  await carryOut(
    deps,
    id,
    {
      bucket,
      grants: [],
      looks: rows
        .flat()
        .map((row) => ({ row, lock: locks.get(row.target) }))
        .filter(({ row, lock }) => !isVoid(row, lock)),
    },
    bucket,
  );
};
