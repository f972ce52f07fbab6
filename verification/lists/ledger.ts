/**
 * A record of a list. It is kept from the rows as they were written and from the answers to clients, without the code
 * under test.
 */
import type { Millis } from '../../src/domain/ids.ts';
import type { Range } from '../../src/domain/lists/ids.ts';
import type { List } from '../../src/domain/lists/list.ts';
import type { Wanted } from '../../src/steps/lists/trigger.ts';

/** The state of a job. */
export type Place = 'fresh' | 'leased' | 'free' | 'triggered' | 'gone';

export interface BookedJob {
  readonly payload: string;
  place: Place;
  /** Whether the job succeeded. The first stored outcome counts. */
  done?: boolean;
  /** When the job was done. */
  doneAt?: Millis;
}

/** The record of one list. */
export class Book {
  readonly jobs: BookedJob[] = [];
  /** The answer for each token: the number of the first added job, or the count of triggered jobs. */
  readonly appended = new Map<string, number>();
  readonly triggered = new Map<string, number>();
  /** Tokens that were refused because the list was closed. */
  readonly refused = new Set<string>();
  /** The requested amounts of each trigger token. */
  readonly wanted = new Map<string, readonly Wanted[]>();
  /** The states of the list that were read for each token before jobs were taken. */
  readonly seenBy = new Map<string, readonly List[]>();
  /** Tokens of triggers that have taken their jobs. */
  readonly taken = new Set<string>();

  at({ first, count }: Range): readonly BookedJob[] {
    return this.jobs.slice(first, first + count);
  }

  count(fits: (job: BookedJob) => boolean): number {
    return this.jobs.filter(fits).length;
  }
}

/** The payload of a job, which identifies it. */
export const payloadOf = (token: string, index: number, isOther: boolean): string =>
  `{"depot":${index % 3},"of":"${token}","n":${index}${isOther ? ',"other":true' : ''}}`;
