/** The choices of the algorithm with renewed locks: its formula and its five time spans, in milliseconds. */
import type { Millis } from '../../../src/domain/ids.ts';

export interface Spans {
  /** The duration of a lock that its holder does not renew. */
  readonly lock: Millis;
  /** The interval at which a host renews each of its locks. */
  readonly renew: Millis;
  /** The interval at which a host announces itself. */
  readonly announce: Millis;
  /** The time without an announcement after which a host is forgotten. */
  readonly forget: Millis;
  /** The interval at which a host compares its number of partitions with its maximum. */
  readonly balance: Millis;
}

/**
 * A lock survives two failed renewals, and a host survives two lost announcements, as is usual for leases. Other hosts
 * have the partitions of a crashed host after about forty seconds, a usual aim for such time spans.
 */
export const SPANS: Spans = { lock: 30_000, renew: 10_000, announce: 5_000, forget: 15_000, balance: 10_000 };

/** The formula for the maximum of partitions of a host. There are two usual formulas. */
export type Formula = 'parentheses' | 'sentence';

/**
 * The formulas differ if the number of hosts divides the number of partitions. With the second formula, not all hosts
 * can then have the maximum.
 */
export const MAXIMUM: Readonly<Record<Formula, (partitions: number, hosts: number) => number>> = {
  parentheses: (partitions, hosts) => Math.ceil(partitions / hosts),
  sentence: (partitions, hosts) => Math.floor(partitions / hosts) + 1,
};

export interface Reading {
  readonly maximum: Formula;
  readonly spans: Spans;
}
