/** How many partitions no node works on, according to one read of the fleet. */
import { type Fleet, isFree, type Share } from './fleet.ts';

/** Counts free partitions, including those that never had an owner, and those that wait for a restart (P13). */
export const unworkedOf = ({ nodes, leases }: Fleet, shares: readonly Share[]): number => {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const owners = new Map(leases.map(({ partition, owner }) => [partition, owner]));
  return shares.filter(({ partition }) => {
    const owner = owners.get(partition);
    return isFree({ owner }, byKey) || (owner !== undefined && byKey.get(owner)?.restarting === true);
  }).length;
};
