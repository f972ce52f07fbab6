/**
 * What the steps of deferred lists need of the world beside the tracker (`src/ports/fan-outs.ts`), in the domain's
 * words. As with `rows.ts`: all reads are strongly consistent, and a promise that rejects leaves open whether the
 * write happened.
 */

import type { ItemOutcome } from '../domain/fan-outs/fan-out.ts';
import type { Millis, Token } from '../domain/ids.ts';
import type { ListId, Range } from '../domain/lists/ids.ts';
import type { Job, Lease, List, NewList } from '../domain/lists/list.ts';
import type { Page } from '../domain/page.ts';

/** What one call adds. */
export interface Append {
  readonly count: number;
  /** Of the jobs: to know a call that is repeated from another one with its token. */
  readonly hash: string;
  /** The first of its tokens, once they are the list's. */
  readonly first?: number;
}

/** D7. What a trigger took, and how many of these jobs are tasks: a message that is behind that comes a second time. */
export interface Taken {
  readonly ranges: readonly Range[];
  readonly started: number;
}

/** A lease as it was read; without `until`: whenever it ends. */
export type Seen = Pick<Lease, 'key' | 'first' | 'count'> & Partial<Pick<Lease, 'until'>>;

/** D7. What a trigger takes, given what was read. */
interface Taking {
  readonly ranges: readonly Range[];
  readonly from: readonly Seen[];
  readonly rest?: Lease;
  readonly head: number;
  readonly fresh: number;
}

/** How a job ended, in the words of whoever did it. */
export interface JobResult {
  readonly token: number;
  readonly outcome: ItemOutcome;
  /** JSON text. */
  readonly result?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface Lists {
  /** Stores a list if absent. Answers the stored one. @param checkAt when the patrol looks at it first */
  open(list: NewList, checkAt: Millis): Promise<{ readonly isNew: boolean; readonly stored: List }>;
  read(id: ListId): Promise<List | undefined>;
  /** Those that the patrol looks after, as `FanOuts.page` has fan-outs. Eventually consistent. */
  page(limit: number, cursor?: string): Promise<Page<List>>;
  /** D1. What a token stands for, if it does. */
  append(id: ListId, token: Token): Promise<Append | undefined>;
  /** D1. Notes that jobs are about to be stored, if the token is free: whoever clears the list away finds them. */
  beginAppend(id: ListId, token: Token, append: Append): Promise<boolean>;
  /** D1. Stores jobs under their token. Again is harmless. */
  putJobs(id: ListId, token: Token, payloads: readonly string[]): Promise<void>;
  /** D1. They become the list's, if it is open and has as many jobs as `first`, and they are not yet. */
  publish(
    id: ListId,
    token: Token,
    take: { readonly first: number; readonly count: number; readonly at: Millis },
  ): Promise<boolean>;
  /** Jobs of a range, in their order: all, or as many of the first as come to some megabytes. */
  jobs(id: ListId, range: Range): Promise<readonly Job[]>;
  /**
   * D2. Leases the next `count` jobs that were never handed out, if there are so many of the `total` that were seen,
   * the list hands out jobs, fewer than `most` are leased, and the key is free.
   */
  leaseFresh(
    id: ListId,
    take: Pick<Lease, 'key' | 'count' | 'until'> & { readonly total: number; readonly most: number },
  ): Promise<Lease | undefined>;
  /**
   * D3 to D6. Puts leases in the place of others that are as they were seen. @param how `handing-out`: only if the list
   * does
   */
  change(id: ListId, from: readonly Seen[], to: readonly Lease[], how: 'handing-out' | 'any-time'): Promise<boolean>;
  /** D7. What a trigger took, if it did. */
  trigger(id: ListId, token: Token): Promise<Taken | undefined>;
  /** D7. So many of the jobs that a trigger took are tasks, and whoever goes on from there has been told to. */
  goOn(id: ListId, token: Token, started: number): Promise<void>;
  /** D7. Takes jobs for a token that has taken none, if all is as it was seen and the list hands out jobs. */
  take(id: ListId, token: Token, taking: Taking): Promise<boolean>;
  /** Stores results; of two for one job the first stands. Answers those that are stored, in the order asked. */
  putResults(id: ListId, results: readonly JobResult[]): Promise<readonly JobResult[]>;
  /** Results of a range, where there are some. */
  results(id: ListId, range: Range): Promise<readonly JobResult[]>;
  /**
   * Deletes what a list has beside its tracker, as far as there is time: its results group by group.
   *
   * @param groups of its tracker @param from the first group whose results may be there
   * @returns undefined once all is gone; otherwise `from` for the next call
   */
  clear(id: ListId, groups: number, from: number, how: Clearing): Promise<number | undefined>;
}

export interface Clearing {
  /** Asked before each page. */
  readonly mayGoOn: () => boolean;
  /** Whether nobody is still about to store jobs: then what says that they were goes, too. */
  readonly isSettled: boolean;
}
