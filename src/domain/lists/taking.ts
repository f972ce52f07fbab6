/** The jobs that a claim or a trigger takes: from free leases, and fresh ones (D2, D3, D7). Pure. */
import type { Millis } from '../ids.ts';
import type { Candidates } from './claiming.ts';
import { endedOf, FIRST, nextOf } from './deliveries.ts';
import type { ClaimKey, Range } from './ids.ts';
import { freed, freshOf, isFree, type Lease, type List, leased, type OpenIn, SEEN_MAX } from './list.ts';
import { countOf, endOf, isSome, partOf, spanOf } from './ranges.ts';

interface Taking {
  /** The free leases that are replaced. */
  readonly from: readonly Lease[];
  /** The part of the last of these leases that stays free. */
  readonly rest?: Lease;
  /** Number of fresh jobs. */
  readonly fresh: number;
}

export interface ClaimTaking extends Taking {
  /** The leases of the claim. */
  readonly to: readonly Lease[];
}

/** What a trigger hands out: first jobs that were given back or whose lease has ended, then fresh jobs. */
export interface TriggerTaking extends Taking {
  readonly ranges: readonly Range[];
}

/** Takes up to `wanted` open jobs from free leases. */
const fromFree = (opened: readonly OpenIn[], wanted: number) => {
  const from: Lease[] = [];
  const taken: { readonly lease: Lease; readonly ranges: readonly [Range, ...Range[]] }[] = [];
  let left = wanted;
  let rest: Lease | undefined;
  for (const { lease, open } of opened) {
    if (left === 0) break;
    from.push(lease);
    const ranges = partOf(open, 0, left);
    if (!isSome(ranges)) continue;
    taken.push({ lease, ranges });
    left -= countOf(ranges);
    const end = endOf(spanOf(ranges));
    if (countOf(open) > countOf(ranges)) rest = freed({ first: end, count: endOf(lease) - end }, endedOf(lease));
  }
  return { taken, left, free: { from, ...(rest ? { rest } : {}) } };
};

/**
 * Plans the leases of a claim (D2, D3). Within a free lease, the claim gets one range from the first to the last job
 * that is not done. @param opened the candidates with their open jobs, in the same order
 */
export const planTake = (
  { head }: Pick<List, 'head'>,
  { fresh: wanted, most, isFreeFirst }: Candidates,
  opened: readonly OpenIn[],
  key: ClaimKey,
  until: Millis,
): ClaimTaking => {
  const { taken, left, free } = fromFree(opened, isFreeFirst ? most : most - wanted);
  const fresh = isFreeFirst ? Math.min(wanted, left) : wanted;
  const ranges = [
    ...taken.map((each) => ({ ...spanOf(each.ranges), ...nextOf(endedOf(each.lease)) })),
    ...(fresh > 0 ? [{ first: head, count: fresh, ...FIRST }] : []),
  ];
  return { ...free, fresh, to: ranges.map((range, place) => leased(key, place, range, until)) };
};

/** The free leases that a trigger uses besides fresh jobs: as many as one write can check. */
export const freeToTrigger = ({ leases }: List, now: Millis): readonly Lease[] =>
  leases.filter((lease) => isFree(lease, now)).slice(0, SEEN_MAX);

/**
 * Plans a trigger of `count` jobs (D7), or of all jobs that are left if there are fewer. @param opened free leases, each
 * with its jobs that are not done; only these are handed out
 */
export const planTrigger = (list: List, count: number, opened: readonly OpenIn[]): TriggerTaking => {
  const { taken, left, free } = fromFree(opened, count);
  const fresh = Math.min(left, freshOf(list));
  const ranges = taken.flatMap((each) => each.ranges);
  return { ...free, fresh, ranges: fresh > 0 ? [...ranges, { first: list.head, count: fresh }] : ranges };
};
