/**
 * The store of deferred lists besides the tracker (`src/ports/fan-outs.ts`). The rules for all stores (`rows.ts`) hold
 * here too: reads are strongly consistent unless noted, and after a rejected promise a write may have happened or not.
 */

import type { ItemOutcome } from '../domain/fan-outs/fan-out.ts';
import type { Millis, Token } from '../domain/ids.ts';
import type { ListId, Range } from '../domain/lists/ids.ts';
import type { Job, Lease, List, NewList } from '../domain/lists/list.ts';
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
}

/** A lease as it was read. Without `until`, the write does not check when the lease ends. */
export type Seen = Pick<Lease, 'key' | 'first' | 'count'> & Partial<Pick<Lease, 'until'>>;

/** The jobs that a trigger takes, and the state of the list that it has read (D7). */
interface Taking {
  readonly ranges: readonly Range[];
  readonly from: readonly Seen[];
  readonly rest?: Lease;
  readonly head: number;
  readonly fresh: number;
}

/** How a job ended, as its worker reports it. */
export interface JobResult {
  readonly token: number;
  readonly outcome: ItemOutcome;
  /** JSON text. */
  readonly result?: string;
  readonly error?: { readonly code: string; readonly message: string };
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
  /** The jobs of a range in their order: all of them, or the first ones up to a few megabytes. */
  jobs(id: ListId, range: Range): Promise<readonly Job[]>;
  /**
   * Leases the next `count` jobs that were never handed out (D2). Succeeds only if `count` of the first `total` jobs
   * were never handed out, the list hands out jobs, it has fewer than `most` leases, and the key is unused.
   */
  leaseFresh(
    id: ListId,
    take: Pick<Lease, 'key' | 'count' | 'until'> & { readonly total: number; readonly most: number },
  ): Promise<Lease | undefined>;
  /**
   * Replaces the leases `from`, if the stored leases are as they were read (D3 to D6).
   *
   * @param how `handing-out`: only if the list hands out jobs
   */
  change(id: ListId, from: readonly Seen[], to: readonly Lease[], how: 'handing-out' | 'any-time'): Promise<boolean>;
  /** The jobs that a trigger took, if any (D7). */
  trigger(id: ListId, token: Token): Promise<Taken | undefined>;
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
