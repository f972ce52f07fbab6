/** The identifiers of deferred lists, their jobs and their claims. Only this file builds and parses them. */

import { type FanOutId, fanOutId, type Item, numbered, ownerOf } from '../fan-out-ids.ts';
import { digest, type TaskId, taskId } from '../ids.ts';

/** Consecutive jobs. */
export interface Range {
  readonly first: number;
  readonly count: number;
}

declare const brand: unique symbol;

/** Names a list. It has the same form as the id of a fan-out. */
export type ListId = string & { readonly [brand]: 'ListId' };
/**
 * The name that a worker gives its claim, so that repeating the request returns the same jobs. It has no `.`, which
 * separates the parts of a handle.
 */
export type ClaimId = string & { readonly [brand]: 'ClaimId' };
/** The short name of a claim in stored rows. It is short because each claim writes the list's whole row. */
export type ClaimKey = string & { readonly [brand]: 'ClaimKey' };
/** The key of a lease in the list's row. See {@link leaseKeyOf} and {@link freeKeyOf}. */
export type LeaseKey = string & { readonly [brand]: 'LeaseKey' };
/** The answer to a claim. It names the claim, its jobs and its list. */
export type Handle = string & { readonly [brand]: 'Handle' };

const NAME = '[A-Za-z0-9][A-Za-z0-9_@-]{0,63}';
const CLAIM_ID_PATTERN = new RegExp(`^${NAME}$`);
/** The name of a worker. It is short, because every claim writes the list's row with the names of all holders. */
export const HOLDER_MAX = 32;
export const HOLDER_PATTERN = /^[!-~]([ -~]{0,30}[!-~])?$/;

export const CLAIM_ID_RULE =
  'must be a text of 1 to 64 characters of A-Z a-z 0-9 _ @ - and begin with a letter or a digit';

/** Returns the id if it may name a list, otherwise undefined. */
export const listId = (value: unknown): ListId | undefined => fanOutId(value) as ListId | undefined;

/** Returns the id if it may name a claim, otherwise undefined. */
export const claimId = (value: unknown): ClaimId | undefined =>
  typeof value === 'string' && CLAIM_ID_PATTERN.test(value) ? (value as ClaimId) : undefined;

/**
 * The tracker of a list. The list's own row is the tracker's header. No fan-out id begins like this, so users cannot
 * name the tracker.
 */
export const trackerOf = (list: ListId): FanOutId => numbered(list);

/** The list that a tracker belongs to. */
export const listOf = (tracker: FanOutId): ListId => ownerOf(tracker) as ListId;

/** The place of a job in the tracker of its list (T9). @param width slots of a node */
export const itemOf = (list: ListId, token: number, width: number): Item => ({
  fanOut: trackerOf(list),
  group: Math.floor(token / width),
  index: token % width,
});

/** The id of the task that a job becomes. */
export const taskOf = (list: ListId, token: number): TaskId => taskId(`${list}:${token}`) as TaskId;

/** 48 bits: two of 64 claims share a key once in 10^11 lists. */
export const claimKeyOf = (claim: ClaimId): ClaimKey => digest(claim).slice(0, 8) as ClaimKey;

const KEY = String.raw`[\w-]{8}`;
const CLAIM_KEY_PATTERN = new RegExp(`^${KEY}$`);

/** Returns the text if it may be the key of a claim, otherwise undefined. */
export const claimKey = (text: string): ClaimKey | undefined =>
  CLAIM_KEY_PATTERN.test(text) ? (text as ClaimKey) : undefined;

/** How often jobs were handed out to workers (D10). */
export interface Delivered {
  /** Of a claimed range, the present delivery is included. */
  readonly deliveries: number;
  /**
   * Whether a delivery ended without a report: the worker died, the claim was broken, or the worker released the jobs
   * without naming those it had begun. One of these jobs may be the cause, so they are claimed in ever smaller numbers.
   */
  readonly isSuspect: boolean;
}

/** A claim in its first delivery, or jobs that were never handed out, need no suffix. */
const suffixOf = ({ deliveries, isSuspect }: Delivered, usual: number): string =>
  deliveries === usual && !isSuspect ? '' : `${isSuspect ? '!' : '*'}${deliveries}`;

/**
 * The key of a claimed range: the claim, the number of the range if the claim has several (`~1`, `~2` …), and the
 * deliveries unless this is the first one (`*2`, or `!2` for suspect jobs).
 */
export const leaseKeyOf = (claim: ClaimKey, place: number, delivered: Delivered): LeaseKey =>
  `${claim}${place === 0 ? '' : `~${place}`}${suffixOf(delivered, 1)}` as LeaseKey;

/** The key of a range that was handed out and is free again: `@`, its first job, and the deliveries unless it has none. */
export const freeKeyOf = (first: number, delivered: Delivered): LeaseKey =>
  `@${first}${suffixOf(delivered, 0)}` as LeaseKey;

const LEASE_KEY = /^(?:@\d+|([^~*!@]+)(?:~\d+)?)(?:([*!])(\d+))?$/;

/** Reads the key of a lease. A free range has no claim. */
export const parseLeaseKey = (key: string): Delivered & { readonly claim?: ClaimKey } => {
  const [, claim, mark, deliveries] = LEASE_KEY.exec(key) ?? [];
  return {
    ...(claim === undefined ? {} : { claim: claim as ClaimKey }),
    deliveries: deliveries === undefined ? (claim === undefined ? 0 : 1) : Number(deliveries),
    isSuspect: mark === '!',
  };
};

/**
 * A mark of the list in each handle. A handle of one list is not valid for another list, even if the claim has the same
 * name and range there.
 */
const markOf = (list: ListId): string => digest(list).slice(0, 6);

/** The handle of a claim: its id, the first job and the number of jobs of each of its ranges, and the list's mark. */
export const handleOf = (list: ListId, claim: ClaimId, ranges: readonly Range[]): Handle =>
  [claim, ...ranges.flatMap(({ first, count }) => [first, count]), markOf(list)].join('.') as Handle;

/** What a handle names, for the given list. */
export type Handled = { readonly claim: ClaimId; readonly ranges: readonly Range[] } | 'of-another-list' | 'no-handle';

/** One range or more, and the mark. */
const REST = String.raw`((?:\.(?:0|[1-9]\d{0,11})\.[1-9]\d{0,4}){1,32})\.([\w-]{6})`;
const HANDLE_PATTERN = new RegExp(`^(${NAME})${REST}$`);
/** The form of a claim's id, or of a handle. */
export const CLAIM_PATTERN = new RegExp(`^${NAME}(?:${REST})?$`);
/** The forms in which a path names a claim: its id, a handle, or its key. */
export const CLAIM_NAME_PATTERN = new RegExp(`^(?:${NAME}(?:${REST})?|${KEY})$`);

export const parseHandle = (list: ListId, handle: string): Handled => {
  const [, name, numbers = '', mark] = HANDLE_PATTERN.exec(handle) ?? [];
  const claim = claimId(name);
  if (claim === undefined) return 'no-handle';
  if (mark !== markOf(list)) return 'of-another-list';
  const ranges = rangesIn(numbers);
  const isForged = new Set(ranges.map(({ first }) => first)).size < ranges.length;
  return isForged ? 'no-handle' : { claim, ranges };
};

/** The ranges of a handle. Undefined if the text is no handle. */
export const rangesOfHandle = (handle: string): readonly Range[] | undefined => {
  const numbers = HANDLE_PATTERN.exec(handle)?.[2];
  return numbers === undefined ? undefined : rangesIn(numbers);
};

/** @param numbers `.first.count` of each range */
const rangesIn = (numbers: string): readonly Range[] =>
  [...numbers.matchAll(/\.(\d+)\.(\d+)/g)].map(([, first, count]) => ({ first: Number(first), count: Number(count) }));
