/**
 * A record of a fan-out's reserved and acked items. It is kept from the rows as they were written, without the code
 * under test.
 */

import type { Item } from '../../src/domain/fan-out-ids.ts';
import type { NodeSize } from '../../src/domain/fan-outs/tree.ts';
import type { Millis } from '../../src/domain/ids.ts';

interface Group {
  readonly size: number;
  /** Whether each acked item succeeded, by the item's index. The first stored outcome counts. */
  readonly done: Map<number, boolean>;
  /** The items that were corrected after they had failed (T11). */
  readonly corrected: Set<number>;
}

/** Counts of a fan-out, or of a part of it. */
export interface Tally {
  readonly items: number;
  readonly done: number;
  readonly failed: number;
  readonly corrected: number;
}

/** The record of one fan-out. */
export class Book {
  readonly #width: number;
  readonly groups: Group[] = [];
  /** When an item was last acked. */
  ackedAt: Millis = 0;
  /** When the patrol first interrupted the walk that it continues later. */
  walkBeganAt: Millis | undefined;
  /** Items whose tasks were redriven with success, as `group:index`. */
  readonly redriven = new Set<string>();
  /** When items were corrected. */
  readonly correctedAt: Millis[] = [];
  /** When more items than tolerated had failed, if a sum must find that (T10). */
  exceededAt: Millis | undefined;
  /** Number of sums that functions began since then. */
  sums = 0;
  /** Number of faults that were injected before. */
  faultsBefore = 0;
  /** When an ack was last answered, and since when acks have been answered at least each second. */
  answeredAt: Millis = 0;
  steadyFrom: Millis = 0;
  /** The calls that were answered with `complete`: seals, and acks by their delivery. */
  readonly saidTo = new Set<object | 'seal'>();
  /** The groups that were returned for each token. */
  readonly added = new Map<string, string>();
  /** Tokens that were refused because the fan-out was sealed or complete. */
  readonly refused = new Set<string>();

  constructor({ width }: NodeSize) {
    this.#width = width;
  }

  /** Adds items: full groups, and one group for the remaining items. */
  reserve(count: number): void {
    for (let left = count; left > 0; left -= this.#width)
      this.groups.push({ size: Math.min(left, this.#width), done: new Map(), corrected: new Set() });
  }

  has({ group, index }: Pick<Item, 'group' | 'index'>): boolean {
    return index < (this.groups[group]?.size ?? 0);
  }

  /** Counts of the groups below a node; by default, of all groups. */
  tally(from = 0, to = this.groups.length): Tally {
    let [items, done, failed, corrected] = [0, 0, 0, 0];
    for (let n = from; n < Math.min(to, this.groups.length); n += 1) {
      const group = this.groups[n] as Group;
      items += group.size;
      done += group.done.size;
      corrected += group.corrected.size;
      for (const succeeded of group.done.values()) if (!succeeded) failed += 1;
    }
    return { items, done, failed, corrected };
  }

  get isAllDone(): boolean {
    const { items, done } = this.tally();
    return items === done;
  }
}
