/**
 * D13. Claims beyond the largest number in a list's row have rows of their own. When their leases have ended, their jobs
 * move into the list's row as free ranges, where claims and triggers find them.
 */
import type { Millis } from '../../domain/ids.ts';
import { unreported } from '../../domain/lists/deliveries.ts';
import { hasManyFree } from '../../domain/lists/free-ranges.ts';
import { type ListId, listOf } from '../../domain/lists/ids.ts';
import {
  APART_MAX,
  type Apart,
  isFree,
  type Lease,
  type List,
  PIECES_MAX,
  type StoredClaim,
} from '../../domain/lists/list.ts';
import type { Lists } from '../../ports/lists.ts';
import type { ListDeps } from '../deps.ts';
import { maxDeliveriesOf } from './deliveries.ts';
import { openIn } from './done.ts';

/** All leases of a list, those in rows of their own included. */
export const allLeases = async (lists: Lists, list: List): Promise<readonly Lease[]> =>
  list.apart
    ? [...list.leases, ...(await lists.claimsApart(listOf(list.id))).flatMap(({ leases }) => leases)]
    : list.leases;

/** Whether a claim in a row of its own may have ended, or whether the number of rows must be counted again. */
const mayHaveEnded = ({ count, until }: Apart, now: Millis): boolean => isFree({ until }, now) || count >= APART_MAX;

/**
 * Moves the jobs of ended claims into the list's row, as many as one write can, unless the row has many free ranges
 * already. Returns the list as it is then.
 */
export const gatherEnded = async (deps: ListDeps, id: ListId, list: List): Promise<List | undefined> => {
  const { lists, fanOuts, machine } = deps;
  const { apart: was } = list;
  if (!was || !mayHaveEnded(was, machine.now())) return list;
  const isFull = hasManyFree(list, lists.claimsMax);
  // Even then, the rows are counted again, because claims may be refused for their number.
  if (isFull && was.count < APART_MAX) return list;
  const claims = await lists.claimsApart(id);
  const now = machine.now();
  const all = claims.filter(({ leases }) => leases.every((lease) => isFree(lease, now)));
  const ended = isFull ? [] : atOnce(all);
  const others = claims.filter((claim) => !ended.includes(claim));
  const ends = others.flatMap(({ leases }) => leases.map(({ until }) => until));
  const becomes = { count: others.length, until: Math.min(...ends) };
  if (ended.length === 0 && becomes.count === was.count && becomes.until === was.until) return list;
  const maxDeliveries = maxDeliveriesOf(deps, list);
  const opened = await Promise.all(ended.map(({ leases }) => openIn(fanOuts, id, leases)));
  const free = opened.flatMap((claim) => unreported(claim, maxDeliveries));
  const moved = ended.map((claim) => ({ claim, keep: [] }));
  // If another function was faster, the list as it is now is used all the same.
  await lists.gather(id, moved, free, { was, becomes });
  return lists.read(id);
};

/** The first claims whose leases one write can move. */
const atOnce = (ended: readonly StoredClaim[]): readonly StoredClaim[] => {
  let count = 0;
  return ended.filter(({ leases }) => {
    count += leases.length;
    return count <= PIECES_MAX;
  });
};
