/**
 * A way to hand each job of a list out once, as the published account has three; all do the same jobs for the same
 * claimers.
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** A job that somebody has, as its way names it. */
export interface Taken {
  readonly job: string;
  readonly payload: string;
}

/** A list that one way holds. */
export interface Way {
  /** Leaves it as it is when the first jobs are done: not measured. Goes forward only. @throws RowTooLarge */
  advance(done: number): Promise<void>;
  /** The next job for somebody who claims. @returns none where nothing is left */
  claim(claimer: string): Promise<Taken | undefined>;
  complete(taken: Taken): Promise<void>;
}

/** The two ways that have no tokens keep a row for each job in a table of theirs (`Id`: the list, `Job`). */
export interface JobTable {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly list: string;
  readonly jobs: number;
}

/** As long as a ULID, which is what jobs are named by where nothing numbers them; and in their order. */
export const jobIdOf = (job: number): string => `01K9${String(job).padStart(22, '0')}`;

/** DynamoDB takes no row of more than 400 KB. */
export class RowTooLarge extends Error {
  override readonly name = 'RowTooLarge';
  constructor(jobs: number, cause: unknown) {
    super(`a row holds less than ${jobs} ids`, { cause });
  }
}
