/** Renew (D4): a worker extends the lease of its claim. */
import type { Millis } from '../../domain/ids.ts';
import type { ListId } from '../../domain/lists/ids.ts';
import { leaseEnd } from '../../domain/lists/list.ts';
import { retryWhileContended } from '../contention.ts';
import type { ListDeps } from '../deps.ts';
import { changeClaim, findClaim, type Named, type NotHeld } from './held.ts';

/** D4. Renews the lease of a claim. @param span duration of the renewed lease, from now @throws ListBusy */
export const renew = (deps: ListDeps, id: ListId, name: Named, span: Millis): Promise<Renewed> =>
  retryWhileContended(deps.machine, id, () => tryToRenew(deps, id, name, span));

type Renewed = { readonly kind: 'renewed'; readonly until: Millis } | NotHeld;

/** Returns undefined if another function was faster. The claim may still have its jobs. */
const tryToRenew = async (
  { lists, machine }: ListDeps,
  id: ListId,
  name: Named,
  span: Millis,
): Promise<Renewed | undefined> => {
  const list = await lists.read(id);
  if (!list || list.status === 'expired') return { kind: 'unknown' };
  const claim = await findClaim(lists, id, list, name);
  if (!claim) return { kind: 'lost' };
  const until = leaseEnd(machine.now(), span);
  const keep = claim.leases.map((lease) => ({ ...lease, until }));
  // The list's row names the earliest end of the rows apart, so that nothing looks for ended leases before it.
  const { apart: was } = list;
  const isEarlier = claim.isApart && was !== undefined && until < was.until;
  const isMine = isEarlier
    ? await lists.gather(id, [{ claim, keep }], [], { was, becomes: { ...was, until } })
    : await changeClaim(lists, id, list, claim, { keep });
  return isMine ? { kind: 'renewed', until } : undefined;
};
