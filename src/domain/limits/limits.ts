/** Which limits apply to an operation's calls, and in which bucket a call counts. Pure. */

import type { Limit } from '../config/limits.ts';
import type { Config, Operation } from '../config/resolved.ts';
import type { LimitName, Millis, OperationName, Target } from '../ids.ts';
import { encoded, fieldsOf } from '../target.ts';
import { LEASE, LIMITED_LEASE, SECOND } from '../timings.ts';
import { type Allowance, countsWeight, type Grant } from './bucket.ts';
import type { BucketId } from './bucket-id.ts';

/** A bucket in which a call counts, and what it allows. */
export interface Counted {
  readonly bucket: BucketId;
  readonly name: LimitName;
  readonly allows: Allowance;
}

/**
 * Most calls a second of one row, and most calls in progress in one row. A limit of more is divided into parts with rows of
 * their own: DynamoDB takes 1,000 writes a second of a row, and charges a write by the row's size.
 */
const [RATE_MAX, LEASES_MAX] = [100, 20];

/** The parts of a limit. Calls of different weight are not divided, because a part might be too small for a call. */
const partsOf = (allows: Allowance): number => {
  const { calls, per, concurrency } = allows;
  if (countsWeight(allows)) return 1;
  const byRate = calls === null ? 1 : Math.ceil((calls * SECOND) / per / RATE_MAX);
  const byLeases = concurrency.calls === null ? 1 : Math.ceil(concurrency.calls / LEASES_MAX);
  // Each part allows at least one call in a span, and one in progress.
  const most = Math.min(calls ?? Number.POSITIVE_INFINITY, concurrency.calls ?? Number.POSITIVE_INFINITY);
  return Math.max(1, Math.min(Math.max(byRate, byLeases), Math.floor(most)));
};

const partOf = (allows: Allowance, part: number, parts: number): Allowance =>
  parts === 1
    ? allows
    : {
        ...allows,
        calls: allows.calls === null ? null : allows.calls / parts,
        burst: Math.max(1, Math.floor(allows.burst / parts)),
        concurrency: {
          calls: allows.concurrency.calls === null ? null : Math.floor((allows.concurrency.calls + part) / parts),
          weight: null,
        },
      };

/** The settings of an operation that limit its calls over time. */
type Limited = Pick<Operation, 'operation' | 'limits' | 'rateLimit'>;

/** Whether calls of the operation need moments. */
export const isLimited = ({ limits, rateLimit }: Pick<Operation, 'limits' | 'rateLimit'>): boolean =>
  limits.length > 0 || rateLimit !== null;

/** The lease of a lock. See {@link LIMITED_LEASE}. */
export const leaseOf = (operation: Pick<Operation, 'limits' | 'rateLimit'>): Millis =>
  isLimited(operation) ? LIMITED_LEASE : LEASE;

const RATE = 'rate:';
const rateName = (operation: OperationName): LimitName => `${RATE}${operation}` as LimitName;

/** The limit that `rateLimit` is short for: evenly paced calls of one operation. */
const limitOfRate = (rate: number): Limit => ({
  ...(rate < 1 ? { calls: 1, per: SECOND / rate } : { calls: rate, per: SECOND }),
  weight: null,
  burst: 1,
  key: null,
  concurrency: { calls: null, weight: null },
});

/** The limits of an operation's calls, in the order in which they are taken. That of its `rateLimit` is the last. */
const namesOf = ({ operation, limits, rateLimit }: Limited): readonly LimitName[] =>
  rateLimit === null ? limits : [...limits, rateName(operation)];

/** All limits by name: the configured ones, and those that a `rateLimit` is short for. */
export const allLimits = ({
  limits,
  operations,
}: Pick<Config, 'limits' | 'operations'>): readonly (readonly [LimitName, Limit])[] => [
  ...(Object.entries(limits) as [LimitName, Limit][]),
  ...Object.values(operations).flatMap(({ operation, rateLimit }) =>
    rateLimit === null ? [] : [[rateName(operation), limitOfRate(rateLimit)] as const],
  ),
];

/** The limit with this name. Undefined if the configuration has none. */
export const limitNamed = (
  { limits, operations }: Pick<Config, 'limits' | 'operations'>,
  name: string,
): Limit | undefined => {
  if (Object.hasOwn(limits, name)) return limits[name as LimitName];
  const operation = name.startsWith(RATE) ? name.slice(RATE.length) : '';
  const rate = Object.hasOwn(operations, operation) ? operations[operation as OperationName]?.rateLimit : null;
  return typeof rate === 'number' ? limitOfRate(rate) : undefined;
};

/** The operations whose calls count under a limit. */
export const usersOf = ({ operations }: Pick<Config, 'operations'>, name: LimitName): readonly OperationName[] =>
  Object.values(operations).flatMap((each) => (namesOf(each).includes(name) ? [each.operation] : []));

/**
 * The buckets in which a call for a Target counts, in the order of their names.
 *
 * @param random chooses the part of a divided limit.
 * @param held moments that the call has already: it keeps their parts.
 */
export const countedIn = (
  config: Pick<Config, 'limits' | 'operations'>,
  operation: Limited,
  target: Target,
  random: () => number,
  held: readonly Pick<Grant, 'bucket'>[] = [],
): readonly Counted[] =>
  limitsOf(config, operation, target).map((limit) => {
    const mine = held.map(({ bucket }) => splitPart(bucket)).find(({ id }) => id === limit.id);
    return bucketOf(limit, Math.min(limit.parts - 1, mine ? mine.part : Math.floor(random() * limit.parts)));
  });

/** All buckets in which calls for a Target may count: of a divided limit, those of all its parts. */
export const bucketsOf = (
  config: Pick<Config, 'limits' | 'operations'>,
  operation: Limited,
  target: Target,
): readonly Counted[] =>
  limitsOf(config, operation, target).flatMap((limit) =>
    Array.from({ length: limit.parts }, (_, part) => bucketOf(limit, part)),
  );

interface LimitOf {
  readonly id: string;
  readonly name: LimitName;
  readonly allows: Allowance;
  readonly parts: number;
}

const limitsOf = (
  config: Pick<Config, 'limits' | 'operations'>,
  operation: Limited,
  target: Target,
): readonly LimitOf[] =>
  namesOf(operation).map((name) => {
    const { key, ...allows } = limitNamed(config, name) as Limit;
    return { id: `limit:${name}${keyIn(target, key)}`, name, allows, parts: partsOf(allows) };
  });

const bucketOf = ({ id, name, allows, parts }: LimitOf, part: number): Counted => ({
  bucket: (parts === 1 ? id : `${id}~${part}`) as BucketId,
  name,
  allows: partOf(allows, part, parts),
});

/** The part of a bucket's name that a key adds. The fields and values are encoded as in the Target. */
const keyIn = (target: Target, key: readonly string[] | 'target' | null): string => {
  if (key === null) return '';
  if (key === 'target') return `#${target}`;
  const fields = fieldsOf(target);
  return `#${key.map((name) => `${encoded(name)}=${fields.get(encoded(name)) ?? ''}`).join('/')}`;
};

/**
 * What a bucket allows, by its name. Undefined if no limit of the configuration has this bucket.
 */
export const allowedIn = (
  config: Pick<Config, 'limits' | 'operations'>,
  bucket: BucketId,
): (Counted & { readonly operations: readonly OperationName[] }) | undefined => {
  const { part } = splitPart(bucket);
  const name = limitOf(bucket);
  const limit = limitNamed(config, name);
  return limit && { bucket, name, allows: partOf(limit, part, partsOf(limit)), operations: usersOf(config, name) };
};

/** What tells a bucket from the other ones of its limit, for people. */
export interface BucketLabel {
  /** `account=17/region=eu`, encoded as in a Target, or the Target. Absent if the limit has no key. */
  readonly key?: string;
  /** The number of the part. Absent if the limit is not divided. */
  readonly part?: number;
}

/** @param name the limit of the bucket. */
export const labelOf = (
  config: Pick<Config, 'limits' | 'operations'>,
  name: LimitName,
  bucket: BucketId,
): BucketLabel => {
  const { key, ...allows } = limitNamed(config, name) as Limit;
  // The name of a Target may end like a part.
  const { id, ...part } = partsOf(allows) === 1 ? { id: bucket } : splitPart(bucket);
  return key === null ? part : { key: id.slice(id.indexOf('#') + 1), ...part };
};

/** The limit of a bucket, whether or not the configuration has it. */
export const limitOf = (bucket: BucketId): LimitName => groupOf(bucket).slice('limit:'.length) as LimitName;

/** The buckets of one limit: its bucket's name without key and part. */
export const groupOf = (bucket: BucketId): string => splitPart(bucket).id.split('#')[0] ?? bucket;

const splitPart = (bucket: BucketId): { readonly id: string; readonly part: number } => {
  const [, id = bucket, part = '0'] = /^(.*)~(\d+)$/.exec(bucket) ?? [];
  return { id, part: Number(part) };
};
