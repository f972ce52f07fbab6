/** The names of buckets. */
import type { LimitName } from '../ids.ts';

declare const brand: unique symbol;
/**
 * The name of a bucket: `limit:NAME`, with a key `limit:NAME#FIELD=VALUE/…`, and with a part `…~PART`. The limit that
 * `rateLimit` sets for its operation is named `rate:OPERATION`.
 */
export type BucketId = string & { readonly [brand]: 'BucketId' };

/** The beginning of the names of a limit's buckets, or of those with a key that begins with this text. */
export const bucketPrefix = (limit: LimitName, key?: string): string =>
  `limit:${limit}${key === undefined ? '' : `#${key}`}`;

/** The longest key of a partition that DynamoDB allows, in bytes. */
const MAX_BYTES = 2_048;

export const isBucketId = (value: unknown): value is BucketId =>
  typeof value === 'string' &&
  value.length <= MAX_BYTES &&
  /^limit:(?:rate:)?[A-Za-z][\w-]{0,63}(?:[#~]|$)/.test(value);
