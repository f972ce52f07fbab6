/**
 * Claim (D2, D3): a worker claims jobs for the time of a lease. A repeated claim gets the same jobs. The worker can then
 * renew the lease (`renew.ts`), complete its jobs (`complete.ts`), or release them (`release.ts`).
 */

import { isGoing } from '../../domain/fan-outs/fan-out.ts';
import type { Millis } from '../../domain/ids.ts';
import { type ClaimPlan, planClaim } from '../../domain/lists/claiming.ts';
import { unbegunOf } from '../../domain/lists/deliveries.ts';
import { type ClaimId, type ClaimKey, claimKeyOf, type Handle, handleOf, type ListId } from '../../domain/lists/ids.ts';
import {
  APART_MAX,
  claimsIn,
  freed,
  goneIn,
  type Holder,
  handsOut,
  isFree,
  type Job,
  type Lease,
  type List,
  leaseEnd,
  type OpenIn,
  openCount,
} from '../../domain/lists/list.ts';
import { countOf, endOf, hasJob, rangesOf, tokensOf } from '../../domain/lists/ranges.ts';
import { type ClaimTaking, planTake } from '../../domain/lists/taking.ts';
import type { Beginning } from '../../ports/lists.ts';
import { inParts } from '../../util/parts.ts';
import { ListBusy, retryWhileContended } from '../contention.ts';
import type { ListDeps } from '../deps.ts';
import { failSpent, maxDeliveriesOf } from './deliveries.ts';
import { doneIn, openIn } from './done.ts';
import { gatherEnded } from './gather.ts';
import { changeClaim, type HeldClaim } from './held.ts';
import { mergeFree } from './merge-free.ts';

/** A job as its worker gets it. */
export interface ClaimedJob extends Job {
  /** How often the job was handed out, this time included. */
  readonly deliveries: number;
}

export type Claimed =
  | { readonly kind: 'claimed'; readonly handle: Handle; readonly jobs: readonly ClaimedJob[]; readonly until: Millis }
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
  /** The name of the worker. */
  readonly holder?: string;
}

/** D2. Claims jobs. @throws ListBusy */
export const claimJobs = (deps: ListDeps, id: ListId, claim: Claim): Promise<Claimed> => {
  let spread = 0;
  return retryWhileContended(deps.machine, id, async () => {
    const claimed = await tryToClaim(deps, id, claim, spread);
    spread = deps.machine.random();
    return claimed;
  });
};

/** What a claim is made of, besides the jobs. */
interface Wanted {
  readonly id: ListId;
  readonly claim: ClaimId;
  readonly key: ClaimKey;
  readonly until: Millis;
  readonly holder: Holder;
}

/** @param spread as in {@link ClaimRules} */
const tryToClaim = async (deps: ListDeps, id: ListId, asked: Claim, spread: number): Promise<Claimed | undefined> => {
  const { lists, machine } = deps;
  const { claim, count, lease: span } = asked;
  const stored = await lists.read(id);
  const list = stored && handsOut(stored) ? await tidied(deps, id, stored) : stored;
  if (!list || list.status === 'expired') return list ? { kind: 'closed', status: list.status } : { kind: 'unknown' };
  const now = machine.now();
  // The list ended long ago: its jobs are deleted or will be deleted soon.
  if (isGoing(list, now)) return { kind: 'unknown' };
  const key = claimKeyOf(claim);
  const holder = { since: now, ...(asked.holder === undefined ? {} : { name: asked.holder }) };
  const wanted: Wanted = { id, claim, key, until: leaseEnd(now, span), holder };
  const apart = list.apart && (await lists.claimApart(id, key));
  if (apart) return again(deps, list, wanted, { ...apart, isApart: true });
  const rules = { maxDeliveries: maxDeliveriesOf(deps, list), claimsMax: lists.claimsMax, spread };
  const plan = planClaim(list, key, count, now, rules);
  switch (plan.do) {
    case 'again':
      return again(deps, list, wanted, { key, leases: plan.leases, isApart: false });
    case 'fail':
      return failSpent(deps, id, list, plan.leases);
    case 'take':
      return take(deps, list, wanted, plan);
    case 'none':
      return { kind: 'none', status: list.status };
    case 'refuse':
      return { kind: list.status === 'cancelled' ? 'closed' : 'none', status: list.status };
  }
};

/** The list with the jobs of ended claims in its row, and with as few free ranges as possible. */
const tidied = async (deps: ListDeps, id: ListId, list: List): Promise<List | undefined> => {
  const gathered = await gatherEnded(deps, id, list);
  return gathered && mergeFree(deps, id, gathered);
};

/** A repeated claim gets its jobs again. If its lease has ended, and no other claim has its jobs, it is renewed. */
const again = async (deps: ListDeps, list: List, wanted: Wanted, stored: HeldClaim): Promise<Claimed | undefined> => {
  const { id, until } = wanted;
  const isOver = stored.leases.some((lease) => isFree(lease, deps.machine.now()));
  const leases = isOver ? stored.leases.map((lease) => ({ ...lease, until })) : stored.leases;
  if (isOver && !(await changeClaim(deps.lists, id, list, stored, { keep: leases }))) return undefined;
  const done = await doneIn(deps.fanOuts, id, leases);
  return handOut(deps, list, wanted, { ...stored, leases }, (token) => !done.has(token));
};

/** Number of candidates that are read at once. */
const READ_AT_ONCE = 8;

/** Reads as many free leases as are needed for `most` jobs, with their jobs that are not done. */
const openCandidates = async (
  { fanOuts }: ListDeps,
  id: ListId,
  { from, most }: ClaimPlan & { readonly do: 'take' },
): Promise<readonly OpenIn[]> => {
  const opened: OpenIn[] = [];
  for (const part of inParts(from, READ_AT_ONCE)) {
    if (openCount(opened) >= most) break;
    opened.push(...(await openIn(fanOuts, id, part)));
  }
  return opened;
};

const take = async (
  deps: ListDeps,
  list: List,
  wanted: Wanted,
  plan: ClaimPlan & { readonly do: 'take' },
): Promise<Claimed | undefined> => {
  const { id, key, until, holder } = wanted;
  const opened = await openCandidates(deps, id, plan);
  const taking = planTake(list, plan, opened, key, until);
  const leases = await (plan.isApart ? putApart(deps, list, wanted, taking) : putInRow(deps, list, wanted, taking));
  // Only done jobs were left in these leases, or another function was faster.
  if (!leases || leases.length === 0) return undefined;
  const open = new Set(opened.flatMap((each) => each.open.flatMap(tokensOf)));
  const isOpen = (token: number): boolean => taking.from.length === 0 || token >= list.head || open.has(token);
  return handOut(deps, list, wanted, { key, leases, holder, isApart: plan.isApart }, isOpen);
};

/**
 * What the write of a claim takes from the list's row, and what it checks. @param mine the claim's leases in the row
 */
const changeOf = (list: List, { from, rest, fresh }: ClaimTaking, mine: readonly Lease[]) => {
  const to = [...mine, ...(rest ? [rest] : [])];
  return {
    from,
    to,
    isHandingOut: true,
    ...(fresh > 0 ? { fresh: { head: list.head, count: fresh } } : {}),
    gone: goneIn(list, from, to),
    apart: apartOf(list),
  };
};

/**
 * The check that no other request with the same id has begun this claim meanwhile: both would get jobs.
 *
 * @param holder the holder to store in the list's row
 */
const beginningOf = ({ holders }: List, key: ClaimKey, holder?: Holder): { readonly begins?: Beginning } => {
  const was = holders?.[key];
  return holders ? { begins: { claim: key, ...(holder ? { holder } : {}), ...(was ? { was } : {}) } } : {};
};

/** The claims in rows of their own, as a write compares them. */
const apartOf = ({ apart }: List) => apart ?? ('none' as const);

/** Returns the leases of the claim, or undefined if another function was faster. */
const putInRow = async (
  { lists, machine }: ListDeps,
  list: List,
  { id, key, holder }: Wanted,
  taking: ClaimTaking,
): Promise<readonly Lease[] | undefined> => {
  const [lease] = taking.to;
  const beginning = beginningOf(list, key, holder);
  if (lease && taking.from.length === 0) {
    // Without free leases, the write needs no particular state of the list, so many workers can claim at once.
    const most = list.leases.length + lists.claimsMax - claimsIn(list, machine.now());
    const fresh = { total: list.total, most, ...beginning, apart: apartOf(list) };
    const stored = await lists.leaseFresh(id, lease, fresh);
    return stored && [stored];
  }
  const change = changeOf(list, taking, taking.to);
  const isMine = await lists.change(id, { ...change, ...(lease ? beginning : {}) });
  return isMine ? taking.to : undefined;
};

/** D13. Puts the claim into a row of its own. @throws ListBusy */
const putApart = async (
  { lists, report }: ListDeps,
  list: List,
  { id, key, holder }: Wanted,
  taking: ClaimTaking,
): Promise<readonly Lease[] | undefined> => {
  const { apart } = list;
  const [lease] = taking.to;
  if (!lease) return (await lists.change(id, changeOf(list, taking, []))) ? [] : undefined;
  if (apart && apart.count >= APART_MAX) {
    const claims = lists.claimsMax + apart.count;
    report({ event: 'claim-refused', list: id, claims });
    const why = `${claims} claims are under way, the most that a list can have`;
    throw new ListBusy(id, `${why} (groupage lists claims shows them, and groupage lists break ends one)`);
  }
  const becomes = { count: (apart?.count ?? 0) + 1, until: Math.min(apart?.until ?? lease.until, lease.until) };
  const isMine = await lists.putApart(
    id,
    { key, leases: taking.to, holder },
    { ...changeOf(list, taking, []), ...beginningOf(list, key), becomes },
  );
  return isMine ? taking.to : undefined;
};

/**
 * D2. Returns the jobs of a claim that are not done. If all are done, its leases are removed: the worker that did the
 * jobs died before it ended them. Jobs that do not fit in one response become available again.
 */
const handOut = async (
  { lists }: ListDeps,
  list: List,
  { id, claim }: Wanted,
  mine: HeldClaim,
  isOpen: (token: number) => boolean,
): Promise<Claimed | undefined> => {
  const { leases } = mine;
  const open = leases.flatMap((lease) => rangesOf(tokensOf(lease).filter(isOpen)));
  if (open.length === 0) {
    await changeClaim(lists, id, list, mine, {});
    return undefined;
  }
  const jobs = await lists.jobs(id, open);
  const last = jobs.at(-1);
  // The jobs have been deleted, because the list is being deleted.
  if (!last) return undefined;
  const isWhole = jobs.length === countOf(open);
  const { keep, free } = isWhole ? { keep: leases, free: [] } : fitting(leases, last.token);
  if (!isWhole && !(await changeClaim(lists, id, list, mine, { keep, free }))) return undefined;
  return {
    kind: 'claimed',
    handle: handleOf(id, claim, keep),
    jobs: jobs.map((job) => ({ ...job, deliveries: deliveriesOf(keep, job.token) })),
    until: leases[0]?.until ?? 0,
  };
};

const deliveriesOf = (leases: readonly Lease[], token: number): number =>
  leases.find((lease) => hasJob(lease, token))?.deliveries ?? 1;

/** Divides leases, which are in the order in which they were read, after the last job that was read. */
const fitting = (
  leases: readonly Lease[],
  last: number,
): { readonly keep: readonly Lease[]; readonly free: readonly Lease[] } => {
  const at = leases.findIndex((lease) => hasJob(lease, last));
  const keep = leases
    .slice(0, at + 1)
    .map((lease) => (hasJob(lease, last) ? { ...lease, count: last + 1 - lease.first } : lease));
  const left = leases.slice(at).flatMap((lease) => {
    const first = hasJob(lease, last) ? last + 1 : lease.first;
    return first < endOf(lease) ? [{ ...lease, first, count: endOf(lease) - first }] : [];
  });
  // The jobs were taken, but not handed out: this was no delivery.
  return { keep, free: left.map((lease) => freed(lease, unbegunOf(lease))) };
};
