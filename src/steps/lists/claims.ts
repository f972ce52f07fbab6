/** Lists the claims of a list for people, those in rows of their own included. */
import { listOf } from '../../domain/lists/ids.ts';
import { claimsOf, type List, type StoredClaim } from '../../domain/lists/list.ts';
import { countOf } from '../../domain/lists/ranges.ts';
import type { ListDeps } from '../deps.ts';
import { openIn } from './done.ts';

export interface ListedClaim extends StoredClaim {
  /** Number of its jobs that are not done. */
  readonly open: number;
}

/** All claims whose jobs no other claim has taken, those whose lease has ended included, by the end of the lease. */
export const listedClaims = async (
  { lists, fanOuts }: Pick<ListDeps, 'lists' | 'fanOuts'>,
  list: List,
): Promise<readonly ListedClaim[]> => {
  const id = listOf(list.id);
  const claims = [...claimsOf(list), ...(list.apart ? await lists.claimsApart(id) : [])];
  const opened = await openIn(
    fanOuts,
    id,
    claims.flatMap(({ leases }) => leases),
  );
  const openOf = new Map(opened.map(({ lease, open }) => [lease, countOf(open)]));
  return claims
    .map((claim) => ({ ...claim, open: claim.leases.reduce((sum, lease) => sum + (openOf.get(lease) ?? 0), 0) }))
    .sort((a, b) => (a.leases[0]?.until ?? 0) - (b.leases[0]?.until ?? 0));
};
