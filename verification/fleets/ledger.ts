/**
 * Records which node worked on which partition at which times, and computes the outcome from the record. Both
 * algorithms of the benchmark use it.
 */
import type { Millis } from '../../src/domain/ids.ts';
import { START } from '../../src/virtual/trace.ts';
import { optimumOf } from './optimum.ts';
import { type FleetOutcome, type FleetScenario, quietSince } from './scenario.ts';

export interface Stretch {
  readonly partition: string;
  readonly node: string;
  readonly from: Millis;
  readonly to: Millis;
}

/** The largest gap between two stretches of work of one node that count as one stretch, in ms. */
const JOINED: Millis = 50;

export class Ledger {
  readonly #scenario: FleetScenario;
  /** When the measurement begins. */
  readonly #from: Millis;
  readonly #worked = new Map<string, Stretch[]>();
  readonly #lastOf = new Map<string, string>();
  #moved = 0;
  #lastAcquired: Millis = 0;
  #writes = 0;

  constructor(scenario: FleetScenario) {
    this.#scenario = scenario;
    this.#from = START + scenario.measureFrom;
  }

  /** A node starts to own a partition. */
  acquired(partition: string, node: string, at: Millis): void {
    const last = this.#lastOf.get(partition);
    this.#lastOf.set(partition, node);
    if (at < this.#from || last === node) return;
    this.#lastAcquired = at;
    if (last !== undefined) this.#moved += 1;
  }

  /** A node worked on a partition for some time. */
  worked(stretch: Stretch): void {
    const all = this.#worked.get(stretch.partition) ?? [];
    this.#worked.set(stretch.partition, all);
    const last = all.findLast(({ node }) => node === stretch.node);
    if (last && stretch.from - last.to <= JOINED && all.at(-1) === last)
      all[all.length - 1] = { ...last, to: stretch.to };
    else all.push(stretch);
  }

  wrote(at: Millis): void {
    if (at >= this.#from) this.#writes += 1;
  }

  /** @param isEven whether the loads are even at the end */
  outcome(isEven: boolean): Omit<FleetOutcome, 'wrongCheckpoints' | 'violations'> {
    const all = [...this.#worked.values()];
    const endsAt = START + this.#scenario.endsAt;
    return {
      moved: this.#moved,
      optimum: optimumOf(this.#scenario),
      balancedAfter: isEven ? Math.max(0, this.#lastAcquired - START - quietSince(this.#scenario)) : undefined,
      longestOrphaned: Math.max(0, ...all.map((stretches) => longestGap(stretches, this.#from, endsAt))),
      doubleWorked: all.reduce((sum, stretches) => sum + overlap(stretches, this.#from), 0) / 1_000,
      writeUnitsPerHour: Math.round((this.#writes * 3_600_000) / (endsAt - this.#from)),
      worked: all.flat().map((stretch) => ({ ...stretch, from: stretch.from - START, to: stretch.to - START })),
    };
  }
}

const inOrder = (all: readonly Stretch[]): readonly Stretch[] => all.toSorted((a, b) => a.from - b.from);

const longestGap = (all: readonly Stretch[], from: Millis, endsAt: Millis): Millis => {
  let [reached, longest] = [from, 0];
  for (const stretch of inOrder(all)) {
    longest = Math.max(longest, Math.min(stretch.from, endsAt) - reached);
    reached = Math.max(reached, stretch.to);
  }
  return Math.max(longest, endsAt - reached);
};

/** How long two or more nodes worked on the same partition at once, in ms. */
const overlap = (all: readonly Stretch[], from: Millis): Millis => {
  let [reached, sum] = [from, 0];
  for (const stretch of inOrder(all)) {
    sum += Math.max(0, Math.min(reached, stretch.to) - Math.max(stretch.from, from));
    reached = Math.max(reached, stretch.to);
  }
  return sum;
};
