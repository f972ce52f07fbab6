/**
 * A scenario of a fleet: the times at which nodes join, and the incidents and faults. Both algorithms of the benchmark
 * run the same scenarios.
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
  /** The worker thread of the node is blocked, while its heartbeats continue. */
  | { readonly at: Millis; readonly do: 'block'; readonly span: Millis }
  /** From `at`, everything on the node takes `times` times as long. 1 ends the slowness. */
  | { readonly at: Millis; readonly do: 'slow'; readonly times: number };

/** A process of a node. Processes with the same name are one node that restarts, or a mistake of its user. */
export interface SimulatedNode {
  readonly name: string;
  /** How long the node's partitions wait for its next process, in ms. @default 0 */
  readonly restartWithin?: Millis;
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
  /** When the measurement begins. The nodes join and settle before. */
  readonly measureFrom: Millis;
  readonly endsAt: Millis;
  /** The share of calls to the table that fail before or after their effect, 0 to 1. */
  readonly storeErrors: number;
  /**
   * The time from which checkpoints have rows of their own. Before that, they are stored as in 0.2.0. @default - the
   * start
   */
  readonly separatesAt?: Millis;
  /** The share of notifications that are lost, 0 to 1. Only one of the algorithms uses them. */
  readonly lostNotifications: number;
  /** A period in which every call to the table fails. */
  readonly outage?: { readonly from: Millis; readonly to: Millis };
  /**
   * Whether nothing fails, no node is slow or crashes, and nodes leave or restart one at a time. Each promise about
   * times then holds.
   */
  readonly isCalm?: boolean;
  readonly bug?: FleetBug;
}

/** P13. Whether the process is stopped or killed, and another one with its name starts in time. */
export const comesBack = (node: SimulatedNode, at: Millis, nodes: readonly SimulatedNode[]): boolean =>
  nodes.some(({ name, startsAt }) => name === node.name && startsAt > at && startsAt - at < (node.restartWithin ?? 0));

/** The moment after which no incident occurs. */
export const quietSince = ({ nodes, measureFrom }: FleetScenario): Millis =>
  Math.max(
    measureFrom,
    ...nodes.flatMap(({ startsAt, incidents }) => [
      startsAt,
      ...incidents.map((incident) => incident.at + ('span' in incident ? incident.span : 0)),
    ]),
  );

/** The outcome of a scenario, measured from `measureFrom` to the end. */
export interface FleetOutcome {
  /** How often a partition moved from one node to another. */
  readonly moved: number;
  /** The fewest possible moves: of the partitions of nodes that left or died, and moves that make the loads even. */
  readonly optimum: number;
  /** The time from the last incident until loads became even and stayed so, in ms; undefined if they did not. */
  readonly balancedAfter: Millis | undefined;
  /** The longest time for which no node worked on a partition, in ms. */
  readonly longestOrphaned: Millis;
  /** Seconds in which two nodes worked on the same partition at once, summed over partitions. */
  readonly doubleWorked: number;
  /** The number of checkpoints that a previous owner stored after a later owner had stored one. */
  readonly wrongCheckpoints: number;
  /** Write units per hour, without those of checkpoints. */
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
