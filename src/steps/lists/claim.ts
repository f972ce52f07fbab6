/**
 * Claim (D2 to D6): a worker claims a range of jobs for the time of a lease. A repeated claim gets the same range. The
 * worker can then renew the lease, complete its jobs, or release them.
 */

import { type ItemOutcome, isGoing } from '../../domain/fan-outs/fan-out.ts';
import type { Millis } from '../../domain/ids.ts';
import {
  type ClaimId,
  type Handle,
  type Handled,
  handleOf,
  itemOf,
  type LeaseKey,
  type ListId,
  leaseKeyOf,
  type Range,
  trackerOf,
} from '../../domain/lists/ids.ts';
import {
  CLAIMS_MAX,
  endOf,
  freed,
  type Job,
  type Lease,
  type List,
  leaseEnd,
  planClaim,
  tokensOf,
} from '../../domain/lists/list.ts';
import type { JobResult } from '../../ports/lists.ts';
import { ListBusy, retryWhileContended } from '../contention.ts';
import type { ListDeps } from '../deps.ts';
import { ackItems } from '../fan-outs/ack-items.ts';
import { doneIn } from './jobs.ts';

export type Claimed =
  | { readonly kind: 'claimed'; readonly handle: Handle; readonly jobs: readonly Job[]; readonly until: Millis }
  /** No job is available now. `status` and the leases of other workers show whether a job may become available. */
  | { readonly kind: 'none'; readonly status: List['status'] }
  /** The list was cancelled or deleted. */
  | { readonly kind: 'closed'; readonly status: List['status'] }
  | { readonly kind: 'unknown' };

export interface Claim {
  readonly claim: ClaimId;
  /** The largest number of jobs to claim. */
  readonly count: number;
  /** Duration of the lease. */
  readonly lease: Millis;
}

/** D2. Claims a range of jobs. @throws ListBusy */
export const claimJobs = (deps: ListDeps, id: ListId, claim: Claim): Promise<Claimed> =>
  retryWhileContended(deps.machine, id, () => tryToClaim(deps, id, claim));

const tryToClaim = async (
  deps: ListDeps,
  id: ListId,
  { claim, count, lease: span }: Claim,
): Promise<Claimed | undefined> => {
  const { lists, machine } = deps;
  const list = await lists.read(id);
  if (!list || list.status === 'expired') return list ? { kind: 'closed', status: list.status } : { kind: 'unknown' };
  const now = machine.now();
  // The list ended long ago: its jobs are deleted or will be deleted soon.
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
      throw new ListBusy(id, `${CLAIMS_MAX} claims are under way, the most that a list can have`);
    case 'refuse':
      return { kind: list.status === 'cancelled' ? 'closed' : 'none', status: list.status };
  }
};

/** @param to the new leases. The first one belongs to the worker that claims. */
const take = async (deps: ListDeps, id: ListId, claim: ClaimId, from: readonly Lease[], to: readonly Lease[]) => {
  // A worker may take its own expired lease again, even after the list was cancelled. Another worker may take an
  // expired lease only while the list hands out jobs.
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
 * D2. Returns the jobs of a lease that are not done. If all are done, the lease is removed: the worker that did the
 * jobs died before it ended the lease.
 *
 * Jobs that do not fit in one response become available again.
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
  // The jobs have been deleted, because the list is being deleted.
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

/** The claim and range that a handle contains. */
export type Held = Exclude<Handled, string>;

/** D4. The lease of a claim, if the list still has it with exactly the range of the handle. */
const leaseOf = ({ leases }: List, { claim, range }: Held): Lease | undefined => {
  const key = leaseKeyOf(claim);
  return leases.find((lease) => lease.key === key && lease.first === range.first && lease.count === range.count);
};

type NotHeld = { readonly kind: 'lost' } | { readonly kind: 'unknown' };

/** A lease without its end time, because D4 does not compare end times. */
const whenever = ({ key, first, count }: Lease) => ({ key, first, count });

/** Renews the lease of a claim. @param span duration of the renewed lease, from now. */
export const renew = async (
  { lists, machine }: ListDeps,
  id: ListId,
  held: Held,
  span: Millis,
): Promise<{ readonly kind: 'renewed'; readonly until: Millis } | NotHeld> => {
  const list = await lists.read(id);
  if (!list || list.status === 'expired') return { kind: 'unknown' };
  const lease = leaseOf(list, held);
  const until = leaseEnd(machine.now(), span);
  const isMine = lease && (await lists.change(id, [whenever(lease)], [{ ...lease, until }], 'any-time'));
  return isMine ? { kind: 'renewed', until } : { kind: 'lost' };
};

/** D6. Makes the jobs that are not done available again, and returns their number. A repeat is harmless. */
export const release = async (
  { lists, fanOuts }: ListDeps,
  id: ListId,
  held: Held,
): Promise<{ readonly kind: 'released'; readonly count: number } | { readonly kind: 'unknown' }> => {
  const list = await lists.read(id);
  if (!list || list.status === 'expired') return { kind: 'unknown' };
  const lease = leaseOf(list, held);
  if (!lease) return { kind: 'released', count: 0 };
  const count = lease.count - (await doneIn(fanOuts, id, lease)).size;
  const isMine = await lists.change(id, [whenever(lease)], count > 0 ? [freed(lease)] : [], 'any-time');
  return { kind: 'released', count: isMine ? count : 0 };
};

/** Results of some jobs, or one outcome for all of them. */
export type Completion = readonly JobResult[] | ItemOutcome;

export type Completed = { readonly kind: 'done'; readonly complete: boolean } | NotHeld;

/**
 * D5. Checks the lease, stores the results, acks the jobs in the list's tracker, and ends the lease after its last job.
 * If the function dies before the end, the lease stays and no job is lost.
 *
 * A worker that no longer has the lease gets 'done' if all jobs that it reports are done: its earlier response was
 * lost, or another worker did the jobs. Otherwise it gets 'lost'.
 */
export const complete = async (deps: ListDeps, id: ListId, held: Held, completion: Completion): Promise<Completed> => {
  const { lists, fanOuts, machine } = deps;
  const list = await lists.read(id);
  if (!list || isGoing(list, machine.now())) return { kind: 'unknown' };
  const lease = leaseOf(list, held);
  const results = typeof completion === 'string' ? resultsOf(held.range, completion) : completion;
  if (!lease) {
    const done = await doneIn(fanOuts, id, held.range);
    return results.every(({ token }) => done.has(token))
      ? { kind: 'done', complete: list.status === 'complete' }
      : { kind: 'lost' };
  }
  const isComplete = await ack(deps, id, lease, results);
  const named = new Set(results.map(({ token }) => token));
  const isAll = named.size === lease.count || (await doneIn(fanOuts, id, lease)).size === lease.count;
  // This write is refused if another worker has taken the lease meanwhile. That worker finds the jobs done.
  if (isAll) await lists.change(id, [whenever(lease)], [], 'any-time');
  return { kind: 'done', complete: isComplete };
};

const resultsOf = (range: Range, outcome: ItemOutcome): readonly JobResult[] =>
  tokensOf(range).map((token) => ({ token, outcome }));

/**
 * D5. Stores the results before the ack, so that every done job has its result. If two workers did the same job, the
 * first stored result stands.
 */
const ack = async (
  { lists, ...deps }: ListDeps,
  id: ListId,
  range: Range,
  results: readonly JobResult[],
): Promise<boolean> => {
  const { fanOuts } = deps;
  const withResult = results.filter(({ result, error }) => result !== undefined || error !== undefined);
  const done = withResult.length > 0 ? await doneIn(fanOuts, id, range) : new Map();
  const open = withResult.filter(({ token }) => !done.has(token));
  const stored = open.length > 0 ? await lists.putResults(id, open) : [];
  const outcomes = new Map([...results, ...stored].map(({ token, outcome }) => [token, outcome]));
  const acks = [...outcomes].map(([token, outcome]) => ({ item: itemOf(id, token, fanOuts.width), outcome }));
  const answer = await ackItems(deps, acks);
  return answer.fanOuts.some((each) => each.id === trackerOf(id) && each.complete);
};
