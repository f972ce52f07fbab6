/**
 * When the calls under a limit may start. Pure.
 *
 * A line holds the starts that were promised under one limit. Two rules decide when the next call may start:
 * - *Pace*, if `burst` is 1: a call starts when its predecessor has paid for itself, at `calls` (or `weight`) per `per`.
 *   With a larger `burst`, that many calls may start at once. Source: the generic cell rate algorithm (ITU-T I.371).
 * - *Window*: the calls that start in any span of `per`, and their weight, stay within the limit. The pace alone does
 *   not ensure this for calls of different weight, or for a larger burst. The line therefore remembers the starts of
 *   the last `per`, in at most {@link BINS} sums.
 *
 * A call may start up to {@link latenessOf} after its moment, so the line uses a `per` that is 1% longer, up to ten
 * seconds. All times are those of the store's clock (src/util/store-clock.ts), because the functions' clocks may differ.
 */
import type { Millis } from '../ids.ts';
import { SECOND } from '../timings.ts';

/** What a limit allows over time. */
export interface Pace {
  /** Most calls that start in any span of `per`. Null for any number. */
  readonly calls: number | null;
  /** Most weight of these calls. Null for any weight. */
  readonly weight: number | null;
  readonly per: Millis;
  /** Most calls that start at once. */
  readonly burst: number;
}

/** Calls that started, or will start, at about the same time: the latest of their moments, and their sums. */
export interface Starts {
  readonly at: Millis;
  readonly calls: number;
  readonly weight: number;
}

export interface Line {
  /** When the line began. This also names it: a moment that was granted in another line is void. */
  readonly since: Millis;
  /** The pace for which the line was made. */
  readonly pace: Pace;
  /** When the next call may start, as far as the number of calls before it determines that. */
  readonly callsAt: Millis;
  /** The same for the weight of the calls. */
  readonly weightAt: Millis;
  /** The starts of the last `per`, the earliest first. Empty if the pace alone keeps the window. */
  readonly starts: readonly Starts[];
}

/** The number of sums in which a line remembers the starts of the last `per`. More sums would make its row larger. */
export const BINS = 32;

/** A line keeps its pace at least for this long, because functions of two releases may use it for a while. */
const SETTLED: Millis = 2 * SECOND;

/** A hundredth of `per`, in ms, up to ten seconds. A line is so much slower than its limit. */
const slackOf = ({ per }: Pick<Pace, 'per'>): Millis => Math.min(10 * SECOND, per / 100);

/**
 * How late, in ms, a call may start after its moment. After that, the moment has lapsed. The longer `per` is, the more a
 * lapsed moment costs, so a function that starts slowly may be later.
 */
export const latenessOf = (pace: Pick<Pace, 'per'>): Millis =>
  Math.max(SECOND / 4, Math.min(SECOND, pace.per / 4), slackOf(pace));

/** The span for which a line counts: `per`, and a little more because calls may start late. */
const spanOf = (pace: Pick<Pace, 'per'>): Millis => pace.per + slackOf(pace);

/** The time that a call takes of the line by its number, in ms. */
export const gapOf = (pace: Pace): Millis => (pace.calls === null ? 0 : spanOf(pace) / pace.calls);

/** Whether the line must remember its starts. */
const mustRemember = ({ weight, burst }: Pace): boolean => weight !== null || burst > 1;

/** Whether two limits allow the same over time. */
export const isSamePace = (a: Pace, b: Pace): boolean =>
  a.calls === b.calls && a.weight === b.weight && a.per === b.per && a.burst === b.burst;

/**
 * The line to use under `pace`. If the pace has changed, a new line begins. The last call may just have started, so the
 * new line waits for it, but for no longer than the new pace requires.
 *
 * @param line as stored. Undefined if the bucket has had none.
 */
export const lineUnder = (line: Line | undefined, { calls, weight, per, burst }: Pace, now: Millis): Line => {
  const pace = { calls, weight, per, burst };
  if (!line) return { since: now, pace, callsAt: now, weightAt: now, starts: [] };
  if (isSamePace(line.pace, pace) || now < line.since + SETTLED) return line;
  const span = spanOf(pace);
  const within = (end: Millis, most: Millis): Millis => Math.min(Math.max(end, now), now + most);
  return {
    since: now,
    pace,
    callsAt: pace.calls === null ? now : within(line.callsAt, gapOf(pace)),
    weightAt: pace.weight === null ? now : within(line.weightAt, span),
    // Moments that lie ahead are void in the new line.
    starts: mustRemember(pace) ? line.starts.filter(({ at }) => at <= now && at > now - span) : [],
  };
};

/** The weight that counts. A call that is heavier than the limit, which was lowered meanwhile, has the line alone. */
const counted = (weight: number, { weight: most }: Pace): number => (most === null ? 0 : Math.min(weight, most));

/**
 * The earliest moment, from `earliest` on, at which a call of this weight may start. It is never before a start that was
 * promised already.
 */
export const nextStart = ({ pace, callsAt, weightAt, starts }: Line, weight: number, earliest: Millis): Millis => {
  const { calls, weight: most, burst } = pace;
  const own = counted(weight, pace);
  const span = spanOf(pace);
  const paced = [
    earliest,
    starts.at(-1)?.at ?? earliest,
    ...(calls === null ? [] : [callsAt - (burst - 1) * gapOf(pace)]),
    ...(most === null ? [] : [weightAt - (burst > 1 ? span : 0)]),
  ];
  let at = Math.max(...paced);
  const inWindow = starts.filter((each) => each.at > at - span);
  let sums = inWindow.reduce(plus, NOTHING);
  for (const each of inWindow) {
    const fits = (calls === null || sums.calls + 1 <= calls) && (most === null || sums.weight + own <= most);
    if (fits) break;
    sums = { ...sums, calls: sums.calls - each.calls, weight: sums.weight - each.weight };
    at = Math.max(at, each.at + span);
  }
  return at;
};

const NOTHING = { calls: 0, weight: 0 };
const plus = (a: Omit<Starts, 'at'>, b: Omit<Starts, 'at'>) => ({
  calls: a.calls + b.calls,
  weight: a.weight + b.weight,
});

/**
 * The calls that started in the last `per`, or have a moment that lies ahead, and their weight. Undefined if the pace
 * does not need them, and the line does not remember them.
 */
export const startedIn = (line: Line | undefined, pace: Pace, now: Millis): Omit<Starts, 'at'> | undefined => {
  if (!mustRemember(pace)) return undefined;
  return lineUnder(line, pace, now)
    .starts.filter(({ at }) => at > now - spanOf(pace))
    .reduce(plus, NOTHING);
};

/**
 * The calls whose moment lies ahead: about how many there are, and the last of their moments. Undefined if there is none.
 * A paced line does not remember its moments: this assumes that they follow each other without a gap.
 */
export const plannedIn = (
  line: Line | undefined,
  pace: Pace,
  now: Millis,
): { readonly calls: number; readonly until: Millis } | undefined => {
  if (!line) return undefined;
  const { callsAt, starts } = lineUnder(line, pace, now);
  const ahead = starts.filter(({ at }) => at > now);
  const last = ahead.at(-1);
  if (last) return { calls: ahead.reduce(plus, NOTHING).calls, until: last.at };
  const until = callsAt - gapOf(pace);
  if (mustRemember(pace) || pace.calls === null || until <= now) return undefined;
  return { calls: Math.ceil((until - now) / gapOf(pace)), until };
};

/** The line after a call of this weight got the moment `at`. */
export const withStart = (line: Line, weight: number, at: Millis): Line => {
  const { pace } = line;
  const own = counted(weight, pace);
  return {
    ...line,
    callsAt: pace.calls === null ? line.callsAt : Math.max(line.callsAt, at) + gapOf(pace),
    weightAt: pace.weight === null ? line.weightAt : Math.max(line.weightAt, at) + (own / pace.weight) * spanOf(pace),
    starts: mustRemember(pace) ? remembered(line, { at, calls: 1, weight: own }) : [],
  };
};

/** Adds a start, and forgets those before the window. Starts of one bin are summed, under the latest of their times. */
const remembered = ({ pace, starts }: Line, start: Starts): readonly Starts[] => {
  const span = spanOf(pace);
  const binOf = (at: Millis): number => Math.floor((at * BINS) / span);
  const kept = starts.filter(({ at }) => at > start.at - span);
  const last = kept.at(-1);
  if (!last || binOf(last.at) !== binOf(start.at)) return [...kept, start];
  return [...kept.slice(0, -1), { at: start.at, ...plus(last, start) }];
};

/** A call that uses more than this many times the limit counts as so much. A wrong report must not stop the limit. */
const USE_MAX = 10;

/**
 * The line after a call used `more` weight than it was granted (less, if negative). The surplus delays later calls,
 * by at most {@link USE_MAX} spans. Weight that was not used is free again, unless the call started a span ago.
 *
 * @param at the moment of the call.
 */
export const withUse = (line: Line, more: number, at: Millis, now: Millis): Line => {
  const { pace, starts } = line;
  if (pace.weight === null || more === 0) return line;
  const span = spanOf(pace);
  if (more > 0) {
    const surplus = Math.min(more, USE_MAX * pace.weight);
    const weightAt = Math.max(now, line.weightAt) + (surplus / pace.weight) * span;
    return { ...line, weightAt, starts: withMore(line, surplus, now) };
  }
  const own = starts.findIndex((each) => each.at >= at && each.at - at <= span / BINS);
  const start = starts[own];
  if (start === undefined || start.at <= now - span) return line;
  const given = Math.min(-more, start.weight);
  const weightAt = Math.max(now, line.weightAt - (given / pace.weight) * span);
  return { ...line, weightAt, starts: starts.with(own, { ...start, weight: start.weight - given }) };
};

const withMore = ({ pace, starts }: Line, more: number, now: Millis): readonly Starts[] => {
  const last = starts.at(-1);
  // Starts are in order. If moments ahead were promised already, the surplus counts with the last of them.
  if (last && last.at >= now) return [...starts.slice(0, -1), { ...last, weight: last.weight + more }];
  return remembered({ pace, starts } as Line, { at: now, calls: 0, weight: more });
};
