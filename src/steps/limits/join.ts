/**
 * Joins the queue of a bucket, and makes sure that a chain of messages grants moments to waiting calls.
 *
 * The row comes first, then a look at the bucket: the function that ends the chain writes the bucket and then looks at
 * the queue. So one of the two sees what the other wrote.
 */
import type { Bucket } from '../../domain/limits/bucket.ts';
import type { BucketId } from '../../domain/limits/bucket-id.ts';
import { allowedIn } from '../../domain/limits/limits.ts';
import { isSamePace } from '../../domain/limits/line.ts';
import { type Class, entryOf, isGranting, type WaitingCall } from '../../domain/limits/queue.ts';
import type { LeadDeps } from '../deps.ts';
import { replace } from './change.ts';

/** @param seen the bucket as it was read a moment ago. */
export const joinQueue = async (
  deps: LeadDeps,
  id: BucketId,
  seen: Bucket,
  of: Class,
  waiting: Omit<WaitingCall, 'entry'>,
): Promise<void> => {
  const { buckets, machine } = deps;
  for (let bucket = seen; ; ) {
    const segment = bucket.segment + 1;
    await buckets.enqueue(id, { ...waiting, entry: entryOf(of, segment, waiting.since, machine.token()) });
    bucket = await buckets.read(id);
    // If the granter is at this segment already, it may have overlooked the row. A second row does no harm.
    if (bucket.segment < segment) return ensureGranting(deps, id, bucket);
  }
};

/** Begins a chain of messages unless there is one. The message is sent first: without a stored id it does nothing. */
export const ensureGranting = async (deps: LeadDeps, id: BucketId, seen: Bucket): Promise<void> => {
  const { buckets, machine, queues } = deps;
  await wakeIfChanged(deps, id, seen);
  let bucket: Bucket | undefined = seen;
  while (bucket && !isGranting(bucket, buckets.now())) {
    const granter = { id: machine.token(), at: buckets.now() };
    await queues.grant({ kind: 'grant', bucket: id, grant: granter.id, turn: bucket.turn }, 0);
    bucket = await replace(deps, id, bucket, { ...bucket, segment: bucket.segment + 1, granter });
  }
};

/** Whether the limit has changed since the granter's last step, or was removed. */
export const isChanged = ({ config }: Pick<LeadDeps, 'config'>, id: BucketId, { line }: Bucket): boolean => {
  const allows = allowedIn(config, id)?.allows;
  return !allows || (line !== undefined && !isSamePace(line.pace, allows));
};

/**
 * M4. Makes the granter look at once if the limit has changed. By itself it looks once a minute. Any call under the limit
 * notices the change.
 */
export const wakeIfChanged = async (
  deps: Pick<LeadDeps, 'config' | 'queues'>,
  id: BucketId,
  bucket: Bucket,
): Promise<void> => {
  if (isChanged(deps, id, bucket)) await wakeGranter(deps, id, bucket);
};

/**
 * Sends the chain's next message once more. Of the two messages, the one that is received last does nothing.
 *
 * @param delay in seconds.
 */
export const wakeGranter = async (
  { queues }: Pick<LeadDeps, 'queues'>,
  id: BucketId,
  { granter, turn }: Bucket,
  delay = 0,
): Promise<void> => {
  if (granter) await queues.grant({ kind: 'grant', bucket: id, grant: granter.id, turn: turn - 1 }, delay);
};
