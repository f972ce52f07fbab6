/**
 * A way to hand out each job of a list once. The published account has three ways. In all variants, the same claimers
 * do the same jobs.
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** A claimed job, identified as its variant does. */
export interface Taken {
  readonly job: string;
  readonly payload: string;
}

/** A list in one of the variants. */
export interface Way {
  /**
   * Moves the list to the state in which the first `done` jobs are done. The list only moves forward; the costs of this
   * are not measured.
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

/** A table with a row for each job, for the two variants without tokens (`Id`: the list, `Job`). */
export interface JobTable {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly list: string;
  readonly jobs: number;
}

/**
 * An id that is as long as a ULID. It identifies a job in variants without numbers, and ids are in the order of jobs.
 */
export const jobIdOf = (job: number): string => `01K9${String(job).padStart(22, '0')}`;

/** A row would exceed DynamoDB's limit of 400 KB. */
export class RowTooLarge extends Error {
  override readonly name = 'RowTooLarge';
  constructor(jobs: number, cause: unknown) {
    super(`a row cannot hold ${jobs} ids`, { cause });
  }
}
