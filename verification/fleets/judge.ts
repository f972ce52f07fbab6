/**
 * Checks the promises of fleets at every unit of work, at every checkpoint, and at the end. The rules P5 to P8 are
 * those of the fleet: loads are even, only one node works on a partition, the node's lease covers its work, and
 * checkpoints are never lost or overwritten by an earlier owner. The rules about processes that end and start again
 * (P12 to P14) are in names.ts.
 */

import type { NodeKey, PartitionId } from '../../src/domain/fleets/ids.ts';
import type { Millis } from '../../src/domain/ids.ts';
import type { FleetRows } from '../../src/memory/fleets.ts';
import type { Held } from '../../src/ports/fleets.ts';
import { Names } from './names.ts';
import { type FleetScenario, quietSince, type SimulatedNode } from './scenario.ts';

/** The time within which a fleet settles, in ms: the longest lease duration (Ttl), a long pause, and some cycles. */
const QUIET: Millis = 10 * 60_000;
/** The largest share of failing calls for which the time to settle is known, 0 to 1. */
const MANY_ERRORS = 0.1;

export class Judge {
  readonly #scenario: FleetScenario;
  readonly #rows: FleetRows;
  readonly #isAlive: (prefix: string) => boolean;
  readonly #now: () => Millis;
  readonly #onBroken: (promise: string) => void;
  /** For each partition, the nodes that currently work on a unit. */
  readonly #running = new Map<PartitionId, Set<string>>();
  /** For each partition, the highest fence with which a checkpoint was stored. */
  readonly #accepted = new Map<PartitionId, number>();
  /**
   * For each partition, the progress of the last checkpoint that was stored successfully. The next owner continues from
   * there.
   */
  readonly #stored = new Map<PartitionId, number>();
  /** For each partition, the fence and the progress with which work last began. */
  readonly #begun = new Map<PartitionId, { readonly fence: number; readonly from: number }>();
  readonly #names: Names;
  wrongCheckpoints = 0;

  constructor(
    scenario: FleetScenario,
    rows: FleetRows,
    isAlive: (prefix: string) => boolean,
    now: () => Millis,
    onBroken: (promise: string) => void,
  ) {
    this.#scenario = scenario;
    this.#rows = rows;
    this.#isAlive = isAlive;
    this.#now = now;
    this.#onBroken = onBroken;
    this.#names = new Names(scenario, onBroken);
  }

  starts(prefix: string, node: SimulatedNode): void {
    this.#names.starts(prefix, node, this.#now());
  }

  /** The process was asked to end. */
  stops(prefix: string): void {
    this.#names.stops(prefix);
  }

  /** The process has ended. */
  ends(prefix: string): void {
    this.#names.ends(prefix, this.#now());
  }

  refused(prefix: string): void {
    this.#names.refused(prefix, this.#now());
  }

  /**
   * P6, P7. A node that may work by its own deadline still owns the lease. A previous owner that gave the partition
   * away has ended its work.
   */
  unitBegins(prefix: string, id: PartitionId, fence: number, at: Millis): void {
    for (const other of this.#running.get(id) ?? [])
      if (other !== prefix && this.#isMember(other))
        this.#onBroken(
          `P6: ${prefix} begins a unit of partition ${id} while its previous owner ${other} still works on it`,
        );
    this.#running.set(id, new Set([...(this.#running.get(id) ?? []), prefix]));
    const working = [...this.#running.values()].flatMap((prefixes) => [...prefixes]);
    this.#names.unitBegins(
      prefix,
      id,
      at,
      working.filter((other) => this.#isMember(other)),
    );
    const lease = this.#rows.leases.get(id);
    if (!lease?.owner?.startsWith(prefix) || lease.fence !== fence)
      this.#onBroken(
        `P7: ${prefix} begins a unit of partition ${id} with fence ${fence}, but ${lease?.owner} owns it with fence ${lease?.fence}`,
      );
  }

  unitEnds(prefix: string, id: PartitionId, at: Millis): void {
    this.#running.get(id)?.delete(prefix);
    this.#names.unitEnds(prefix, id, at);
  }

  /**
   * The node must stop work on the partition at once. It may still complete its current unit, which no judge checks.
   */
  dropped(prefix: string, id: PartitionId): void {
    this.#running.get(id)?.delete(prefix);
  }

  /** Whether the node is alive and was not evicted as dead. */
  #isMember(prefix: string): boolean {
    const lives = [...this.#rows.nodes.values()].filter(({ key }) => key.startsWith(prefix));
    return this.#isAlive(prefix) && lives.length > 0 && lives.every(({ evicted }) => !evicted);
  }

  /**
   * P8. A new owner continues from the last checkpoint that a previous owner stored successfully, or from a later
   * checkpoint.
   */
  begins({ partition, owner, fence }: Held, checkpoint: string | undefined): void {
    const from = Number(checkpoint ?? 0);
    this.#begun.set(partition, { fence, from });
    this.#mustContinue(partition, owner, from, this.#stored.get(partition) ?? 0);
  }

  #mustContinue(partition: PartitionId, owner: NodeKey, from: number, stored: number): void {
    if (from < stored)
      this.#onBroken(`P8: partition ${partition} was begun from ${from}, although ${stored} was stored (${owner})`);
  }

  /** P8. No node stores a checkpoint after a later owner's checkpoint. */
  checkpoint({ partition, owner, fence }: Held, text: string): void {
    this.#stored.set(partition, Math.max(this.#stored.get(partition) ?? 0, Number(text)));
    const begun = this.#begun.get(partition);
    if (begun && begun.fence > fence) this.#mustContinue(partition, owner, begun.from, Number(text));
    const accepted = this.#accepted.get(partition) ?? 0;
    this.#accepted.set(partition, Math.max(accepted, fence));
    if (fence >= accepted) return;
    this.wrongCheckpoints += 1;
    this.#onBroken(`P8: ${owner} stored a checkpoint of partition ${partition} with fence ${fence} after ${accepted}`);
  }

  /** P5. Any two loads differ at most by the weight of the heaviest partition. */
  get isEven(): boolean {
    const loads = [...this.#loads().values()];
    return (
      loads.length === 0 || Math.max(...loads) - Math.min(...loads) <= Math.max(1, ...(this.#scenario.weights ?? []))
    );
  }

  /** Checks the state at the end, after a time without incidents. @param alive the prefixes of running processes */
  end(alive: readonly string[]): void {
    const { endsAt, storeErrors, partitions } = this.#scenario;
    const { leases } = this.#rows;
    if (endsAt - quietSince(this.#scenario) < QUIET || alive.length === 0 || storeErrors > MANY_ERRORS) return;
    if (leases.size !== partitions) this.#onBroken(`${partitions - leases.size} partitions were never taken`);
    for (const { owner, partition } of leases.values())
      if (owner === undefined || !alive.some((prefix) => owner.startsWith(prefix)))
        this.#onBroken(`partition ${partition} has no living owner in the end (owner: ${owner})`);
    if (!this.isEven)
      this.#onBroken(`loads are uneven in the end (${JSON.stringify(Object.fromEntries(this.#loads()))})`);
  }

  #loads(): ReadonlyMap<NodeKey, number> {
    const { nodes, leases } = this.#rows;
    const members = [...nodes.values()].filter(({ evicted }) => !evicted);
    const loads = new Map(members.map(({ key }): [NodeKey, number] => [key, 0]));
    for (const { owner, partition } of leases.values()) {
      const weight = this.#scenario.weights?.[Number(partition)] ?? 1;
      if (owner !== undefined && loads.has(owner)) loads.set(owner, (loads.get(owner) ?? 0) + weight);
    }
    return loads;
  }
}
