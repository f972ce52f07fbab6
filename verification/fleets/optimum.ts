/**
 * The fewest partitions that must move in a scenario. Partitions count with equal weights, and no node is assumed to be
 * slow or silent.
 */

import { CYCLE } from '../../src/domain/fleets/timings.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { comesBack, type FleetScenario, type SimulatedNode } from './scenario.ts';

/** The longest time between two changes that count as one, in ms. */
const TOGETHER: Millis = 2 * CYCLE;

interface Change {
  readonly at: Millis;
  readonly joins?: string;
  readonly goes?: string;
}

/**
 * The partitions of a node that dies or leaves go to other nodes. A node that joins gets as many partitions as make the
 * counts even. Of nodes with equal counts, the one that leaves first gives, and the one that leaves last gets. No
 * algorithm can know this, so each node that leaves may have one partition more. Pauses, overload and failing calls
 * require no move.
 */
export const optimumOf = ({ nodes, partitions, measureFrom, endsAt }: FleetScenario): number => {
  const changes = nodes
    .flatMap((node): Change[] => [
      ...(isBack(node, nodes) ? [] : [{ at: node.startsAt, joins: node.name }]),
      ...endsOf(node)
        .filter((at) => !comesBack(node, at, nodes))
        .map((at) => ({ at, goes: node.name })),
    ])
    .filter(({ at }) => at < endsAt)
    .sort((a, b) => a.at - b.at);
  const counts = new Map<string, number>();
  const goesAt = new Map(changes.flatMap(({ at, goes }) => (goes === undefined ? [] : [[goes, at] as const])));
  let [free, moved] = [partitions, 0];
  for (let index = 0; index < changes.length; ) {
    const { at } = changes[index] as Change;
    for (; index < changes.length && (changes[index] as Change).at <= at + TOGETHER; index += 1) {
      const { joins, goes } = changes[index] as Change;
      if (joins !== undefined) counts.set(joins, 0);
      if (goes !== undefined) {
        free += counts.get(goes) ?? 0;
        counts.delete(goes);
      }
    }
    const needed = settle(counts, free, goesAt);
    free = counts.size > 0 ? 0 : free;
    if (at >= measureFrom) moved += needed;
  }
  return moved;
};

/** When the process is stopped or dies. */
const endsOf = ({ incidents }: SimulatedNode): readonly Millis[] =>
  incidents.filter((incident) => incident.do === 'crash' || incident.do === 'leave').map(({ at }) => at);

/** Whether the process gets the partitions of an earlier one with its name. */
const isBack = ({ name, startsAt }: SimulatedNode, nodes: readonly SimulatedNode[]): boolean =>
  nodes.some(
    (node) =>
      node.name === name && endsOf(node).some((at) => at < startsAt && startsAt - at < (node.restartWithin ?? 0)),
  );

/** Makes the counts even. @returns how many partitions get another owner */
const settle = (counts: Map<string, number>, free: number, goesAt: ReadonlyMap<string, Millis>): number => {
  if (counts.size === 0) return 0;
  const give = (node: string, by: number): void => {
    counts.set(node, (counts.get(node) ?? 0) + by);
  };
  const remains = (node: string): Millis => goesAt.get(node) ?? Number.MAX_VALUE;
  /** The nodes by their counts; of equal ones, the one that leaves last comes first. */
  const ranked = () => [...counts].sort(([a, x], [b, y]) => x - y || remains(b) - remains(a)).map(([node]) => node);
  const [least, most] = [() => ranked()[0] as string, () => ranked().at(-1) as string];
  for (let left = free; left > 0; left -= 1) give(least(), 1);
  let moved = free;
  for (; (counts.get(most()) ?? 0) - (counts.get(least()) ?? 0) > 1; moved += 1) {
    const [from, to] = [most(), least()];
    give(from, -1);
    give(to, 1);
  }
  return moved;
};
