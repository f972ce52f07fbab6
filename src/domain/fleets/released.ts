/**
 * The partitions that a node has released because their work ended by itself. The node leaves them to other nodes for a
 * while, so that a partition without work does not go back and forth.
 */
import type { Millis } from '../ids.ts';
import type { PartitionId } from './ids.ts';

/** The shortest and the longest time for which a node leaves such a partition to others, in milliseconds. */
const [LEAST, MOST]: readonly [Millis, Millis] = [60_000, 3_600_000];

/** For each partition, until when the node does not take it, and how long that is. */
export type Released = ReadonlyMap<PartitionId, { readonly until: Millis; readonly span: Millis }>;

/** A partition that is released again within twice its last span rests twice as long. */
export const released = (before: Released, partition: PartitionId, now: Millis): Released => {
  const last = before.get(partition);
  const isSoon = last !== undefined && now - last.until < last.span;
  const span = isSoon ? Math.min(2 * last.span, MOST) : LEAST;
  return new Map([...before, [partition, { until: now + span, span }]]);
};

export const restingAt = (all: Released, now: Millis): ReadonlySet<PartitionId> =>
  new Set([...all].filter(([, { until }]) => now < until).map(([partition]) => partition));
