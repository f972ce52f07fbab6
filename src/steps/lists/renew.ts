/** Renew (D4): a worker extends the lease of its claim. */
import type { Millis } from '../../domain/ids.ts';
import type { ListId } from '../../domain/lists/ids.ts';
import { leaseEnd } from '../../domain/lists/list.ts';
import type { ListDeps } from '../deps.ts';
import { changeClaim, findClaim, type Named, type NotHeld } from './held.ts';

/** D4. Renews the lease of a claim. @param span duration of the renewed lease, from now */
export const renew = async (
  { lists, machine }: ListDeps,
  id: ListId,
  name: Named,
  span: Millis,
): Promise<{ readonly kind: 'renewed'; readonly until: Millis } | NotHeld> => {
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
  return isMine ? { kind: 'renewed', until } : { kind: 'lost' };
};
