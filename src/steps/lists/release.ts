/**
 * Release (D6): a worker gives back the jobs that it has not done. Break (D12): a person ends a claim, for example of a
 * worker that died.
 */

import { releasedOf, unreported } from '../../domain/lists/deliveries.ts';
import type { ClaimKey, ListId } from '../../domain/lists/ids.ts';
import { type OpenIn, openCount } from '../../domain/lists/list.ts';
import { hasJob, without } from '../../domain/lists/ranges.ts';
import type { JobResult } from '../../ports/lists.ts';
import { retryWhileContended } from '../contention.ts';
import type { ListDeps } from '../deps.ts';
import { failUndeliverable, maxDeliveriesOf, tooManyDeliveries } from './deliveries.ts';
import { openIn } from './done.ts';
import { changeClaim, findClaim, type Named } from './held.ts';

/** A job that the worker has begun, but not ended, for example because its handler threw an error. */
export interface AttemptedJob {
  readonly token: number;
  readonly error?: { readonly code: string; readonly message: string };
}

export type Released =
  /** `failed`: jobs whose last allowed delivery this was. */
  | { readonly kind: 'released'; readonly count: number; readonly failed: number; readonly complete: boolean }
  | { readonly kind: 'unknown' };

/**
 * D6. Makes the jobs that are not done available again. A repeat changes nothing.
 *
 * @param attempted the jobs that the worker has begun. The delivery counts only for them. Undefined if the worker does
 * not say it: the delivery then counts for all jobs.
 * @throws ListBusy
 */
export const release = (
  deps: ListDeps,
  id: ListId,
  name: Named,
  attempted?: readonly AttemptedJob[],
): Promise<Released> => retryWhileContended(deps.machine, id, () => tryToRelease(deps, id, name, attempted));

const tryToRelease = async (
  deps: ListDeps,
  id: ListId,
  name: Named,
  attempted: readonly AttemptedJob[] | undefined,
): Promise<Released | undefined> => {
  const { lists } = deps;
  const list = await lists.read(id);
  if (!list || list.status === 'expired') return { kind: 'unknown' };
  const claim = await findClaim(lists, id, list, name);
  if (!claim) return { kind: 'released', count: 0, failed: 0, complete: list.status === 'complete' };
  const opened = await openIn(deps.fanOuts, id, claim.leases);
  const most = maxDeliveriesOf(deps, list);
  const last = spent(opened, attempted ?? [], most);
  const complete = await failUndeliverable(deps, id, list, last);
  const over = new Set(last.map(({ token }) => token));
  const left = opened.map(({ lease, open }) => ({ lease, open: open.flatMap((range) => without(range, over)) }));
  const begun = attempted && new Set(attempted.map(({ token }) => token));
  const free = begun ? left.flatMap((each) => releasedOf(each, begun, left.length)) : unreported(left, most);
  // If another function was faster, the claim may still have its jobs.
  return (await changeClaim(lists, id, list, claim, { free }))
    ? { kind: 'released', count: openCount(left), failed: last.length, complete }
    : undefined;
};

/** D10. The outcomes of jobs that the worker has begun in their last delivery. */
const spent = (
  opened: readonly OpenIn[],
  attempted: readonly AttemptedJob[],
  maxDeliveries: number,
): readonly JobResult[] =>
  attempted.flatMap(({ token, error }): JobResult[] => {
    const found = opened.find(({ open }) => open.some((range) => hasJob(range, token)));
    if (!found || found.lease.deliveries < maxDeliveries) return [];
    return [error ? { token, outcome: 'failed', error } : tooManyDeliveries(token, found.lease.deliveries)];
  });

export type Broken =
  | { readonly kind: 'broken'; readonly key: ClaimKey; readonly count: number }
  /** The list has no such claim. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' };

/**
 * D12. Ends a claim at once, even if its lease has not ended: other workers can claim its jobs that are not done. The
 * worker that had it gets the answer that the claim is lost. Until that answer, it may work on a job that another
 * worker has, too; the first outcome stands.
 *
 * @throws ListBusy
 */
export const breakClaim = (deps: ListDeps, id: ListId, name: Named): Promise<Broken> =>
  retryWhileContended(deps.machine, id, () => tryToBreak(deps, id, name));

const tryToBreak = async (deps: ListDeps, id: ListId, name: Named): Promise<Broken | undefined> => {
  const { lists } = deps;
  const list = await lists.read(id);
  if (!list || list.status === 'expired') return { kind: 'unknown' };
  const claim = await findClaim(lists, id, list, name);
  if (!claim) return { kind: 'none' };
  const opened = await openIn(deps.fanOuts, id, claim.leases);
  const free = unreported(opened, maxDeliveriesOf(deps, list));
  if (!(await changeClaim(lists, id, list, claim, { free }))) return undefined;
  const count = openCount(opened);
  deps.report({ event: 'claim-broken', list: id, claim: claim.key, jobs: count });
  return { kind: 'broken', key: claim.key, count };
};
