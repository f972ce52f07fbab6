/** Writes of a bucket. Each replaces the row that was read. */
import type { Bucket } from '../../domain/limits/bucket.ts';
import type { BucketId } from '../../domain/limits/bucket-id.ts';
import type { LeadDeps } from '../deps.ts';

/**
 * Replaces a bucket that was read.
 *
 * @returns undefined if it was replaced, or the bucket as another function has left it.
 */
export const replace = async (
  { buckets, machine }: Pick<LeadDeps, 'buckets' | 'machine'>,
  id: BucketId,
  seen: Bucket,
  next: Bucket,
): Promise<Bucket | undefined> => {
  const by = machine.token();
  if (await buckets.write(id, seen.turn, { ...next, by })) return undefined;
  const stored = await buckets.read(id);
  // A refused write may mean that this function's own write succeeded: the client repeats a request whose response was
  // lost (Y2).
  return stored.by === by ? undefined : stored;
};

/** Changes a bucket. @param change returns its argument if there is nothing to change */
export const update = async (
  deps: Pick<LeadDeps, 'buckets' | 'machine'>,
  id: BucketId,
  change: (bucket: Bucket) => Bucket,
): Promise<void> => {
  for (let seen: Bucket | undefined = await deps.buckets.read(id); seen; ) {
    const next = change(seen);
    if (next === seen) return;
    seen = await replace(deps, id, seen, next);
  }
};
