/** What happens to a fleet in one run: who comes when, and what goes wrong. Both algorithms of the benchmark run the same. */
import type { Millis } from '../../src/domain/ids.ts';
import type { Work } from '../../src/fleet/member.ts';
import type { FleetRows } from '../../src/memory/fleets.ts';
import type { Fleets, Held } from '../../src/ports/fleets.ts';

/** What happens to a node. */
export type Incident =
  /** It ends without a word. */
  | { readonly at: Millis; readonly do: 'crash' }
  /** It is asked to leave, as by SIGTERM. */
  | { readonly at: Millis; readonly do: 'leave' }
  /** Nothing of it goes on for a while, as after SIGSTOP. */
  | { readonly at: Millis; readonly do: 'pause'; readonly span: Millis }
  /** Its thread that works is blocked; its heartbeats go on. */
  | { readonly at: Millis; readonly do: 'block'; readonly span: Millis }
  /** From then on everything takes it so many times as long. 1 ends it. */
  | { readonly at: Millis; readonly do: 'slow'; readonly times: number };

export interface SimulatedNode {
  readonly name: string;
  readonly startsAt: Millis;
  readonly incidents: readonly Incident[];
}

/** What stands in for ours: to put a known bug back. */
export interface FleetBug {
  readonly fleets?: (fleets: Fleets, rows: FleetRows) => Partial<Fleets>;
  readonly work?: (work: Work, drained: (held: Held) => void) => Partial<Work>;
}

export interface FleetScenario {
  readonly name: string;
  readonly seed: number;
  readonly partitions: number;
  /** Of each partition, in their order. @default - 1 each */
  readonly weights?: readonly number[];
  readonly nodes: readonly SimulatedNode[];
  /** What is measured begins here: before it everybody finds their place. */
  readonly measureFrom: Millis;
  readonly endsAt: Millis;
  /** How many calls on the table fail, before or after they have had their effect, 0 to 1. */
  readonly storeErrors: number;
  /** Checkpoints get rows of their own from then on; before that they are as 0.2.0 has them. @default from the beginning */
  readonly separatesAt?: Millis;
  /** How many notifications are lost, 0 to 1: of the algorithm that has some. */
  readonly lostNotifications: number;
  /** A time in which no call on the table succeeds. */
  readonly outage?: { readonly from: Millis; readonly to: Millis };
  readonly bug?: FleetBug;
}

/** From then on nothing happens to anybody any more. */
export const quietSince = ({ nodes, measureFrom }: FleetScenario): Millis =>
  Math.max(
    measureFrom,
    ...nodes.flatMap(({ startsAt, incidents }) => [
      startsAt,
      ...incidents.map((incident) => incident.at + ('span' in incident ? incident.span : 0)),
    ]),
  );

/** What came of it, from `measureFrom` on. */
export interface FleetOutcome {
  /** How often a partition went from one node to another one. */
  readonly moved: number;
  /** The fewest that could have: of whoever left or died, and to even out the rest. */
  readonly optimum: number;
  /** From the last incident until loads were even for good, in ms; undefined if never. */
  readonly balancedAfter: Millis | undefined;
  /** The longest that any partition was worked on by nobody, in ms. */
  readonly longestOrphaned: Millis;
  /** Seconds, summed over partitions, in which two nodes worked on one at once. */
  readonly doubleWorked: number;
  /** Checkpoints that were stored by whoever was not the owner any more. */
  readonly wrongCheckpoints: number;
  /** Write units in an hour, checkpoints left out. */
  readonly writeUnitsPerHour: number;
  /** What was promised, and was not kept. */
  readonly violations: readonly string[];
  /** Who worked on what, for a picture: node's name, from, to. */
  readonly worked: readonly {
    readonly partition: string;
    readonly node: string;
    readonly from: Millis;
    readonly to: Millis;
  }[];
}
