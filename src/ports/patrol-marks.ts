/** How far the patrol of the lock rows has come. */

import type { OperationName } from '../domain/ids.ts';

/** Where the patrol of the lock rows stands, kept between the minutes. */
export interface PatrolMark {
  readonly operation: OperationName;
  readonly cursor?: string;
  /** Lock rows seen in the round that is under way, and in the whole round before. */
  readonly seen: number;
  readonly lastRound: number;
}

export interface PatrolMarks {
  read(): Promise<PatrolMark | undefined>;
  write(mark: PatrolMark): Promise<void>;
}
