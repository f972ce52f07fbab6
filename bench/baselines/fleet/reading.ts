/** How the published description is read where it leaves a choice: its formula, and its five time spans. */
import type { Millis } from '../../../src/domain/ids.ts';

export interface Spans {
  /** For how long a lock on a partition is its holder's, unless that one renews it. */
  readonly lock: Millis;
  /** How often a host renews a lock: each of them by itself. */
  readonly renew: Millis;
  /** How often a host announces itself. */
  readonly announce: Millis;
  /** After how long without a word a host is forgotten. */
  readonly forget: Millis;
  /** How often a host looks whether it has what it may have. */
  readonly balance: Millis;
}

/**
 * A lock outlives two renewals that come to nothing, and a host two announcements: as usual for leases. A crash is over
 * after some forty seconds, which is what people who choose such spans want of them.
 */
export const SPANS: Spans = { lock: 30_000, renew: 10_000, announce: 5_000, forget: 15_000, balance: 10_000 };

/** The most partitions that a host may have, as one place of the description says, and as another does. */
export type Formula = 'parentheses' | 'sentence';

/** They differ where the hosts divide the partitions: by the second not all of them can have the most. */
export const MAXIMUM: Readonly<Record<Formula, (partitions: number, hosts: number) => number>> = {
  parentheses: (partitions, hosts) => Math.ceil(partitions / hosts),
  sentence: (partitions, hosts) => Math.floor(partitions / hosts) + 1,
};

export interface Reading {
  readonly maximum: Formula;
  readonly spans: Spans;
}
