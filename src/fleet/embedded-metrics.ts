/**
 * The metrics of one node as lines in CloudWatch's embedded metric format, one a minute. CloudWatch reads them from the
 * log of the worker's standard output, so that the worker needs no client and no permission.
 */

import { NAMESPACE } from '../domain/events/metrics.ts';
import type { FleetEvent } from '../domain/fleets/events.ts';
import type { FleetName, NodeId } from '../domain/fleets/ids.ts';
import { FLEET_DIMENSION, FLEET_METRICS, type FleetMetricName, type FleetValues } from '../domain/fleets/metrics.ts';
import type { Millis } from '../domain/ids.ts';
import type { Workload } from './workers.ts';

/** Adds up the values of a node between two lines. */
export class NodeMetrics {
  #moved = 0;
  #evicted = 0;
  #unworked: number | undefined;

  /** Counts an event of the node. */
  count(event: FleetEvent): void {
    if (event.event === 'acquired' && event.fence > 1 && !event.returned) this.#moved += 1;
    if (event.event === 'evicted-another') this.#evicted += 1;
  }

  /** @param unworked how many partitions no node works on, according to the last read */
  seen(unworked: number): void {
    this.#unworked = unworked;
  }

  /** The values since the last call. Counts of 0 are left out, as in the metrics of the functions. */
  take({ finished, stuck, checkpointAge }: Workload): FleetValues {
    const counts = {
      ...{ PartitionsMoved: this.#moved, NodesEvicted: this.#evicted },
      ...{ HandlersFinished: finished, HandlersStuck: stuck },
    };
    [this.#moved, this.#evicted] = [0, 0];
    return {
      // Written also if it is 0. An alarm then finds out if no node writes it.
      ...(this.#unworked === undefined ? {} : { PartitionsUnworked: this.#unworked }),
      ...Object.fromEntries(Object.entries(counts).filter(([, value]) => value > 0)),
      ...(checkpointAge === undefined ? {} : { CheckpointAge: checkpointAge }),
    };
  }
}

/** One line of the log, without its end. Undefined if there is nothing to write. */
export const lineOf = (values: FleetValues, fleet: FleetName, node: NodeId, at: Millis): string | undefined => {
  const names = Object.keys(values) as FleetMetricName[];
  if (names.length === 0) return undefined;
  const metrics = names.map((Name) => ({ Name, Unit: FLEET_METRICS[Name].unit }));
  const directive = { Namespace: NAMESPACE, Dimensions: [[FLEET_DIMENSION]], Metrics: metrics };
  return JSON.stringify({
    _aws: { Timestamp: at, CloudWatchMetrics: [directive] },
    [FLEET_DIMENSION]: fleet,
    node,
    ...values,
  });
};
