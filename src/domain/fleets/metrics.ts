/**
 * The metrics of fleets, which workers write themselves. docs/reference/metrics.md and the alarms of `FleetTable` are
 * made from this list. Each metric has the dimension `fleet`; the node is no dimension, because CloudWatch charges for
 * each value of a dimension.
 */
export const FLEET_DIMENSION = 'fleet';

interface FleetMetric {
  readonly unit: 'Count' | 'Milliseconds';
  /**
   * How the values of several nodes are combined. `same`: each node writes the same value for the fleet. `sum`: each
   * node writes its own part.
   */
  readonly nodes: 'same' | 'sum' | 'max';
  /** The meaning in one sentence. */
  readonly meaning: string;
}

export const FLEET_METRICS = {
  PartitionsUnworked: {
    unit: 'Count',
    nodes: 'same',
    meaning: 'Partitions that no node works on: free ones, and those that wait for a restart',
  },
  PartitionsMoved: { unit: 'Count', nodes: 'sum', meaning: 'Partitions that moved from one node to another' },
  NodesEvicted: { unit: 'Count', nodes: 'sum', meaning: 'Nodes evicted, because they wrote no heartbeat in time' },
  HandlersFinished: {
    unit: 'Count',
    nodes: 'sum',
    meaning: 'Partitions that a node keeps without work, because `onPartition` returned by itself',
  },
  HandlersStuck: {
    unit: 'Count',
    nodes: 'sum',
    meaning: 'Calls of `onPartition` that still run although their partition was lost over 10 s ago',
  },
  CheckpointAge: {
    unit: 'Milliseconds',
    nodes: 'max',
    meaning:
      "Longest time since a partition's last checkpoint was stored, or since its owner began, in milliseconds; without partitions that never stored one",
  },
} as const satisfies Record<string, FleetMetric>;

export type FleetMetricName = keyof typeof FLEET_METRICS;

/** The values of one node in one minute. Absent values are not written. */
export type FleetValues = Readonly<Partial<Record<FleetMetricName, number>>>;
