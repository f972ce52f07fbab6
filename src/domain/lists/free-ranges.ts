/**
 * D11. The free ranges of a list's row: how many of them change the order of jobs, and which become one range. Pure.
 */
import type { Range } from './ids.ts';
import { freed, type Lease, type List, SEEN_MAX } from './list.ts';
import { endOf, spanOf, tokensOf } from './ranges.ts';

/**
 * Numbers of free ranges in the list's row, for its largest number of claims. Every write of the row writes all of them.
 *
 * - `first`: with this many, claims take them before fresh jobs.
 * - `merged`: with this many, a claim first merges neighbours.
 * - `saved`: a merge that saves fewer is not worth its write.
 */
export const freeLimits = (claimsMax: number) => ({
  first: Math.max(2, claimsMax / 4),
  merged: Math.max(3, claimsMax / 2),
  saved: Math.max(1, claimsMax / 16),
});
/** The largest number of jobs in a merged range, done jobs included, so that few nodes of the tracker are read for it. */
const MERGED_MAX = 10_000;

/** Neighbouring free ranges that one range may replace, and the jobs between them. */
export interface Neighbours {
  readonly leases: readonly [Lease, ...Lease[]];
  readonly gaps: readonly Range[];
}

/** D11. Whether a list has so many free ranges that neighbours are to be merged. */
export const hasManyFree = ({ leases }: Pick<List, 'leases'>, claimsMax: number): boolean =>
  leases.filter(({ claim }) => claim === undefined).length >= freeLimits(claimsMax).merged;

/**
 * D11. Free ranges with the same deliveries, with no lease of the row between them. They may become one range if all
 * jobs between them are done. @returns as many as one write can check
 */
export const neighboursIn = (list: Pick<List, 'leases'>): readonly Neighbours[] => {
  const all: Neighbours[] = [];
  let before: Lease | undefined;
  for (const lease of list.leases) {
    const last = all.at(-1);
    const begin = last?.leases[0];
    const isNext =
      last !== undefined &&
      begin !== undefined &&
      before !== undefined &&
      before === last.leases.at(-1) &&
      lease.claim === undefined &&
      lease.deliveries === begin.deliveries &&
      lease.isSuspect === begin.isSuspect &&
      last.leases.length < SEEN_MAX &&
      endOf(lease) - begin.first <= MERGED_MAX;
    if (isNext) {
      const gap = { first: endOf(before as Lease), count: lease.first - endOf(before as Lease) };
      all[all.length - 1] = { leases: [...last.leases, lease], gaps: [...last.gaps, ...(gap.count > 0 ? [gap] : [])] };
    } else if (lease.claim === undefined) all.push({ leases: [lease], gaps: [] });
    before = lease;
  }
  let seen = 0;
  return all.filter(({ leases }) => {
    if (leases.length < 2 || seen + leases.length > SEEN_MAX) return false;
    seen += leases.length;
    return true;
  });
};

/** D11. What merging these neighbours changes. Undefined if it saves too few ranges. */
export const planMerge = (
  all: readonly Neighbours[],
  isDone: (token: number) => boolean,
  claimsMax: number,
): { readonly from: readonly Lease[]; readonly to: readonly Lease[] } | undefined => {
  const fit = all.filter(({ gaps }) => gaps.every((gap) => tokensOf(gap).every(isDone)));
  const from = fit.flatMap(({ leases }) => leases);
  if (from.length - fit.length < freeLimits(claimsMax).saved) return undefined;
  const to = fit.map(({ leases }) => freed(spanOf(leases), leases[0]));
  return { from, to };
};
