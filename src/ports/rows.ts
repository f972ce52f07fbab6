/**
 * The rules for all stores. `src/aws` and `src/memory` implement the ports, and one contract suite (test/ports) checks
 * both for the same behaviour.
 *
 * A call with several rows may name a row twice. The writes of such a call happen in the order of the call, and each
 * has a result.
 *
 * All reads are strongly consistent unless noted. After a rejected promise, the write may have happened or not, so
 * every step must be repeatable.
 */

/** A cursor that does not come from a page. */
export class InvalidCursor extends Error {
  override readonly name = 'InvalidCursor';
  constructor() {
    super('the cursor does not come from a page: leave it out to begin with the first page');
  }
}

/**
 * A row of a version that this release does not know. A later release wrote it, and was then rolled back or still runs
 * beside this one. The row stays unchanged, and SQS delivers the message that needed it again. Only a deployment helps,
 * not a retry.
 */
export class NewerRow extends Error {
  override readonly name = 'NewerRow';
  /** The kind of the row, such as `task`. */
  readonly kind: string;
  readonly row: string;
  readonly version: number;
  constructor({ kind, name, version, reads, release }: NewerRowSeen) {
    super(
      `the ${kind} row ${JSON.stringify(name)} has version ${version}, and Groupage ${release} reads versions up to ${reads}: a later release wrote it. Deploy that release again, or a later one; until then the row stays unchanged`,
    );
    this.kind = kind;
    this.row = name;
    this.version = version;
  }
}

interface NewerRowSeen {
  readonly kind: string;
  readonly name: string;
  readonly version: number;
  /** The newest version that this release reads. */
  readonly reads: number;
  readonly release: string;
}

/** Measures the cost of reads. */
export interface ReadMeter {
  /** The read units that the reads of some work consumed, including reads at the same time. */
  measure(work: () => Promise<void>): Promise<number>;
}
