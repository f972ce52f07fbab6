/** The plan of a claim (D2, D3, D10, D11, D13). Pure. */
import type { Millis } from '../ids.ts';
import { endedOf, isolated } from './deliveries.ts';
import { freeLimits } from './free-ranges.ts';
import type { ClaimKey } from './ids.ts';
import { CLAIMS_MAX, claimsIn, freshOf, handsOut, isFree, type Lease, type List, PIECES_MAX } from './list.ts';

/** With this number of leases in the list's row, new claims take free ranges or get a row of their own. */
const LEASES_MAX = CLAIMS_MAX + 2 * PIECES_MAX;

/** The settings of a list's claims. */
export interface ClaimRules {
  readonly maxDeliveries: number;
  /** The largest number of claims in the list's row. */
  readonly claimsMax: number;
  /**
   * A number from 0 to 1 that chooses where a claim begins to take free ranges. It is 0 at first, and random when the
   * claim is planned again, mostly because another claim was faster, so that workers that claim at the same moment do not take the same ranges again.
   */
  readonly spread: number;
}

/** How a claim gets jobs. */
export type ClaimPlan =
  /** The list's row already has leases of this claim. */
  | { readonly do: 'again'; readonly leases: readonly Lease[] }
  /** Free jobs were delivered as often as allowed (D10). They fail before any other job is handed out. */
  | { readonly do: 'fail'; readonly leases: readonly Lease[] }
  /** The claim takes fresh jobs and some of these free ranges, without the jobs that are done. */
  | ({ readonly do: 'take' } & Candidates)
  | { readonly do: 'none' | 'refuse' };

export interface Candidates {
  /** Number of jobs that were never handed out (D2). */
  readonly fresh: number;
  /** Free ranges and expired leases (D3), in the order in which they are taken. */
  readonly from: readonly Lease[];
  /** The largest number of jobs that the claim may get. */
  readonly most: number;
  /** Whether the free ranges are taken before the fresh jobs. */
  readonly isFreeFirst: boolean;
  /** Whether the claim gets a row of its own (D13). */
  readonly isApart: boolean;
}

export const planClaim = (list: List, key: ClaimKey, count: number, now: Millis, rules: ClaimRules): ClaimPlan => {
  const mine = list.leases.filter(({ claim }) => claim === key);
  if (mine.length > 0) return { do: 'again', leases: mine };
  if (!handsOut(list)) return { do: 'refuse' };
  const free = list.leases.filter((lease) => isFree(lease, now));
  const spent = free.filter(({ deliveries }) => deliveries >= rules.maxDeliveries);
  if (spent.length > 0) return { do: 'fail', leases: spent.slice(0, PIECES_MAX) };
  const fresh = freshOf(list);
  if (free.length === 0 && fresh === 0) return { do: 'none' };
  const isApart = claimsIn(list, now) >= rules.claimsMax || list.leases.length - free.length >= LEASES_MAX;
  return { do: 'take', ...candidates(free, fresh, count, rules), isApart };
};

/** The largest number of free ranges that a claim takes while others take free ranges too. */
const CONTENDED_MAX = 5;

/**
 * D11. Fresh jobs come before jobs that were given back, so that a job that fails each time does not hold up the
 * others. But if there are many free ranges, they come first. Suspect jobs are never mixed with others.
 *
 * After another claim was faster, and while there are fresh jobs, the claim takes only these, or only a few free ranges,
 * so that it hardly touches what others take.
 */
const candidates = (
  free: readonly Lease[],
  fresh: number,
  count: number,
  { maxDeliveries, claimsMax, spread }: ClaimRules,
): Omit<Candidates, 'isApart'> => {
  const isContended = spread > 0 && fresh > 0;
  const fewest = spreadOut(free, spread);
  const [known, suspects] = [false, true].map((isSuspect) =>
    fewest.filter((lease) => endedOf(lease).isSuspect === isSuspect),
  ) as [Lease[], Lease[]];
  const { first } = freeLimits(claimsMax);
  const isFreeFirst = fresh === 0 || free.length >= (isContended ? claimsMax : first);
  const [suspect] = suspects;
  const areSuspectsFirst = known.length === 0 || suspects.length > Math.max(known.length, first);
  if (suspect && isFreeFirst && areSuspectsFirst) {
    const from = suspects.filter(({ deliveries }) => deliveries === suspect.deliveries).slice(0, PIECES_MAX);
    return { fresh: 0, from, most: isolated(count, suspect.deliveries, maxDeliveries), isFreeFirst };
  }
  const isOnlyFree = isContended && isFreeFirst && known.length > 0;
  const isOnlyFresh = !isFreeFirst && fresh >= count;
  return {
    fresh: isOnlyFree ? 0 : Math.min(fresh, count),
    // One of the claim's leases may be needed for fresh jobs.
    from: isOnlyFresh ? [] : known.slice(0, isOnlyFree ? CONTENDED_MAX : PIECES_MAX - 1),
    most: count,
    isFreeFirst,
  };
};

/** Free leases with the fewest deliveries first. @param spread as in {@link ClaimRules} */
const spreadOut = (free: readonly Lease[], spread: number): readonly Lease[] => {
  const fewest = [...free].sort((a, b) => a.deliveries - b.deliveries);
  const begin = Math.floor(spread * fewest.length);
  return [...fewest.slice(begin), ...fewest.slice(0, begin)];
};
