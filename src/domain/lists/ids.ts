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
/** The short key of a claim in the list's row. It is short because each claim writes the whole row. */
export type LeaseKey = string & { readonly [brand]: 'LeaseKey' };
/** The answer to a claim. It names the claim, its jobs and its list. */
export type Handle = string & { readonly [brand]: 'Handle' };

export const CLAIM_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_@-]{0,63}$/;
export const CLAIM_ID_RULE =
  'must be a text of 1 to 64 characters of A-Z a-z 0-9 _ @ - and begin with a letter or a digit (the claimId in an answer is a handle; use your own id to claim)';

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
export const leaseKeyOf = (claim: ClaimId): LeaseKey => digest(claim).slice(0, 8) as LeaseKey;

/**
 * The key of a range of jobs that were claimed once and are free again. It contains the first job; no claim's key
 * contains `@`.
 */
export const freeKeyOf = (first: number): LeaseKey => `@${first}` as LeaseKey;

/**
 * A mark of the list in each handle. A handle of one list is not valid for another list, even if the claim has the same
 * name and range there.
 */
const markOf = (list: ListId): string => digest(list).slice(0, 6);

export const handleOf = (list: ListId, claim: ClaimId, { first, count }: Range): Handle =>
  `${claim}.${first}.${count}.${markOf(list)}` as Handle;

/** What a handle names, for the given list. */
export type Handled = { readonly claim: ClaimId; readonly range: Range } | 'of-another-list' | 'no-handle';

/** The form of a handle. */
export const HANDLE_PATTERN = /^([^.]+)\.(0|[1-9]\d{0,11})\.([1-9]\d{0,3})\.([\w-]{6})$/;

export const parseHandle = (list: ListId, handle: string): Handled => {
  const [, name, first, count, mark] = HANDLE_PATTERN.exec(handle) ?? [];
  const claim = claimId(name);
  if (claim === undefined) return 'no-handle';
  if (mark !== markOf(list)) return 'of-another-list';
  return { claim, range: { first: Number(first), count: Number(count) } };
};
