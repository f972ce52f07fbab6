/**
 * P2. Decides which nodes are dead, as one observer sees them. No two clocks are compared.
 *
 * - *heard*: this read shows another heartbeat than the previous read. Silence and reads begin again at 0.
 * - *silent*: the heartbeat is unchanged. Silence grows by the time between two reads, but by at most one cycle,
 *   because an observer that was late itself has read nothing in between.
 * - *dead*: silence has reached the node's own Ttl, over four reads. The observer may evict the node, on condition that
 *   the heartbeat is still the one that it read (P3).
 */
import type { Millis } from '../ids.ts';
import { type Fleet, isFree, type Node, type Share } from './fleet.ts';
import type { NodeKey, PartitionId } from './ids.ts';
import { JITTER, READS_MIN } from './timings.ts';

interface Sighting {
  readonly beat: number;
  /** How long, in ms, the heartbeat has been read unchanged. */
  readonly silence: Millis;
  /** In how many reads the heartbeat was unchanged, not counting the first read that showed it. */
  readonly reads: number;
  /** How often a read has shown another heartbeat than the read before. */
  readonly changes: number;
}

/** When a fleet was read, by the observer's monotonic clock. Each row was read at some time between `from` and `to`. */
export interface Look {
  readonly from: Millis;
  readonly to: Millis;
}

/** What a node remembers of its reads. */
export interface Memory {
  readonly readAt: Millis | undefined;
  readonly looks: number;
  readonly sightings: ReadonlyMap<NodeKey, Sighting>;
  /** For how many reads a partition has been free, including partitions that never had an owner. */
  readonly free: ReadonlyMap<PartitionId, number>;
}

export const NOTHING_SEEN: Memory = { readAt: undefined, looks: 0, sightings: new Map(), free: new Map() };

export const remember = (
  memory: Memory,
  fleet: Fleet,
  shares: readonly Share[],
  { from, to }: Look,
  cycle: Millis,
): Memory => {
  // Count only time that surely passed between the two reads, so that the silence is never overestimated.
  const passed = memory.readAt === undefined ? 0 : Math.min(from - memory.readAt, cycle * (1 + JITTER));
  const nodes = new Map(fleet.nodes.map((node) => [node.key, node]));
  const owners = new Map(fleet.leases.map(({ partition, owner }) => [partition, owner]));
  return {
    readAt: to,
    looks: memory.looks + 1,
    sightings: new Map(fleet.nodes.map((node) => [node.key, sightingOf(memory.sightings.get(node.key), node, passed)])),
    free: new Map(
      shares
        .filter(({ partition }) => isFree({ owner: owners.get(partition) }, nodes))
        .map(({ partition }) => [partition, (memory.free.get(partition) ?? 0) + 1]),
    ),
  };
};

const sightingOf = (before: Sighting | undefined, { beat }: Node, passed: Millis): Sighting =>
  before?.beat === beat
    ? { ...before, silence: before.silence + passed, reads: before.reads + 1 }
    : { beat, silence: 0, reads: 0, changes: before === undefined ? 0 : before.changes + 1 };

/**
 * P14. Whether a node is alive for certain: its heartbeat has changed twice. The last heartbeat of a process that was
 * killed may reach the table after the first read, and changes it once.
 */
export const isHeard = ({ sightings }: Memory, key: NodeKey): boolean => (sightings.get(key)?.changes ?? 0) >= 2;

/** Whether a node must be evicted. The write that evicts the node fails if the node has sent a heartbeat since (P3). */
export const isSilent = ({ sightings }: Memory, { key, beat, ttl, evicted }: Node): boolean => {
  const seen = sightings.get(key);
  return !evicted && seen !== undefined && seen.beat === beat && seen.silence >= ttl && seen.reads >= READS_MIN;
};
