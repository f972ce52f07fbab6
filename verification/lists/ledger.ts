/**
 * What is known of a list without asking the code that is judged: from the rows as they were written, and from what
 * people were told.
 */
import type { Millis } from '../../src/domain/ids.ts';
import type { Range } from '../../src/domain/lists/ids.ts';
import type { List } from '../../src/domain/lists/list.ts';
import type { Wanted } from '../../src/steps/lists/trigger.ts';

/** Where a job is. */
export type Place = 'fresh' | 'leased' | 'free' | 'triggered' | 'gone';

export interface BookedJob {
  readonly payload: string;
  place: Place;
  /** How it ended, as was written first. */
  done?: boolean;
  /** When it was done. */
  doneAt?: Millis;
}

/** One list's books. */
export class Book {
  readonly jobs: BookedJob[] = [];
  /** What a token was answered to have added, or triggered. */
  readonly appended = new Map<string, number>();
  readonly triggered = new Map<string, number>();
  /** Tokens that were answered to have added, or triggered, nothing, since it was closed. */
  readonly refused = new Set<string>();
  /** What each token was said to want to trigger. */
  readonly wanted = new Map<string, readonly Wanted[]>();
  /** The list as those who take for a token have read it, each. */
  readonly seenBy = new Map<string, readonly List[]>();
  /** Tokens of triggers that have taken what they take. */
  readonly taken = new Set<string>();

  at({ first, count }: Range): readonly BookedJob[] {
    return this.jobs.slice(first, first + count);
  }

  count(fits: (job: BookedJob) => boolean): number {
    return this.jobs.filter(fits).length;
  }
}

/** The payload of a job, by which it is known again. */
export const payloadOf = (token: string, index: number, isOther: boolean): string =>
  `{"depot":${index % 3},"of":"${token}","n":${index}${isOther ? ',"other":true' : ''}}`;
