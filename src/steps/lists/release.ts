/**
 * Release (D6): a worker gives back the jobs that it has not done. Break (D12): a person ends a claim, for example of a
 * worker that died.
 */
import type { ClaimKey, ListId } from '../../domain/lists/ids.ts';
import { type Attempted, type Lease, releasedOf, tokensOf, unreportedOf } from '../../domain/lists/list.ts';
import type { JobResult } from '../../ports/lists.ts';
import { retryWhileContended } from '../contention.ts';
import type { ListDeps } from '../deps.ts';
import { failUndeliverable, maxDeliveriesOf, tooManyDeliveries } from './deliveries.ts';
import { doneIn } from './done.ts';
import { changeClaim, findClaim, type HeldClaim, type Named } from './held.ts';

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
  const open = await openOf(deps, id, claim);
  const most = maxDeliveriesOf(deps, list);
  const last = spent(claim.leases, open, attempted ?? [], most);
  const complete = await failUndeliverable(deps, id, list, last);
  const over = new Set(last.map(({ token }) => token));
  const left = new Set([...open].filter((token) => !over.has(token)));
  const begun: Attempted = attempted && new Set(attempted.map(({ token }) => token));
  const isMine = await changeClaim(lists, id, list, claim, { free: freeOf(claim.leases, left, begun, most) });
  // If another function was faster, the claim may still have its jobs.
  return isMine ? { kind: 'released', count: left.size, failed: last.length, complete } : undefined;
};

/** The jobs of a claim that are not done. */
const openOf = async ({ fanOuts }: ListDeps, id: ListId, { leases }: HeldClaim): Promise<ReadonlySet<number>> => {
  const done = await doneIn(fanOuts, id, leases);
  return new Set(leases.flatMap(tokensOf).filter((token) => !done.has(token)));
};

const freeOf = (
  leases: readonly Lease[],
  open: ReadonlySet<number>,
  begun: Attempted,
  maxDeliveries: number,
): readonly Lease[] =>
  leases.flatMap((lease) => {
    const tokens = tokensOf(lease).filter((token) => open.has(token));
    return releasedOf(lease, tokens, begun, unreportedOf(lease, open.size, maxDeliveries), leases.length);
  });

/** D10. The outcomes of jobs that the worker has begun in their last delivery. */
const spent = (
  leases: readonly Lease[],
  open: ReadonlySet<number>,
  attempted: readonly AttemptedJob[],
  maxDeliveries: number,
): readonly JobResult[] =>
  attempted.flatMap(({ token, error }): JobResult[] => {
    const lease = leases.find(({ first, count }) => token >= first && token < first + count);
    if (!lease || lease.deliveries < maxDeliveries || !open.has(token)) return [];
    return [error ? { token, outcome: 'failed', error } : tooManyDeliveries(token, lease.deliveries)];
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
  const open = await openOf(deps, id, claim);
  const isMine = await changeClaim(lists, id, list, claim, {
    free: freeOf(claim.leases, open, undefined, maxDeliveriesOf(deps, list)),
  });
  if (!isMine) return undefined;
  deps.report({ event: 'claim-broken', list: id, claim: claim.key, jobs: open.size });
  return { kind: 'broken', key: claim.key, count: open.size };
};
