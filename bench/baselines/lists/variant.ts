/**
 * A way to hand out each job of a list once; the published account has three. All variants do the same jobs for the
 * same claimers.
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** A claimed job, as its variant names it. */
export interface Taken {
  readonly job: string;
  readonly payload: string;
}

/** A list of one variant. */
export interface Way {
  /**
   * Moves the list to the state after the first jobs are done. Only forward; not measured.
   * @throws RowTooLarge
   */
  advance(done: number): Promise<void>;
  /**
   * Claims the next job.
   * @returns nothing if no job is left
   */
  claim(claimer: string): Promise<Taken | undefined>;
  complete(taken: Taken): Promise<void>;
}

/** The two variants without tokens keep a row for each job in a table of their own (`Id`: the list, `Job`). */
export interface JobTable {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly list: string;
  readonly jobs: number;
}

/** Ids as long as a ULID, which names jobs that are not numbered, and in order. */
export const jobIdOf = (job: number): string => `01K9${String(job).padStart(22, '0')}`;

/** A row would exceed DynamoDB's limit of 400 KB. */
export class RowTooLarge extends Error {
  override readonly name = 'RowTooLarge';
  constructor(jobs: number, cause: unknown) {
    super(`a row cannot hold ${jobs} ids`, { cause });
  }
}
