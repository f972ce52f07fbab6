/**
 * Grants moments to waiting calls in a bucket's queue.
 *
 * One chain of messages does this while any wait. Each step reads the bucket and the next rows, grants moments up to the
 * horizon in one write, and sends each Target or batch its message. The chain's next message is sent before the write,
 * so the chain does not break if the function dies. If it dies after the write, its own message is delivered again, and
 * those whose grants were lost are asked to look again. A call that ends its lease makes the same step in the write that
 * ends the lease, so that the next call begins at once.
 */
import pLimit from 'p-limit';
import type { GrantMessage } from '../../domain/batches/messages.ts';
import type { Millis, Token } from '../../domain/ids.ts';
import { type Bucket, beganLine, type Grant, type Granter } from '../../domain/limits/bucket.ts';
import type { BucketId } from '../../domain/limits/bucket-id.ts';
import { isGranting, ungranted } from '../../domain/limits/queue.ts';
import { delaySeconds, MAX_DELAY, MINUTE, SECOND } from '../../domain/timings.ts';
import type { Delivery } from '../../ports/machine.ts';
import type { LeadDeps } from '../deps.ts';
import { replace } from './change.ts';
import { reportDelay } from './delay.ts';
import { ensureGranting, isChanged, wakeGranter } from './join.ts';
import { passedSince, planStep, rowsOf, type Step, type Waiter } from './plan.ts';

/** Messages that are sent at once. */
const SENDS_AT_ONCE = 20;
/** The longest time between two looks of the chain at its bucket, in ms. */
const LOOK: Millis = MINUTE;
/** A message arrives this long before the moment, in ms, or up to a second earlier, because delays are whole seconds. */
const EARLY: Millis = 1_200;

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
  if (bucket.granter?.id === handled) return goOn(deps, id, bucket, handled);
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

/** Makes the step of a message, unless another function has made it meanwhile. */
const goOn = async (deps: LeadDeps, id: BucketId, bucket: Bucket, handled: Token): Promise<void> => {
  let seen: Bucket | undefined = bucket;
  while (seen?.granter?.id === handled) {
    if (await isEarly(deps, id, seen, seen.granter)) return;
    seen = await grantFrom(deps, id, seen, seen, handled);
  }
};

/**
 * Changes a bucket, and grants moments to waiting calls in the same write.
 *
 * @param change returns its argument if there is nothing to change.
 */
export const grantWith = async (deps: LeadDeps, id: BucketId, change: (bucket: Bucket) => Bucket): Promise<void> => {
  for (let seen: Bucket | undefined = await deps.buckets.read(id); seen; ) {
    const changed = change(seen);
    if (changed === seen) return;
    seen = changed.granter ? await grantFrom(deps, id, seen, changed) : await replace(deps, id, seen, changed);
  }
};

/**
 * Grants moments in one write, and sends the messages.
 *
 * @param seen the bucket as stored, and `from`, with the change to be written too.
 * @returns undefined if it was written, or the bucket as another function has left it.
 */
const grantFrom = async (
  deps: LeadDeps,
  id: BucketId,
  seen: Bucket,
  from: Bucket,
  handled?: Token,
): Promise<Bucket | undefined> => {
  const step = await planStep(deps, id, from, handled);
  const next = await withChain(deps, id, step, beganLine(from, step.bucket) ? from.granter?.id : handled);
  const other = await replace(deps, id, seen, next);
  if (!other) await carryOut(deps, id, step, next);
  return other;
};

/**
 * Whether the chain's message is early: it looks at least once in {@link LOOK} whether the limit has changed, and a call
 * that ended may have granted moments since it was sent. Then it is sent again, and nothing is written.
 */
const isEarly = async (deps: LeadDeps, id: BucketId, bucket: Bucket, granter: Granter): Promise<boolean> => {
  const left = granter.at - deps.buckets.now();
  if (left <= SECOND / 2 || isChanged(deps, id, bucket)) return false;
  await wakeGranter(deps, id, bucket, Math.max(1, delayOf(left)));
  return true;
};

/** The delay of the chain's next message, in seconds. */
const delayOf = (wait: Millis): number => delaySeconds(Math.min(wait, LOOK));

/**
 * The bucket with the chain's next message, which is sent now unless an earlier one still comes in time.
 *
 * @param over the message that does not count any more.
 */
const withChain = async (
  deps: LeadDeps,
  id: BucketId,
  { bucket, nextAt }: Step,
  over: Token | undefined,
): Promise<Bucket> => {
  const { granter, ...rest } = bucket;
  if (nextAt === undefined) return rest;
  const now = deps.buckets.now();
  const at = Math.min(nextAt, now + MAX_DELAY);
  if (granter && granter.id !== over && granter.at <= at + SECOND && isGranting({ granter }, now))
    return { ...rest, granter: { ...granter, at: Math.max(granter.at, at) } };
  const next: Granter = { id: deps.machine.token(), at };
  await deps.queues.grant({ kind: 'grant', bucket: id, grant: next.id, turn: bucket.turn }, delayOf(at - now));
  return { ...rest, granter: next };
};

/** Sends the messages of a step that was written. */
const carryOut = async (deps: LeadDeps, id: BucketId, { grants, looks }: Step, stored: Bucket): Promise<void> => {
  const { buckets } = deps;
  const sends = pLimit(SENDS_AT_ONCE);
  await Promise.all([
    ...grants.map((each) => sends(() => sendTo(deps, each, each.grant))),
    ...looks.map((each) => sends(() => sendTo(deps, each))),
  ]);
  for (const { row, grant } of grants)
    reportDelay(deps, { grants: [grant], held: [], soonest: row.since }, row.operation, row.since);
  // A Target may have put its row while this step ended the chain.
  if (stored.granter) return;
  const bucket = await buckets.read(id);
  if (!isGranting(bucket, buckets.now()) && (await rowsOf(deps, id, bucket, ungranted, 1)).length > 0)
    await ensureGranting(deps, id, bucket);
};

/** Sends a Target or batch its grant, or asks it to look again. */
const sendTo = async (
  { buckets, queues }: LeadDeps,
  { row: { target, batch, leader }, lock }: Waiter,
  grant?: Grant,
): Promise<void> => {
  const delay = grant ? Math.max(0, Math.floor((grant.at - buckets.now() - EARLY) / SECOND)) : 0;
  const { turn = 0 } = leader ?? batch ?? {};
  const granted = { grants: grant ? [grant] : [], turn: turn + 1 };
  if (batch)
    await queues.batch({ kind: 'due', batchId: batch.id, granted: { ...granted, attempt: batch.attempt } }, delay);
  else if (leader && lock?.holder)
    await queues.group(
      { target, fence: lock.fence, token: lock.holder, hint: true, granted: { ...granted, round: leader.round } },
      delay,
      'new',
    );
};

/** Asks those to look again whose grants may not have been sent. */
const remind = async (deps: LeadDeps, id: BucketId, bucket: Bucket): Promise<void> => {
  const looks = bucket.last ? await passedSince(deps, id, bucket, bucket.last.from) : [];
  await carryOut(deps, id, { bucket, grants: [], looks }, bucket);
};
