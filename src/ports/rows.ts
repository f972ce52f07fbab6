/**
 * What holds for every store. `src/aws` and `src/memory` implement the ports; one contract suite (test/ports) holds both to the
 * same behaviour.
 *
 * A call of many rows may name one twice: its writes happen in the order asked, and each has an answer.
 *
 * All reads are strongly consistent unless they say otherwise. A promise that rejects leaves open whether the write
 * happened: every step may be repeated.
 */

/** A cursor that no page gave. */
export class InvalidCursor extends Error {
  override readonly name = 'InvalidCursor';
  constructor() {
    super('the cursor is not one that a page gave: leave it out to begin with the first page');
  }
}

/**
 * A row that a later release wrote, in a way that this one does not know: a deployment went back, or its old functions still
 * run beside the new ones. It is left as it is, and whatever asked for it comes back. No retry helps before a deployment does.
 */
export class NewerRow extends Error {
  override readonly name = 'NewerRow';
  /** What the row is of, such as `task`. */
  readonly kind: string;
  readonly row: string;
  readonly version: number;
  constructor({ kind, name, version, reads, release }: NewerRowSeen) {
    super(
      `the ${kind} row ${JSON.stringify(name)} has version ${version}, and Groupage ${release} reads versions up to ${reads}: a later release wrote it. Deploy that release again, or one after it; until then the row stays as it is`,
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

/** What reads cost. */
export interface ReadMeter {
  /** What the reads of some work consumed, in read units, however much of it happens at one time. */
  measure(work: () => Promise<void>): Promise<number>;
}
