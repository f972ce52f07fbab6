/** A fleet's partitions, as they are drawn. Pure. */

import type { FleetNode, FleetPartition } from '../../../../../src/api/fleets/responses.ts';
import { count } from '../base/format.ts';

/** A node's letters in the drawing: A to Z, then AA and so on. */
export const letterOf = (nodes: readonly Pick<FleetNode, 'node'>[], node: string | undefined): string => {
  const index = nodes.findIndex((each) => each.node === node);
  return index < 0 ? '' : letters(index);
};

const letters = (index: number): string => {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : `${letters(Math.floor(index / 26) - 1)}${last}`;
};

/** One of so many colours; each cell has its letters too. */
const COLOURS = 8;

export const colourOf = (nodes: readonly Pick<FleetNode, 'node'>[], node: string | undefined): number =>
  Math.max(
    0,
    nodes.findIndex((each) => each.node === node),
  ) % COLOURS;

/** What a partition's cell says to those who do not see it, or point at it. */
export const spokenPartition = ({ id, status, owner, lastOwner, next, pin }: FleetPartition): string =>
  [
    `partition ${id}`,
    status === 'free' ? `free${lastOwner ? `, ${lastOwner} had it` : ''}` : `of ${owner ?? 'nobody'}`,
    ...(status === 'asked' ? [`about to move to ${next ?? 'another'}`] : []),
    ...(pin ? [`pinned to ${pin}`] : []),
  ].join(', ');

/** In the order of their names, with numbers as numbers. */
export const inOrder = (partitions: readonly FleetPartition[]): readonly FleetPartition[] =>
  partitions.toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));

/** Who has how many, in a sentence: what the drawing shows, for those who do not see it. */
export const shares = (nodes: readonly FleetNode[], partitions: readonly FleetPartition[]): string => {
  const free = partitions.filter(({ status }) => status === 'free').length;
  const each = nodes
    .filter((node) => node.partitions > 0)
    .map(({ node, partitions: has }) => `${node} has ${count(has)}`);
  return [...each, ...(free > 0 ? [`${count(free)} are free`] : [])].join(', ') || 'no partition was ever taken';
};
