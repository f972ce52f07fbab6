/**
 * When an operation's next call may be made under its rate: pure.
 *
 * The operation's row keeps the end of a line of reserved moments. Three rules keep the line from outliving its use. It reaches
 * no further into the future than {@link MOST_AHEAD}: a batch that finds no moment within its reach sleeps and asks again. It
 * belongs to the rate that it was made for: under another rate a new line begins. A moment counts only in its own line.
 */
import type { Millis } from '../ids.ts';
import { CLOCK_SKEW, MINUTE, SECOND } from '../timings.ts';
import type { CallLine } from './slots.ts';

/** A batch that comes later than this to its reserved moment has let it pass. */
export const VOID_AFTER: Millis = 2_000;
/** A wait that a function sleeps through: a message would hardly be faster. */
export const NAP: Millis = 1_000;

/** How far ahead a batch may reserve when it is sealed, and however long it is in line. */
export const [LEAST_AHEAD, MOST_AHEAD]: readonly [Millis, Millis] = [60 * SECOND, 90 * SECOND];
/** After so long in line a batch reaches half-way from the one to the other. */
const HALF_WAY: Millis = 10 * MINUTE;

/**
 * How far ahead a batch may reserve. While more wait than the line has moments for, the line ends about where the oldest of
 * them can just reach it: so these go first.
 *
 * @param waited how long it is in line.
 */
export const reachOf = (waited: Millis): Millis => {
  const age = Math.max(0, waited);
  return LEAST_AHEAD + ((MOST_AHEAD - LEAST_AHEAD) * age) / (age + HALF_WAY);
};

/**
 * For how many seconds a batch sleeps that found no moment within its reach. Never for longer than {@link LEAST_AHEAD}, so that
 * it wakes before the line that it saw has come to its end; and not all for as long, so that they do not ask all at once.
 */
export const sleepSeconds = (random: number): number => ((0.75 + random / 4) * LEAST_AHEAD) / SECOND;

/**
 * The next free moment, and the line with it. A line of another rate is over: its moments are void, and its last call, which may
 * just have been made, is at least one of the new gaps away. So is a line that is longer than any of ours: release 0.2.0
 * knows of no bounds.
 *
 * @param rate calls per second.
 */
export const nextMoment = (
  line: CallLine | undefined,
  now: Millis,
  rate: number,
): { readonly at: Millis; readonly line: CallLine } => {
  const gap = Math.ceil(1_000 / rate);
  const end = line?.next ?? 0;
  const isOurs = line?.rate === rate && end <= now + MOST_AHEAD + gap + 2 * CLOCK_SKEW;
  const at = Math.max(now, isOurs ? end : Math.min(end, now + gap));
  return {
    at,
    line: { next: at + gap, rate, since: isOurs && line.since !== undefined ? line.since : Math.floor(now) },
  };
};

/** The moment that a message brings, if it may be used: in the line as it is now, and under the rate as it is now. */
export const reservedIn = (
  { at, line: since }: { readonly at?: Millis | undefined; readonly line?: Millis | undefined },
  line: CallLine | undefined,
  rate: number,
  now: Millis,
): Millis | undefined => {
  const isOurs = since !== undefined && since === line?.since && line.rate === rate;
  return isOurs && at !== undefined && now <= at + VOID_AFTER ? at : undefined;
};
