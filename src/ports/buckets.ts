/** The store of buckets, in which calls under a limit count, and of the queues of waiting calls. */
import type { LimitName, Millis } from '../domain/ids.ts';
import type { Bucket } from '../domain/limits/bucket.ts';
import type { BucketId } from '../domain/limits/bucket-id.ts';
import type { WaitingCall } from '../domain/limits/queue.ts';
import type { Page } from '../domain/page.ts';

export interface Buckets {
  /**
   * The time on the store's clock, as this process knows it. Functions of one deployment agree on it even if their own
   * clocks are wrong.
   */
  now(): Millis;
  read(bucket: BucketId): Promise<Bucket>;
  /**
   * The buckets of a limit by name, from its index: eventually consistent.
   *
   * @param key only buckets whose key begins with this text.
   */
  list(limit: LimitName, most: number, cursor?: string, key?: string): Promise<Page<BucketId>>;
  /** Replaces the bucket, and adds 1 to its `turn`, if the stored `turn` is still `seen`. */
  write(bucket: BucketId, seen: number, next: Omit<Bucket, 'turn'>): Promise<boolean>;
  /** Puts a row into the queue. */
  enqueue(bucket: BucketId, waiting: WaitingCall): Promise<void>;
  /** Rows of the queue in order, after one entry and up to another one. */
  waiting(
    bucket: BucketId,
    range: { readonly after: string; readonly upTo: string },
    limit: number,
  ): Promise<readonly WaitingCall[]>;
}
