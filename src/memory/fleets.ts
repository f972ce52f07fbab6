/** Fleets in memory. */
import type { Fleet, Lease, Node } from '../domain/fleets/fleet.ts';
import type { FleetName, NodeKey, PartitionId } from '../domain/fleets/ids.ts';
import type { Fleets, Held, Opened } from '../ports/fleets.ts';
import { type Gate, openGate, through } from '../virtual/gate.ts';
import { limited } from './limits.ts';

/** A checkpoint in a row of its own. */
interface CheckpointRow extends Opened {
  readonly fence: number;
  readonly stored?: number;
}

export interface FleetRows {
  readonly nodes: Map<NodeKey, Node>;
  readonly leases: Map<PartitionId, Lease>;
  readonly checkpoints: Map<PartitionId, CheckpointRow>;
  /** Whether checkpoints have rows of their own. Set when the first node joins a new fleet. */
  apart?: boolean;
}

export type FleetTables = Map<FleetName, FleetRows>;

export const memoryFleets = (tables: FleetTables = new Map(), gate: Gate = openGate): Fleets => {
  /** The rows of a fleet. Creates the fleet if it is missing, so only writes may call this function. */
  const rowsOf = (name: FleetName): FleetRows => {
    const rows = tables.get(name) ?? NO_ROWS();
    tables.set(name, rows);
    return rows;
  };
  /** A conditional write. `next` returns the row to write, or undefined if the condition fails. */
  const changeNode = (call: string, name: FleetName, key: NodeKey, next: (node: Node) => Node | undefined) =>
    through(gate, call, () => {
      const before = tables.get(name)?.nodes.get(key);
      const after = before && next(before);
      if (after) rowsOf(name).nodes.set(key, after);
      return after !== undefined;
    });
  const changeLease = (
    call: string,
    name: FleetName,
    partition: PartitionId,
    next: (lease: Lease | undefined) => Lease | undefined,
  ): Promise<Lease | undefined> =>
    through(gate, call, () => {
      const after = next(tables.get(name)?.leases.get(partition));
      if (after) rowsOf(name).leases.set(partition, after);
      return after;
    });
  const changeHeld = async (call: string, name: FleetName, held: Held, next: (lease: Lease) => Lease | undefined) =>
    (await changeLease(call, name, held.partition, (lease) =>
      lease?.owner === held.owner && lease.fence === held.fence ? next(lease) : undefined,
    )) !== undefined;

  return {
    join: (name, node) =>
      through(gate, 'fleets.join', () => {
        const rows = rowsOf(name);
        const { nodes } = rows;
        rows.apart ??= true;
        // A repeated request must not undo an eviction, so an existing row stays unchanged.
        if (!nodes.has(node.key)) nodes.set(node.key, node);
      }),
    beat: (name, { key, ...beat }) =>
      changeNode('fleets.beat', name, key, (node) => {
        if (node.evicted) return undefined;
        return beat.beat > node.beat ? { ...node, ...beat } : node;
      }),
    read: (name) =>
      through(gate, 'fleets.read', (): Fleet => {
        const { nodes, leases, apart } = tables.get(name) ?? NO_ROWS();
        return { nodes: inOrder(nodes), leases: inOrder(leases), ...(apart ? { checkpointsApart: true } : {}) };
      }),
    evict: (name, key, beat) =>
      changeNode('fleets.evict', name, key, (node) =>
        node.beat === beat && !node.evicted ? { ...node, evicted: true } : undefined,
      ),
    take: (name, seen, by, at) =>
      changeLease('fleets.take', name, seen.partition, (lease) => {
        const { owner, fence } = lease ?? { fence: 0, owner: undefined };
        if (owner !== seen.owner || fence !== seen.fence) return undefined;
        const { next: _, stored: __, ...rest } = lease ?? { partition: seen.partition };
        return { ...rest, owner: by, fence: fence + 1, since: at };
      }),
    ask: async (name, seen, by) =>
      (await changeLease('fleets.ask', name, seen.partition, (lease) =>
        lease && lease.owner === seen.owner && lease.fence === seen.fence && lease.next === undefined
          ? { ...lease, next: by }
          : undefined,
      )) !== undefined,
    decline: (name, held, asker) =>
      changeHeld('fleets.decline', name, held, ({ next, ...lease }) => (next === asker ? lease : undefined)),
    handOver: (name, held, to, at) =>
      changeHeld('fleets.handOver', name, held, ({ next: _, owner: __, since: ___, stored: ____, ...lease }) =>
        to === undefined ? lease : { ...lease, owner: to, fence: lease.fence + 1, since: at },
      ),
    open: async (name, lease) => {
      const { partition, fence, checkpointApart } = lease;
      const opened = await through(gate, 'fleets.open', (): Opened | undefined => {
        const { checkpoints } = rowsOf(name);
        const before = checkpoints.get(partition);
        if (before && before.fence > fence) return undefined;
        const copied = before?.fence === fence || checkpointApart ? undefined : lease.checkpoint;
        const checkpoint = copied ?? before?.checkpoint;
        const after: Opened = checkpoint === undefined ? {} : { checkpoint };
        if (before?.fence !== fence) checkpoints.set(partition, { fence, ...after });
        return after;
      });
      if (!opened || checkpointApart) return opened;
      const isMine = await changeHeld('fleets.open', name, lease as Held, ({ checkpoint: _, stored: __, ...rest }) => ({
        ...rest,
        checkpointApart: true,
      }));
      return isMine ? opened : undefined;
    },
    checkpoint: (name, held, checkpoint, count) =>
      held.checkpointApart
        ? through(gate, 'fleets.checkpoint', () => {
            const { checkpoints } = rowsOf(name);
            const before = checkpoints.get(held.partition);
            if (before?.fence !== held.fence) return false;
            if (count > (before.stored ?? 0))
              checkpoints.set(held.partition, { fence: held.fence, checkpoint, stored: count });
            return true;
          })
        : changeHeld('fleets.checkpoint', name, held, (lease) =>
            count > (lease.stored ?? 0) ? { ...lease, checkpoint, stored: count } : lease,
          ),
    checkpointOf: (name, partition) =>
      through(gate, 'fleets.checkpointOf', () => tables.get(name)?.checkpoints.get(partition)?.checkpoint),
    leave: (name, key) =>
      through(gate, 'fleets.leave', () => {
        tables.get(name)?.nodes.delete(key);
      }),
    names: () => through(gate, 'fleets.names', () => [...tables.keys()].sort()),
    drain: (name, key, draining) =>
      changeNode('fleets.drain', name, key, ({ draining: _, ...node }) => (draining ? { ...node, draining } : node)),
    separate: (name) =>
      through(gate, 'fleets.separate', () => {
        rowsOf(name).apart = true;
      }),
    pin: async (name, partition, to) =>
      (await changeLease('fleets.pin', name, partition, (lease) => {
        if (!lease) return undefined;
        const { pin: _, ...rest } = lease;
        return to === undefined ? rest : { ...rest, pin: to };
      })) !== undefined,
  };
};

const NO_ROWS = (): FleetRows => ({
  nodes: limited(new Map()),
  leases: limited(new Map()),
  checkpoints: limited(new Map()),
});

const inOrder = <Key extends string, Row>(rows: ReadonlyMap<Key, Row>): readonly Row[] =>
  [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
