/**
 * Finds the leases of a claim, in the list's row or in a row of their own (D13), and replaces them. A claim is named by
 * its id, or by a handle, which also names its ranges (D4).
 */
import { type ClaimId, type ClaimKey, claimKeyOf, type ListId, type Range } from '../../domain/lists/ids.ts';
import { claimsOf, goneIn, type Lease, type List, type StoredClaim } from '../../domain/lists/list.ts';
import type { Lists } from '../../ports/lists.ts';

/** The claim that a request is about. */
export interface Named {
  readonly key: ClaimKey;
  /** The ranges that the claim must have. Undefined if the request names only the claim. */
  readonly ranges?: readonly Range[];
}

/** Names a claim by its id, and by the ranges of a handle. */
export const namedBy = ({ claim, ranges }: { readonly claim: ClaimId; readonly ranges?: readonly Range[] }): Named => ({
  key: claimKeyOf(claim),
  ...(ranges ? { ranges } : {}),
});

/** A claim that still has its jobs. */
export interface HeldClaim extends StoredClaim {
  readonly isApart: boolean;
}

/** The answer about a claim that does not have its jobs, or about a list that does not exist. */
export type NotHeld = { readonly kind: 'lost' } | { readonly kind: 'unknown' };

/** D4. The claim with the leases of the named ranges, if it has all of them. */
export const findClaim = async (
  lists: Lists,
  id: ListId,
  list: List,
  { key, ranges }: Named,
): Promise<HeldClaim | undefined> => {
  const stored = claimsOf(list).find((claim) => claim.key === key);
  const inRow = stored && withRanges(stored, ranges);
  if (inRow) return { ...inRow, isApart: false };
  const apart = list.apart && (await lists.claimApart(id, key));
  const isSame = apart && withRanges(apart, ranges)?.leases.length === apart.leases.length;
  return isSame ? { ...apart, isApart: true } : undefined;
};

const withRanges = (claim: StoredClaim, ranges: readonly Range[] | undefined): StoredClaim | undefined => {
  if (!ranges) return claim;
  const leases = ranges.flatMap(
    ({ first, count }) => claim.leases.find((lease) => lease.first === first && lease.count === count) ?? [],
  );
  return leases.length === ranges.length ? { ...claim, leases } : undefined;
};

/** A lease without its end, because D4 does not compare ends. */
const whenever = ({ key, first, count }: Lease) => ({ key, first, count });

/**
 * Replaces the leases of a claim, if it still has them. @param keep its new leases @param free jobs that go back to the
 * pool
 */
export const changeClaim = (
  lists: Lists,
  id: ListId,
  list: Pick<List, 'leases' | 'holders'>,
  claim: HeldClaim,
  { keep = [], free = [] }: { readonly keep?: readonly Lease[]; readonly free?: readonly Lease[] },
): Promise<boolean> => {
  if (!claim.isApart) {
    const from = claim.leases.map(whenever);
    const to = [...keep, ...free];
    return lists.change(id, { from, to, gone: goneIn(list, from, to) });
  }
  return free.length > 0 ? lists.gather(id, [{ claim, keep }], free) : lists.changeApart(id, claim, keep);
};
