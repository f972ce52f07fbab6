/**
 * Add (T2): adds items to a fan-out in new groups. A repeated request with the same token adds nothing more. One
 * transaction reserves the groups and stores the token. After that, the rows of the groups are put. So a repeat after a
 * crash puts the same rows.
 */

import type { FanOutId } from '../../domain/fan-out-ids.ts';
import type { FanOut } from '../../domain/fan-outs/fan-out.ts';
import { groupSizes } from '../../domain/fan-outs/tree.ts';
import type { Token } from '../../domain/ids.ts';
import type { Reservation } from '../../ports/fan-outs.ts';
import { contend, FanOutBusy, type Patience } from '../contention.ts';
import type { FanOutDeps } from '../deps.ts';

/** A group that was added. Its items are `fanOutId:n:0` to `fanOutId:n:(size-1)`. */
interface Group {
  readonly n: number;
  readonly size: number;
}

export type Added =
  /** `itemKey`: the key of the items' tokens, unless an earlier release opened the fan-out. */
  | { readonly kind: 'added'; readonly groups: readonly Group[]; readonly itemKey?: string }
  /** The fan-out is sealed or has ended. Nothing was added. */
  | { readonly kind: 'closed'; readonly status: Exclude<FanOut['status'], 'open'> }
  | { readonly kind: 'unknown' }
  /** The token was used for another number of items. Nothing was added. */
  | { readonly kind: 'other-count'; readonly count: number };

/** How often a request may lose the race for the next group before it fails. */
const PATIENCE: Patience = { tries: 20, pause: 20 };

/** @throws FanOutBusy */
export const addItems = async (deps: FanOutDeps, id: FanOutId, count: number, token: Token): Promise<Added> => {
  const { fanOuts, machine } = deps;
  return contend(
    machine,
    PATIENCE,
    async () => {
      const known = await fanOuts.reservation(id, token);
      const fanOut = await fanOuts.read(id);
      if (!fanOut) return { kind: 'unknown' };
      if (isOf(fanOut, known)) return putGroups(deps, fanOut, known, count);
      if (fanOut.status !== 'open') {
        // Read the token again: between the two reads, an earlier try of this request may have been stored and the
        // fan-out may have been closed.
        const taken = await fanOuts.reservation(id, token);
        return isOf(fanOut, taken) ? putGroups(deps, fanOut, taken, count) : { kind: 'closed', status: fanOut.status };
      }
      const take = { first: fanOut.groups, count, openedAt: fanOut.createdAt };
      const groups = groupSizes(count, fanOuts.width).length;
      return (await fanOuts.reserve(id, token, { ...take, groups, at: machine.now() }))
        ? putGroups(deps, fanOut, take, count)
        : undefined;
    },
    () => new FanOutBusy(id),
  );
};

/** Whether a token's reservation belongs to this fan-out, not to an earlier fan-out with the same id. */
const isOf = ({ createdAt }: FanOut, taken: Reservation | undefined): taken is Reservation =>
  taken?.openedAt === createdAt;

/**
 * Puts the rows of reserved groups. A repeat is harmless, and necessary because the function that reserved the groups
 * may have died.
 */
const putGroups = async (
  { fanOuts, machine }: FanOutDeps,
  fanOut: FanOut,
  { first, count: taken }: Reservation,
  count: number,
): Promise<Added> => {
  if (fanOut.status === 'expired') return { kind: 'closed', status: fanOut.status };
  if (taken !== count) return { kind: 'other-count', count: taken };
  const groups = groupSizes(count, fanOuts.width).map((size, index): Group => ({ n: first + index, size }));
  const added: Added = { kind: 'added', groups, ...(fanOut.itemKey === undefined ? {} : { itemKey: fanOut.itemKey }) };
  // Put no rows for a fan-out that completed long ago: its rows are being deleted or have been deleted.
  if (fanOut.ended && !fanOut.event && (fanOut.checkAt ?? 0) <= machine.now()) return added;
  await fanOuts.putGroups(fanOut.id, groups, machine.now());
  // If the fan-out has ended meanwhile, its rows may have been deleted before this function put these rows.
  const after = await fanOuts.read(fanOut.id);
  if (after && after.status !== 'expired') return added;
  await fanOuts.removeNodes(
    fanOut.id,
    groups.map(({ n }) => ({ level: 0, n })),
  );
  return after ? { kind: 'closed', status: 'expired' } : { kind: 'unknown' };
};
