/** The partitions of a fleet, for the drawing. Pure. */

import type { FleetNode, FleetPartition } from '../../../../../src/api/fleets/responses.ts';
import { count } from '../base/format.ts';

/** The letters that stand for a node in the drawing: A to Z, then AA and so on. */
export const letterOf = (nodes: readonly Pick<FleetNode, 'node'>[], node: string | undefined): string => {
  const index = nodes.findIndex((each) => each.node === node);
  return index < 0 ? '' : letters(index);
};

const letters = (index: number): string => {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : `${letters(Math.floor(index / 26) - 1)}${last}`;
};

/** Number of colours for nodes. Several nodes may share a colour, so each cell also shows the letters of its node. */
const COLOURS = 8;

export const colourOf = (nodes: readonly Pick<FleetNode, 'node'>[], node: string | undefined): number =>
  Math.max(
    0,
    nodes.findIndex((each) => each.node === node),
  ) % COLOURS;

/** The text of a partition's cell, for screen readers and as its tooltip. */
export const spokenPartition = ({ id, status, owner, lastOwner, next, pin }: FleetPartition): string =>
  [
    `partition ${id}`,
    status === 'free' ? `free${lastOwner ? `, previous owner ${lastOwner}` : ''}` : `owner ${owner ?? 'none'}`,
    ...(status === 'asked' ? [`moves to ${next ?? 'another node'}`] : []),
    ...(pin ? [`pinned to ${pin}`] : []),
  ].join(', ');

/** Sorts partitions by name, with numbers in numeric order. */
export const inOrder = (partitions: readonly FleetPartition[]): readonly FleetPartition[] =>
  partitions.toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));

/** A sentence for screen readers that says how many partitions each node has. */
export const shares = (nodes: readonly FleetNode[], partitions: readonly FleetPartition[]): string => {
  const free = partitions.filter(({ status }) => status === 'free').length;
  const each = nodes
    .filter((node) => node.partitions > 0)
    .map(({ node, partitions: has }) => `${node} has ${count(has)}`);
  return [...each, ...(free > 0 ? [`${count(free)} free`] : [])].join(', ') || 'No node has taken a partition yet';
};
