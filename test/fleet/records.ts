/** Factories for the rows of a fleet. */
import type { Fleet, Lease, Node, Share } from '../../src/domain/fleets/fleet.ts';
import type { FleetName, NodeKey, PartitionId } from '../../src/domain/fleets/ids.ts';
import type { Held } from '../../src/ports/fleets.ts';

export const FLEET = 'flights' as FleetName;

/** A life of a node, from the node's name. The first life unless the name states another one. */
export const key = (name: string): NodeKey => (name.includes('@') ? name : `${name}@1`) as NodeKey;
export const partition = (name: string | number): PartitionId => `${name}` as PartitionId;

export const aNode = (name: string, fields: Partial<Node> = {}): Node => ({
  key: key(name),
  beat: 1,
  ttl: 30_000,
  startedAt: 0,
  beatAt: 0,
  ...fields,
});

interface LeaseFields extends Omit<Partial<Lease>, 'owner' | 'next' | 'pin'> {
  readonly owner?: string;
  readonly next?: string;
  readonly pin?: string;
}

export const aLease = (name: string | number, { owner, next, pin, ...fields }: LeaseFields = {}): Lease => ({
  partition: partition(name),
  fence: 1,
  ...fields,
  ...(owner === undefined ? {} : { owner: key(owner) }),
  ...(next === undefined ? {} : { next: key(next) }),
  ...(pin === undefined ? {} : { pin: key(pin) }),
});

export const aFleet = (nodes: readonly (string | Node)[], leases: readonly Lease[] = []): Fleet => ({
  nodes: nodes.map((node) => (typeof node === 'string' ? aNode(node) : node)),
  leases,
});

/** That many partitions of equal weight, or the given ones. */
export const shares = (what: number | readonly (string | number)[]): readonly Share[] =>
  (typeof what === 'number' ? Array.from({ length: what }, (_, index) => index) : what).map((name) => ({
    partition: partition(name),
    weight: 1,
  }));

export const held = (name: string | number, owner: string, fence = 1): Held => ({
  partition: partition(name),
  owner: key(owner),
  fence,
});
