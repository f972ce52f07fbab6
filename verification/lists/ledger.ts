/**
 * A record of a list. It is kept from the rows as they were written and from the answers to clients, without the code
 * under test.
 */
import type { Millis } from '../../src/domain/ids.ts';
import type { ClaimKey, Range } from '../../src/domain/lists/ids.ts';
import type { Lease, List } from '../../src/domain/lists/list.ts';
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
  /** How often the job came into the lease of another claim. */
  handedOut: number;
  /** The number of jobs of its last claim that were not done when this claim lost the job. */
  together: number;
  /** The delivery that a worker last reported as begun, and not as ended; 0 if there was none. */
  begunIn: number;
  /** How many of these reports were answered. */
  reported: number;
  /** Whether a worker reported that the job failed. */
  isReportedFailed: boolean;
}

/** A job when it is added. */
export const newJob = (payload: string): BookedJob => ({
  payload,
  place: 'fresh',
  handedOut: 0,
  together: 0,
  begunIn: 0,
  reported: 0,
  isReportedFailed: false,
});

/** The record of one list. */
export class Book {
  readonly maxDeliveries: number;
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
  /** How often each claim got jobs that it did not have. */
  readonly formed = new Map<ClaimKey, number>();
  /** Claims that a person has ended. */
  readonly broken = new Set<ClaimKey>();
  /** The leases of the list after the last write, those in rows of their own included. */
  leases: readonly Lease[] = [];

  constructor(maxDeliveries: number) {
    this.maxDeliveries = maxDeliveries;
  }

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
