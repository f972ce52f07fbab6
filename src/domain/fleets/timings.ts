/**
 * The time spans of fleets: how often a node reports that it is alive, and how long a node may work, or counts as
 * alive, without a new heartbeat.
 */
import type { Millis } from '../ids.ts';

/** How often a node sends a heartbeat and reads the fleet. */
export const CYCLE: Millis = 5_000;
/** Random share by which a cycle is longer or shorter, so that nodes do not act at the same time. */
export const JITTER = 0.1;
/**
 * Gaps count if they are younger than this. A pause that recurs every minute therefore still counts when it comes next.
 */
const RECENT: Millis = 10 * 60_000;
/**
 * How many reads must show an unchanged heartbeat before the node counts as dead, even if the first read was long ago
 * (P2).
 */
export const READS_MIN = 4;
/**
 * How often a new node reads the fleet before it asks for partitions or takes its first free partitions (P10). After
 * these reads, nodes that start at the same time have joined too.
 */
export const NEWCOMER_LOOKS = 3;
/** After this many reads, any node may take a free partition that the node it was dealt to has not taken (P11). */
export const LEFT_LYING_LOOKS = 5;

/** For how many reads a node may read sooner than usual while a partition is about to change hands: 30 s of them. */
export const HURRIED_LOOKS = 120;
/** How many of these reads each read at the usual rate gives back. */
export const RESTED_LOOKS = 20;
/** The pause before a hurried read, in ms, in a fleet that is small enough. */
const HURRIED: Millis = 250;
/** About how many rows of nodes and leases a read unit reads: 4 KB of them. */
const ROWS_PER_UNIT = 23;
/**
 * The most read units a second that the hurried reads of all nodes may use, of the 3,000 that a key of DynamoDB has.
 */
const HURRIED_UNITS = 1_000;

/**
 * The pause before a read while a partition is about to change hands. It is longer in a large fleet, because all of its
 * nodes may hurry at once: longer than 0.25 s if nodes times rows exceed 5,750, and longer than a second from 23,000.
 *
 * @param nodes the number of nodes @param rows the number of rows that each of them reads
 */
export const hurriedPause = (nodes: number, rows: number, cycle: Millis): Millis => {
  const affordable = (1_000 * nodes * Math.ceil(rows / ROWS_PER_UNIT)) / HURRIED_UNITS;
  return Math.min(Math.max(Math.min(HURRIED, cycle / 5), affordable), cycle);
};

/**
 * P12. How long a node that gives all of its partitions away works on those that no node has asked for. Within two
 * cycles, each other node has read that this node gives them away. Half of the time for draining is left for draining.
 */
export const noticeFor = (cycle: Millis, drainTimeout: Millis): Millis => Math.min(2 * cycle, drainTimeout / 2);

/** For how many reads the row of an evicted node stays visible (P3): ten minutes at the usual rate. */
export const FORGET_LOOKS = 120;

/**
 * The worker thread reports four times per second that it is alive. A silence shorter than this means nothing, even if
 * the cycle is shorter.
 */
const SILENCE_LEAST: Millis = 1_000;

/** After this silence the worker thread counts as blocked, and the node takes no more partitions. */
export const blockedAfter = (cycle: Millis): Millis => Math.max(cycle, SILENCE_LEAST);

/** The time between two written heartbeats. */
export interface Gap {
  readonly endedAt: Millis;
  readonly span: Millis;
}

/** The gaps that still count, the newest last. */
export const recentGaps = (gaps: readonly Gap[], now: Millis): readonly Gap[] =>
  gaps.filter(({ endedAt }) => now - endedAt <= RECENT);

/**
 * The time after which an unchanged heartbeat counts as dead (P1): six times the worst recent gap, within 6 and 24
 * cycles. Slow nodes get more time.
 */
export const ttlOf = (gaps: readonly Gap[], cycle: Millis): Millis => {
  const worst = Math.max(cycle, ...gaps.map(({ span }) => span));
  return Math.round(Math.min(Math.max(6 * worst, 6 * cycle), 24 * cycle));
};

/** A heartbeat that was sent, whether or not its write is confirmed. */
export interface Beat {
  readonly sentAt: Millis;
  readonly ttl: Millis;
}

/**
 * Until when a node may work (P7): two thirds of its Ttl since it sent its last heartbeat. Other nodes cannot have read
 * that heartbeat earlier. The last third is left for work that is under way, and for clocks that run at different
 * speeds.
 *
 * @param written the last confirmed heartbeat @param unknown heartbeats sent since whose write is not confirmed; other
 *   nodes may have read them
 */
export const deadlineOf = (written: Beat, unknown: readonly Beat[]): Millis =>
  unknown.reduce((least, beat) => Math.min(least, trustedUntil(beat)), trustedUntil(written));

const trustedUntil = ({ sentAt, ttl }: Beat): Millis => sentAt + Math.floor((ttl * 2) / 3);

/** How long an evicted node stays away (P9). The time doubles with each eviction that is not forgiven. */
export const awayFor = (evictions: number, cycle: Millis): Millis => cycle * Math.min(6 * 2 ** (evictions - 1), 180);
/** After this long, an eviction no longer counts (P9). */
export const FORGIVEN: Millis = 60 * 60_000;
