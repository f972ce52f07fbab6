/**
 * Append (D1): adds jobs to a list, either all or none. A repeated request with the same token adds no further jobs.
 *
 * The append is noted first, then the jobs are stored, then the list's number of jobs is raised. In this order, the
 * deletion of the list also finds jobs that a function stored before it died.
 */
import { digest, type Token } from '../../domain/ids.ts';
import type { ListId } from '../../domain/lists/ids.ts';
import type { List } from '../../domain/lists/list.ts';
import { retryWhileContended } from '../contention.ts';
import type { ListDeps } from '../deps.ts';

export type Appended =
  | { readonly kind: 'appended'; readonly first: number; readonly count: number; readonly total: number }
  /** The list takes no more jobs. Nothing was added. */
  | { readonly kind: 'closed'; readonly status: Exclude<List['status'], 'open'> }
  | { readonly kind: 'unknown' }
  /** The token was used for other jobs. Nothing was added. */
  | { readonly kind: 'other-jobs' };

/**
 * @param payloads JSON texts.
 * @throws ListBusy
 */
export const append = async (
  deps: ListDeps,
  id: ListId,
  payloads: readonly string[],
  token: Token,
): Promise<Appended> => {
  const { lists, machine } = deps;
  const [count, hash] = [payloads.length, digest(payloads.join('\n'))];
  let isStored = false;
  return retryWhileContended(machine, id, async () => {
    const known = await lists.append(id, token);
    const list = await lists.read(id);
    if (!list) return { kind: 'unknown' };
    if (known && known.hash !== hash) return { kind: 'other-jobs' };
    if (known?.first !== undefined) return appended(list, known.first, count);
    if (list.status !== 'open') {
      // Read the token again: between the two reads, an earlier try of this request may have been stored and the list
      // may have been closed.
      const again = await lists.append(id, token);
      if (again && again.hash !== hash) return { kind: 'other-jobs' };
      return again?.first === undefined ? { kind: 'closed', status: list.status } : appended(list, again.first, count);
    }
    if (!known && !(await lists.beginAppend(id, token, { count, hash }))) return undefined;
    if (!isStored) await lists.putJobs(id, token, payloads);
    isStored = true;
    const take = { first: list.total, count, at: machine.now() };
    return (await lists.publish(id, token, take))
      ? { kind: 'appended', first: take.first, count, total: take.first + count }
      : undefined;
  });
};

const appended = (list: List, first: number, count: number): Appended =>
  list.status === 'expired'
    ? { kind: 'closed', status: list.status }
    : { kind: 'appended', first, count, total: list.total };
