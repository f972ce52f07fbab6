/**
 * What is known of fan-outs without asking the code that is judged: what was reserved and what was acked, as the rows were
 * written.
 */

import type { Item } from '../../src/domain/fan-out-ids.ts';
import type { NodeSize } from '../../src/domain/fan-outs/tree.ts';
import type { Millis } from '../../src/domain/ids.ts';

interface Group {
  readonly size: number;
  /** Items that are done, by their index, and whether they succeeded: as was written first. */
  readonly done: Map<number, boolean>;
}

/** What a part of a fan-out comes to. */
export interface Tally {
  readonly items: number;
  readonly done: number;
  readonly failed: number;
}

/** One fan-out's books. */
export class Book {
  readonly #width: number;
  readonly groups: Group[] = [];
  /** When an item was acked last. */
  ackedAt: Millis = 0;
  /** When the patrol first left off in the look that it goes on with. */
  walkBeganAt: Millis | undefined;
  /** Whoever was answered that it is complete: acks by their delivery. */
  readonly saidTo = new Set<object | 'seal'>();
  /** Groups that a token was answered to stand for. */
  readonly added = new Map<string, string>();
  /** Tokens that were answered to have added nothing, since it was sealed or complete. */
  readonly refused = new Set<string>();

  constructor({ width }: NodeSize) {
    this.#width = width;
  }

  /** More items: full groups, and one for the rest. */
  reserve(count: number): void {
    for (let left = count; left > 0; left -= this.#width)
      this.groups.push({ size: Math.min(left, this.#width), done: new Map() });
  }

  has({ group, index }: Pick<Item, 'group' | 'index'>): boolean {
    return index < (this.groups[group]?.size ?? 0);
  }

  /** Of the groups below a node, or of all. */
  tally(from = 0, to = this.groups.length): Tally {
    let [items, done, failed] = [0, 0, 0];
    for (let n = from; n < Math.min(to, this.groups.length); n += 1) {
      const group = this.groups[n] as Group;
      items += group.size;
      done += group.done.size;
      for (const succeeded of group.done.values()) if (!succeeded) failed += 1;
    }
    return { items, done, failed };
  }

  get isAllDone(): boolean {
    const { items, done } = this.tally();
    return items === done;
  }
}
