/** What fleets promise, checked with every unit of work, every checkpoint, and in the end. */

import type { NodeKey, PartitionId } from '../../src/domain/fleets/ids.ts';
import type { Millis } from '../../src/domain/ids.ts';
import type { FleetRows } from '../../src/memory/fleets.ts';
import type { Held } from '../../src/ports/fleets.ts';
import { type FleetScenario, quietSince } from './scenario.ts';

/** Within which all has settled: the longest Ttl, a long time away, and some cycles. */
const QUIET: Millis = 10 * 60_000;
/** Where more calls fail than that, nobody can say when all has settled. */
const MANY_ERRORS = 0.1;

export class Judge {
  readonly #scenario: FleetScenario;
  readonly #rows: FleetRows;
  readonly #isAlive: (name: string) => boolean;
  readonly #onBroken: (promise: string) => void;
  /** Who is at a unit of it. */
  readonly #running = new Map<PartitionId, Set<string>>();
  /** The highest fence with which a checkpoint was stored. */
  readonly #accepted = new Map<PartitionId, number>();
  /** How far the work was by the last checkpoint that an owner was answered is stored. Each goes on from there. */
  readonly #stored = new Map<PartitionId, number>();
  /** With which fence and from where it was begun last. */
  readonly #begun = new Map<PartitionId, { readonly fence: number; readonly from: number }>();
  wrongCheckpoints = 0;

  constructor(
    scenario: FleetScenario,
    rows: FleetRows,
    isAlive: (name: string) => boolean,
    onBroken: (promise: string) => void,
  ) {
    this.#scenario = scenario;
    this.#rows = rows;
    this.#isAlive = isAlive;
    this.#onBroken = onBroken;
  }

  /**
   * P6, P7. Whoever may work by its own deadline still has the lease; and whoever had it before has ended, if it gave it
   * away.
   */
  unitBegins(name: string, id: PartitionId, fence: number): void {
    for (const other of this.#running.get(id) ?? [])
      if (other !== name && this.#isOfTheFleet(other))
        this.#onBroken(
          `P6: ${name} begins a unit of partition ${id} while ${other}, who had it before, still works on it`,
        );
    this.#running.set(id, new Set([...(this.#running.get(id) ?? []), name]));
    const lease = this.#rows.leases.get(id);
    if (!lease?.owner?.startsWith(`${name}@`) || lease.fence !== fence)
      this.#onBroken(
        `P7: ${name} begins a unit of partition ${id} with fence ${fence}, which ${lease?.owner} has with ${lease?.fence}`,
      );
  }

  unitEnds(name: string, id: PartitionId): void {
    this.#running.get(id)?.delete(name);
  }

  /** It was told to stop at once: what it is at is its own. */
  dropped(name: string, id: PartitionId): void {
    this.unitEnds(name, id);
  }

  /** It was not taken for dead, and is not. */
  #isOfTheFleet(name: string): boolean {
    const lives = [...this.#rows.nodes.values()].filter(({ key }) => key.startsWith(`${name}@`));
    return this.#isAlive(name) && lives.length > 0 && lives.every(({ evicted }) => !evicted);
  }

  /** P8. A new owner goes on from the last checkpoint that an owner of before is answered is stored: before, or later. */
  begins({ partition, owner, fence }: Held, checkpoint: string | undefined): void {
    const from = Number(checkpoint ?? 0);
    this.#begun.set(partition, { fence, from });
    this.#mustGoOn(partition, owner, from, this.#stored.get(partition) ?? 0);
  }

  #mustGoOn(partition: PartitionId, owner: NodeKey, from: number, stored: number): void {
    if (from < stored)
      this.#onBroken(`P8: partition ${partition} was begun from ${from}, though ${stored} was stored (${owner})`);
  }

  /** P8. Nobody stores a checkpoint after one of a later owner. */
  checkpoint({ partition, owner, fence }: Held, text: string): void {
    this.#stored.set(partition, Math.max(this.#stored.get(partition) ?? 0, Number(text)));
    const begun = this.#begun.get(partition);
    if (begun && begun.fence > fence) this.#mustGoOn(partition, owner, begun.from, Number(text));
    const accepted = this.#accepted.get(partition) ?? 0;
    this.#accepted.set(partition, Math.max(accepted, fence));
    if (fence >= accepted) return;
    this.wrongCheckpoints += 1;
    this.#onBroken(`P8: ${owner} stored a checkpoint of partition ${partition} with fence ${fence} after ${accepted}`);
  }

  /** P5. No two loads differ by more than the heaviest that could move. */
  get isEven(): boolean {
    const loads = [...this.#loads().values()];
    return (
      loads.length === 0 || Math.max(...loads) - Math.min(...loads) <= Math.max(1, ...(this.#scenario.weights ?? []))
    );
  }

  /** After a time in which nothing happened any more. @param alive the names of those who run */
  end(alive: readonly string[]): void {
    const { endsAt, storeErrors, partitions } = this.#scenario;
    const { leases } = this.#rows;
    if (endsAt - quietSince(this.#scenario) < QUIET || alive.length === 0 || storeErrors > MANY_ERRORS) return;
    if (leases.size !== partitions) this.#onBroken(`${partitions - leases.size} partitions were never taken`);
    for (const { owner, partition } of leases.values())
      if (owner === undefined || !alive.some((name) => owner.startsWith(`${name}@`)))
        this.#onBroken(`partition ${partition} is nobody's in the end, or that of somebody who is gone (${owner})`);
    if (!this.isEven) this.#onBroken(`loads are ${JSON.stringify(Object.fromEntries(this.#loads()))} in the end`);
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
