/** Bugs of fleets, from drafts or invented to prove that the judges find them. */
import type { Work } from '../../src/fleet/member.ts';
import type { FleetRows } from '../../src/memory/fleets.ts';
import type { Fleets, Held } from '../../src/ports/fleets.ts';
import type { FleetBug } from '../fleets/scenario.ts';

/** The name, the replacement, the promise that it breaks, and the first seed that shows it. */
export type KnownFleetBug = readonly [name: string, bug: FleetBug, promise: RegExp, seed: number];

const store = (fleets: (real: Fleets, rows: FleetRows) => Partial<Fleets>): FleetBug => ({ fleets });
const work = (change: (real: Work, drained: (held: Held) => void) => Partial<Work>): FleetBug => ({ work: change });

export const FLEET_BUGS: readonly KnownFleetBug[] = [
  [
    'only every tenth heartbeat written',
    store(({ beat }) => {
      let asked = 0;
      return {
        beat: async (fleet, row) => {
          asked += 1;
          return asked % 10 === 1 ? beat(fleet, row) : true;
        },
      };
    }),
    /P6|P7/,
    3,
  ],
  [
    'node evicted before its Ttl is over',
    store(({ read }) => ({
      read: async (fleet) => {
        const { nodes, ...rest } = await read(fleet);
        return { ...rest, nodes: nodes.map((node) => ({ ...node, ttl: 5_000 })) };
      },
    })),
    /P6|P7/,
    26,
  ],
  ['node never asks for partitions', store(() => ({ ask: async () => false })), /loads are/, 1],
  [
    'node works after its deadline',
    work(({ mayUntil }) => ({ mayUntil: () => mayUntil(Number.MAX_SAFE_INTEGER) })),
    /P6|P7/,
    92,
  ],
  [
    'deadline 40 s too late',
    work(({ mayUntil }) => ({ mayUntil: (deadline) => mayUntil(deadline + 40_000) })),
    /P6|P7/,
    284,
  ],
  [
    'checkpoint stored without comparing the fence',
    store((_, { leases, checkpoints }) => ({
      checkpoint: async (_fleet, { partition, fence, checkpointApart }, checkpoint) => {
        const lease = leases.get(partition);
        if (checkpointApart) checkpoints.set(partition, { fence, ...checkpoints.get(partition), checkpoint });
        else if (lease) leases.set(partition, { ...lease, checkpoint });
        return true;
      },
    })),
    /P7|P8/,
    1,
  ],
  [
    'checkpoint read without raising its fence',
    store(({ checkpoint }, { checkpoints }) => ({
      open: async (_fleet, { partition, fence, checkpoint }) => {
        const before = checkpoints.get(partition);
        if (!before) checkpoints.set(partition, { fence, ...(checkpoint === undefined ? {} : { checkpoint }) });
        return before?.checkpoint === undefined ? {} : { checkpoint: before.checkpoint };
      },
      checkpoint: async (fleet, held, text, count) => {
        const before = checkpoints.get(held.partition);
        if (before && before.fence < held.fence)
          checkpoints.set(held.partition, { checkpoint: before.checkpoint ?? '0', fence: held.fence });
        return checkpoint(fleet, held, text, count);
      },
    })),
    /P8.*begun from/,
    5,
  ],
  [
    'heartbeat of an evicted node accepted',
    store(({ beat }) => ({
      beat: async (fleet, row) => {
        await beat(fleet, row);
        return true;
      },
    })),
    /P6|P7/,
    273,
  ],
  [
    'partition handed over before its work ends',
    work(({ drain }, drained) => ({
      drain: (held) => {
        drained(held);
        drain(held);
      },
    })),
    /P6/,
    1,
  ],
  [
    'partition taken from a living node',
    store(({ take }) => ({
      ask: async (fleet, seen, by) => (await take(fleet, seen, by, 0)) !== undefined,
    })),
    /P6|P7/,
    1,
  ],
  [
    'hand-over does not raise the fence',
    store(({ handOver }, { leases }) => ({
      handOver: async (fleet, held, to, at) => {
        const isGiven = await handOver(fleet, held, to, at);
        const lease = leases.get(held.partition);
        if (isGiven && to !== undefined && lease) leases.set(held.partition, { ...lease, fence: held.fence });
        return isGiven;
      },
    })),
    /P7|P8|end/,
    8,
  ],
  [
    'leaving node not announced',
    store(({ beat }) => ({ beat: (fleet, { leaving: _, ...row }) => beat(fleet, row) })),
    /P12/,
    1,
  ],
  [
    'partitions of a restarting node taken by others',
    store(({ read }) => ({
      read: async (fleet) => {
        const { nodes, ...rest } = await read(fleet);
        return { ...rest, nodes: nodes.map((node) => (node.restarting ? { ...node, evicted: true } : node)) };
      },
    })),
    /P13/,
    1,
  ],
  [
    'restarting node counts as gone only after its Ttl',
    store(({ beat }) => ({ beat: (fleet, { restarting: _, ...row }) => beat(fleet, row) })),
    /P13/,
    1,
  ],
  [
    'second process with a name not refused',
    store(({ read }) => ({
      read: async (fleet) => {
        const { nodes, ...rest } = await read(fleet);
        return { ...rest, nodes: nodes.map(({ restartWithin: _, ...node }) => node) };
      },
    })),
    /P14/,
    3,
  ],
];
