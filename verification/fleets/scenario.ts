/**
 * A scenario of a fleet: when nodes join, and which incidents and faults occur. Both algorithms of the benchmark run
 * the same scenarios.
 */
import type { Millis } from '../../src/domain/ids.ts';
import type { Work } from '../../src/fleet/member.ts';
import type { FleetRows } from '../../src/memory/fleets.ts';
import type { Fleets, Held } from '../../src/ports/fleets.ts';

/** An incident of a node. */
export type Incident =
  /** The node dies without leaving. */
  | { readonly at: Millis; readonly do: 'crash' }
  /** The node is asked to leave, as by SIGTERM. */
  | { readonly at: Millis; readonly do: 'leave' }
  /** The whole node stands still for a while, as after SIGSTOP. */
  | { readonly at: Millis; readonly do: 'pause'; readonly span: Millis }
  /** Its worker thread is blocked, while its heartbeats continue. */
  | { readonly at: Millis; readonly do: 'block'; readonly span: Millis }
  /** From then on everything takes this many times as long. 1 ends it. */
  | { readonly at: Millis; readonly do: 'slow'; readonly times: number };

export interface SimulatedNode {
  readonly name: string;
  readonly startsAt: Millis;
  readonly incidents: readonly Incident[];
}

/** Replacements that put a known bug back. */
export interface FleetBug {
  readonly fleets?: (fleets: Fleets, rows: FleetRows) => Partial<Fleets>;
  readonly work?: (work: Work, drained: (held: Held) => void) => Partial<Work>;
}

export interface FleetScenario {
  readonly name: string;
  readonly seed: number;
  readonly partitions: number;
  /** The weight of each partition, in order. @default - 1 each */
  readonly weights?: readonly number[];
  readonly nodes: readonly SimulatedNode[];
  /** When the measurement begins. Before it the nodes join and settle. */
  readonly measureFrom: Millis;
  readonly endsAt: Millis;
  /** The share of calls to the table that fail, before or after their effect, 0 to 1. */
  readonly storeErrors: number;
  /**
   * From then on checkpoints have rows of their own. Before, they are stored as in 0.2.0. @default from the beginning
   */
  readonly separatesAt?: Millis;
  /** The share of notifications that are lost, 0 to 1. Only one of the algorithms uses them. */
  readonly lostNotifications: number;
  /** A time in which every call to the table fails. */
  readonly outage?: { readonly from: Millis; readonly to: Millis };
  readonly bug?: FleetBug;
}

/** No incident occurs after this moment. */
export const quietSince = ({ nodes, measureFrom }: FleetScenario): Millis =>
  Math.max(
    measureFrom,
    ...nodes.flatMap(({ startsAt, incidents }) => [
      startsAt,
      ...incidents.map((incident) => incident.at + ('span' in incident ? incident.span : 0)),
    ]),
  );

/** The outcome of a scenario, measured from `measureFrom` on. */
export interface FleetOutcome {
  /** How often a partition moved from one node to another. */
  readonly moved: number;
  /** The fewest possible moves: the partitions of nodes that left or died, and moves that even out the loads. */
  readonly optimum: number;
  /** The time from the last incident until loads were even for good, in ms; undefined if never. */
  readonly balancedAfter: Millis | undefined;
  /** The longest time for which no node worked on a partition, in ms. */
  readonly longestOrphaned: Millis;
  /** Seconds, summed over partitions, in which two nodes worked on one partition at once. */
  readonly doubleWorked: number;
  /** Checkpoints that a previous owner stored. */
  readonly wrongCheckpoints: number;
  /** Write units per hour, without checkpoints. */
  readonly writeUnitsPerHour: number;
  /** The broken promises. */
  readonly violations: readonly string[];
  /** The work of each node on each partition, for a picture. */
  readonly worked: readonly {
    readonly partition: string;
    readonly node: string;
    readonly from: Millis;
    readonly to: Millis;
  }[];
}
