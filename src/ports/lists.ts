/**
 * The store of deferred lists besides the tracker (`src/ports/fan-outs.ts`). The rules for all stores (`rows.ts`) hold
 * here too: reads are strongly consistent unless noted, and after a rejected promise a write may have happened or not.
 */

import type { ItemOutcome } from '../domain/fan-outs/fan-out.ts';
import type { Millis, Token } from '../domain/ids.ts';
import type { ClaimKey, ListId, Range } from '../domain/lists/ids.ts';
import type { Apart, Gone, Holder, Job, Lease, List, NewList, StoredClaim } from '../domain/lists/list.ts';
import type { Page } from '../domain/page.ts';

/** The jobs that one call adds. */
export interface Append {
  readonly count: number;
  /** Hash of the jobs. It distinguishes a repeated call from another one with the same token. */
  readonly hash: string;
  /** The number of the first job, once the jobs are published. */
  readonly first?: number;
}

/**
 * The jobs that a trigger took, and how many of them have become tasks (D7). A trigger message that starts at a job
 * before `started` repeats earlier work.
 */
export interface Taken {
  readonly ranges: readonly Range[];
  readonly started: number;
  /** The amount that was requested, as a text. Undefined if it was not known. */
  readonly wanted?: string;
}

/** A lease as it was read. Without `until`, the write does not check when the lease ends. */
type Seen = Pick<Lease, 'key' | 'first' | 'count'> & Partial<Pick<Lease, 'until'>>;

/** Jobs that were never handed out, and the state of the list that was read. */
interface FreshJobs {
  readonly head: number;
  readonly count: number;
}

/** The jobs that a trigger takes, and the state of the list that it has read (D7). */
interface Taking {
  readonly ranges: readonly Range[];
  readonly from: readonly Seen[];
  readonly rest?: Lease;
  readonly head: number;
  readonly fresh: number;
  /** The amount that was requested, as a text, if it is known. */
  readonly wanted?: string;
  readonly gone: readonly Gone[];
}

/** A claim that begins. The write succeeds only if the list's row has the holder of this claim as it was read. */
export interface Beginning {
  readonly claim: ClaimKey;
  /** The holder to store in the list's row. */
  readonly holder?: Holder;
  /** Undefined if there was none. */
  readonly was?: Holder;
}

/** A change of the leases in a list's row. */
export interface LeaseChange {
  /** The leases that are replaced, as they were read. */
  readonly from: readonly Seen[];
  readonly to: readonly Lease[];
  /** Whether to write only if the list hands out jobs. */
  readonly isHandingOut?: boolean;
  /** Jobs that were never handed out, which `to` contains. */
  readonly fresh?: FreshJobs;
  /** Undefined if no claim begins, or if the list's row has no holders. */
  readonly begins?: Beginning;
  readonly gone: readonly Gone[];
  /** Write only if the list has, or has not, claims in rows of their own as it was read. */
  readonly apart?: Apart | 'none';
}

/** How a job ended, as its worker reports it. */
export interface JobResult {
  readonly token: number;
  readonly outcome: ItemOutcome;
  /** JSON text. */
  readonly result?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface FreshTaking {
  readonly total: number;
  readonly most: number;
  readonly begins?: Beginning;
  readonly apart: Apart | 'none';
}

export interface Lists {
  /** Stores a list if absent. Returns the stored one. @param checkAt when the patrol first checks it */
  open(list: NewList, checkAt: Millis): Promise<{ readonly isNew: boolean; readonly stored: List }>;
  read(id: ListId): Promise<List | undefined>;
  /** The lists that the patrol still checks, as in `FanOuts.page`. Eventually consistent. */
  page(limit: number, cursor?: string): Promise<Page<List>>;
  /** The append of a token, if there is one (D1). */
  append(id: ListId, token: Token): Promise<Append | undefined>;
  /** Notes that jobs are about to be stored, if the token is unused (D1). Deleting the list then finds the jobs. */
  beginAppend(id: ListId, token: Token, append: Append): Promise<boolean>;
  /** Stores jobs under their token (D1). Repeating it does no harm. */
  putJobs(id: ListId, token: Token, payloads: readonly string[]): Promise<void>;
  /** Adds stored jobs to the list, if it is open, has `first` jobs, and does not have these jobs yet (D1). */
  publish(
    id: ListId,
    token: Token,
    take: { readonly first: number; readonly count: number; readonly at: Millis },
  ): Promise<boolean>;
  /** The jobs of some ranges in their order: all of them, or the first ones up to a few megabytes. */
  jobs(id: ListId, ranges: readonly Range[]): Promise<readonly Job[]>;
  /**
   * Leases the next `count` jobs that were never handed out (D2). Succeeds only if `count` of the first `total` jobs
   * were never handed out, the list hands out jobs, its row has fewer than `most` leases, its claims in rows of their
   * own and the claim's holder are as read, and the key is unused. The lease's `first` is ignored, and returned as it
   * was stored.
   */
  leaseFresh(id: ListId, lease: Lease, take: FreshTaking): Promise<Lease | undefined>;
  /** Replaces leases in the list's row, if the stored leases are as they were read (D3 to D6). */
  change(id: ListId, change: LeaseChange): Promise<boolean>;
  /** The largest number of claims in the list's row. */
  readonly claimsMax: number;
  /** A claim that has a row of its own (D13), if there is one. */
  claimApart(id: ListId, key: ClaimKey): Promise<StoredClaim | undefined>;
  /** All claims that have rows of their own, at most some thousand. */
  claimsApart(id: ListId): Promise<readonly StoredClaim[]>;
  /** Puts a new claim into a row of its own, and takes its jobs from the list's row, both or neither (D13). */
  putApart(id: ListId, claim: StoredClaim, change: LeaseChange & { readonly becomes: Apart }): Promise<boolean>;
  /**
   * Replaces the leases of a claim that has a row of its own, or deletes the row if `to` is empty. Succeeds only if the
   * row's leases are as they were read. Their end may differ.
   */
  changeApart(id: ListId, claim: StoredClaim, to: readonly Lease[]): Promise<boolean>;
  /**
   * Moves leases of claims in rows of their own into the list's row, as the free leases `to`. Succeeds only if the rows
   * of the claims are as they were read.
   *
   * @param moved the claims with the leases that they keep; if a claim keeps none, its row is deleted
   * @param apart the state of the list's row as it was read, and the new one. The end of each claim must then be as
   * read, too. If absent, the state stays.
   */
  gather(
    id: ListId,
    moved: readonly { readonly claim: StoredClaim; readonly keep: readonly Lease[] }[],
    to: readonly Lease[],
    apart?: { readonly was: Apart; readonly becomes: Apart },
  ): Promise<boolean>;
  /** The jobs that a trigger took, if any (D7). */
  trigger(id: ListId, token: Token): Promise<Taken | undefined>;
  /**
   * Stores the amount that a trigger requested, if its row has none because the register function took its jobs.
   * Returns the stored amount.
   */
  noteAmount(id: ListId, token: Token, wanted: string): Promise<string>;
  /** Stores how many of a trigger's jobs have become tasks, after the message for the other jobs was sent (D7). */
  goOn(id: ListId, token: Token, started: number): Promise<void>;
  /** Takes jobs for a token that has taken none, if the list is as it was read and hands out jobs (D7). */
  take(id: ListId, token: Token, taking: Taking): Promise<boolean>;
  /**
   * Stores results. If a job has a result already, the earlier result stays. Returns the stored results, in the order
   * of `results`.
   */
  putResults(id: ListId, results: readonly JobResult[]): Promise<readonly JobResult[]>;
  /** The results of a range, for jobs that have one. */
  results(id: ListId, range: Range): Promise<readonly JobResult[]>;
  /**
   * Deletes a list's rows besides its tracker, as far as there is time. Results are deleted group by group.
   *
   * @param groups of its tracker @param from the first group that may still have results
   * @returns undefined once all rows are deleted; otherwise `from` for the next call
   */
  clear(id: ListId, groups: number, from: number, how: Clearing): Promise<number | undefined>;
}

export interface Clearing {
  /** Called before each page. False stops the deletion. */
  readonly mayGoOn: () => boolean;
  /** Whether no function can still be storing jobs. The notes of `beginAppend` are then deleted too. */
  readonly isSettled: boolean;
}
