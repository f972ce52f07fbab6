/** Claim (D2, D3): a worker gets a range of jobs for a while; the same one again, for the same claim. */

import { isGoing } from '../../domain/fan-outs/fan-out.ts';
import type { Millis } from '../../domain/ids.ts';
import { type ClaimId, type Handle, handleOf, type LeaseKey, type ListId, leaseKeyOf } from '../../domain/lists/ids.ts';
import {
  CLAIMS_MAX,
  endOf,
  freed,
  type Job,
  type Lease,
  type List,
  leaseEnd,
  planClaim,
} from '../../domain/lists/list.ts';
import { ListBusy, takeTurns } from './busy.ts';
import type { ListDeps } from './deps.ts';
import { doneIn } from './done.ts';

export type Claimed =
  | { readonly kind: 'claimed'; readonly handle: Handle; readonly jobs: readonly Job[]; readonly until: Millis }
  /** There is nothing to be had now; whether there will be, the status says, and what others have. */
  | { readonly kind: 'none'; readonly status: List['status'] }
  /** Somebody cancelled it, or deleted it. */
  | { readonly kind: 'closed'; readonly status: List['status'] }
  | { readonly kind: 'unknown' };

export interface Claim {
  readonly claim: ClaimId;
  /** As many jobs as that at the most. */
  readonly count: number;
  /** For how long. */
  readonly lease: Millis;
}

/** First come, first served. @throws ListBusy */
export const claimJobs = (deps: ListDeps, id: ListId, claim: Claim): Promise<Claimed> =>
  takeTurns(deps.machine, id, () => tryToClaim(deps, id, claim));

const tryToClaim = async (
  deps: ListDeps,
  id: ListId,
  { claim, count, lease: span }: Claim,
): Promise<Claimed | undefined> => {
  const { lists, machine } = deps;
  const list = await lists.read(id);
  if (!list || list.status === 'expired') return list ? { kind: 'closed', status: list.status } : { kind: 'unknown' };
  const now = machine.now();
  // It ended long ago: its jobs are gone, or about to go.
  if (isGoing(list, now)) return { kind: 'unknown' };
  const key = leaseKeyOf(claim);
  const until = leaseEnd(now, span);
  const plan = planClaim(list, key, count, now);
  switch (plan.do) {
    case 'hand-out':
      return handOut(deps, id, claim, plan.lease, 'once more');
    case 'renew':
      return take(deps, id, claim, [plan.lease], [{ ...plan.lease, until }]);
    case 'take': {
      const lease = { ...plan.range, key, until };
      return take(deps, id, claim, plan.from, [lease, ...(plan.rest ? [plan.rest] : [])]);
    }
    case 'fresh':
      return leaseFresh(deps, list, id, claim, { key, count: plan.count, until });
    case 'none':
      return { kind: 'none', status: list.status };
    case 'wait':
      throw new ListBusy(id, `${CLAIMS_MAX} claims are under way, which is as many as there can be`);
    case 'refuse':
      return { kind: list.status === 'cancelled' ? 'closed' : 'none', status: list.status };
  }
};

/** @param to the first of them is the claimer's */
const take = async (deps: ListDeps, id: ListId, claim: ClaimId, from: readonly Lease[], to: readonly Lease[]) => {
  // Whoever has an expired lease may go on with it, after a cancel too; others get nothing then.
  const how = from[0]?.key === to[0]?.key ? 'any-time' : 'handing-out';
  return (await deps.lists.change(id, from, to, how))
    ? handOut(deps, id, claim, to[0] as Lease, 'once more')
    : undefined;
};

const leaseFresh = async (
  deps: ListDeps,
  { total }: List,
  id: ListId,
  claim: ClaimId,
  wanted: { readonly key: LeaseKey; readonly count: number; readonly until: Millis },
) => {
  const lease = await deps.lists.leaseFresh(id, { ...wanted, total, most: CLAIMS_MAX });
  return lease && handOut(deps, id, claim, lease, 'for the first time');
};

/**
 * What was handed out before may be done in part. Where all of it is, nobody needs the lease: whoever did the work
 * stopped before he gave it back.
 *
 * Jobs that are too large for one answer go back to the pool.
 */
const handOut = async (
  { lists, fanOuts }: ListDeps,
  id: ListId,
  claim: ClaimId,
  lease: Lease,
  how: 'for the first time' | 'once more',
): Promise<Claimed | undefined> => {
  const done = how === 'once more' ? await doneIn(fanOuts, id, lease) : new Map();
  const jobs = done.size < lease.count ? await lists.jobs(id, lease) : [];
  // None are there of a list that is being deleted.
  if (jobs.length === 0 && done.size < lease.count) return undefined;
  const end = jobs.length > 0 ? lease.first + jobs.length : endOf(lease);
  const rest = end < endOf(lease) ? [freed({ first: end, count: endOf(lease) - end })] : [];
  const mine = { ...lease, count: end - lease.first };
  const open = jobs.filter(({ token }) => !done.has(token));
  const keeps = open.length > 0 ? [mine] : [];
  const isChanged = open.length === 0 || rest.length > 0;
  if (isChanged && !(await lists.change(id, [lease], [...keeps, ...rest], 'any-time'))) return undefined;
  return open.length > 0
    ? { kind: 'claimed', handle: handleOf(id, claim, mine), jobs: open, until: lease.until }
    : undefined;
};
