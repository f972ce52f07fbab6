/** Analyses a trade-off: the Pareto front, and the knee of the curve. */

/** Lower values are better. */
export interface Point {
  readonly wait: number;
  readonly calls: number;
  readonly cost: number;
}

const isBeatenBy = (a: Point, b: Point): boolean =>
  b.wait <= a.wait &&
  b.calls <= a.calls &&
  b.cost <= a.cost &&
  (b.wait < a.wait || b.calls < a.calls || b.cost < a.cost);

/** The points that no other point dominates (the Pareto front), in the given order. */
export const frontOf = <T extends Point>(points: readonly T[]): readonly T[] =>
  points.filter((point) => !points.some((other) => isBeatenBy(point, other)));

/**
 * The point beyond which longer waiting saves few calls. It is the point of the front that is farthest below the straight
 * line from the first to the last point, on axes scaled to 0 to 1 (Satopää, Albrecht, Irwin and Raghavan, "Finding a 'Kneedle' in a
 * Haystack", ICDCS Workshops 2011, without smoothing: a grid has no noise). Undefined for a line without a bend.
 */
export const kneeOf = <T extends Point>(points: readonly T[]): T | undefined => {
  const front = lower(points);
  const [first, last] = [front[0], front.at(-1)];
  if (!first || !last || first.calls === last.calls || first.wait === last.wait) return undefined;
  const below = (point: T): number =>
    1 - (point.wait - first.wait) / (last.wait - first.wait) - (point.calls - last.calls) / (first.calls - last.calls);
  const knee = front.reduce((best, point) => (below(point) > below(best) ? point : best), first);
  return below(knee) > LEAST_BEND ? knee : undefined;
};

const LEAST_BEND = 0.05;

/** The points with the fewest calls for each wait, sorted by wait; each has fewer calls than the previous one. */
const lower = <T extends Point>(points: readonly T[]): readonly T[] => {
  const sorted = points.toSorted((a, b) => a.wait - b.wait || a.calls - b.calls);
  return sorted.filter((point, index) => sorted.slice(0, index).every(({ calls }) => calls > point.calls));
};
