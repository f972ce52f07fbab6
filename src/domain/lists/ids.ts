/** The identifiers of deferred lists, their jobs and their claims: built and parsed here and nowhere else. */

import { type FanOutId, fanOutId, type Item, numbered, ownerOf } from '../fan-out-ids.ts';
import { digest, type TaskId, taskId } from '../ids.ts';

/** Jobs that follow each other. */
export interface Range {
  readonly first: number;
  readonly count: number;
}

declare const brand: unique symbol;

/** Names a list: as a fan-out is named. */
export type ListId = string & { readonly [brand]: 'ListId' };
/** What a claimer names his claim, so that asking again gets him the same jobs. No `.`, which parts handles. */
export type ClaimId = string & { readonly [brand]: 'ClaimId' };
/** What stands for a claim in the list's row, where every byte is written with each claim. */
export type LeaseKey = string & { readonly [brand]: 'LeaseKey' };
/** What a claim is answered: it names the claim, its jobs and its list. */
export type Handle = string & { readonly [brand]: 'Handle' };

export const CLAIM_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_@-]{0,63}$/;
export const CLAIM_ID_RULE =
  'must be a text of 1 to 64 characters of A-Z a-z 0-9 _ @ - and begin with a letter or a digit (what a claim was answered names that claim alone)';

/** Returns the id when it may name a list, otherwise undefined. */
export const listId = (value: unknown): ListId | undefined => fanOutId(value) as ListId | undefined;

/** Returns the id when it may name a claim, otherwise undefined. */
export const claimId = (value: unknown): ClaimId | undefined =>
  typeof value === 'string' && CLAIM_ID_PATTERN.test(value) ? (value as ClaimId) : undefined;

/** The tracker of a list, whose header is the list's own row. No fan-out's id begins so: only we can name it. */
export const trackerOf = (list: ListId): FanOutId => numbered(list);

/** The list that a tracker is of. */
export const listOf = (tracker: FanOutId): ListId => ownerOf(tracker) as ListId;

/** T9. A job's place in its list's tracker. @param width of its nodes */
export const itemOf = (list: ListId, token: number, width: number): Item => ({
  fanOut: trackerOf(list),
  group: Math.floor(token / width),
  index: token % width,
});

/** The task that a job becomes. */
export const taskOf = (list: ListId, token: number): TaskId => taskId(`${list}:${token}`) as TaskId;

/** 48 bits: that two of 64 claims share it happens once in 10^11 lists. */
export const leaseKeyOf = (claim: ClaimId): LeaseKey => digest(claim).slice(0, 8) as LeaseKey;

/** The key of jobs that were claimed once and are nobody's: by the first of them, and `@` is in no claim's key. */
export const freeKeyOf = (first: number): LeaseKey => `@${first}` as LeaseKey;

/** A claim of one list shows a mark of it: that of another list, which may have the same name and range, does not fit. */
const markOf = (list: ListId): string => digest(list).slice(0, 6);

export const handleOf = (list: ListId, claim: ClaimId, { first, count }: Range): Handle =>
  `${claim}.${first}.${count}.${markOf(list)}` as Handle;

/** What a handle names, in that list. */
export type Handled = { readonly claim: ClaimId; readonly range: Range } | 'of-another-list' | 'no-handle';

export const parseHandle = (list: ListId, handle: string): Handled => {
  const [, name, first, count, mark] = /^([^.]+)\.(0|[1-9]\d{0,11})\.([1-9]\d{0,3})\.([\w-]{6})$/.exec(handle) ?? [];
  const claim = claimId(name);
  if (claim === undefined) return 'no-handle';
  if (mark !== markOf(list)) return 'of-another-list';
  return { claim, range: { first: Number(first), count: Number(count) } };
};
