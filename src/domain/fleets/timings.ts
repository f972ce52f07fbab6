/** For how long a node is trusted, by itself and by others. */
import type { Millis } from '../ids.ts';

/** How often a node beats and looks. */
export const CYCLE: Millis = 5_000;
/** By how much a cycle is longer or shorter, so that nodes do not keep step. */
export const JITTER = 0.1;
/** Within which the worst gap counts: a pause each minute is not forgotten between two of them. */
const RECENT: Millis = 10 * 60_000;
/** P2. How often a heartbeat has to be seen unchanged, however long ago it was first. */
export const READS_MIN = 4;
/** P10. How many times a newcomer looks before it asks, or takes the first: others that come with it are there by then. */
export const NEWCOMER_LOOKS = 3;
/** P11. After so many looks a partition that another one left lying is anybody's. */
export const LEFT_LYING_LOOKS = 5;

/** How many looks come five times as often as usual while something is about to change hands, before it takes too long. */
export const HURRIED_LOOKS = 30;

/** P3. For so many looks (ten minutes, where nothing changes hands) the row of a life that was ended is there to be seen. */
export const FORGET_LOOKS = 120;

/** Signs of life come four times a second: a shorter silence than this says nothing, however short the cycle is. */
const SILENCE_LEAST: Millis = 1_000;

/** Who has shown no sign of life for longer than that is blocked, and is given nothing. */
export const blockedAfter = (cycle: Millis): Millis => Math.max(cycle, SILENCE_LEAST);

/** Between the writing of two heartbeats. */
export interface Gap {
  readonly endedAt: Millis;
  readonly span: Millis;
}

/** The gaps that still count, the newest last. */
export const recentGaps = (gaps: readonly Gap[], now: Millis): readonly Gap[] =>
  gaps.filter(({ endedAt }) => now - endedAt <= RECENT);

/** P1. Slow nodes are given time: six times the worst gap, 6 to 24 cycles. */
export const ttlOf = (gaps: readonly Gap[], cycle: Millis): Millis => {
  const worst = Math.max(cycle, ...gaps.map(({ span }) => span));
  return Math.round(Math.min(Math.max(6 * worst, 6 * cycle), 24 * cycle));
};

/** A heartbeat that was sent, whether or not it is known to be written. */
export interface Beat {
  readonly sentAt: Millis;
  readonly ttl: Millis;
}

/**
 * P7. Until when a node may work: two thirds of its Ttl since its last heartbeat was sent. Nobody saw that one before, so
 * that a third is left for what is under way and for clocks that run at different speeds.
 *
 * @param written the last that is known to be written @param unknown sent since, without an answer: others may see these
 */
export const deadlineOf = (written: Beat, unknown: readonly Beat[]): Millis =>
  unknown.reduce((least, beat) => Math.min(least, trustedUntil(beat)), trustedUntil(written));

const trustedUntil = ({ sentAt, ttl }: Beat): Millis => sentAt + Math.floor((ttl * 2) / 3);

/** P9. How long an evicted node stays away: twice as long each time, while that happens again and again. */
export const awayFor = (evictions: number, cycle: Millis): Millis => cycle * Math.min(6 * 2 ** (evictions - 1), 180);
/** P9. After so long an eviction is forgotten. */
export const FORGIVEN: Millis = 60 * 60_000;
