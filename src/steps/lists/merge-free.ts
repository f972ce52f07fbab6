/**
 * D11. Merges neighbouring free ranges, so that the list's row stays small however often jobs are given back in parts.
 */

import { hasManyFree, neighboursIn, planMerge } from '../../domain/lists/free-ranges.ts';
import type { ListId } from '../../domain/lists/ids.ts';
import { goneIn, type List } from '../../domain/lists/list.ts';
import type { ListDeps } from '../deps.ts';
import { doneIn } from './done.ts';

/** Merges ranges if there are many. Returns the list as it is then. */
export const mergeFree = async (
  { lists, fanOuts }: Pick<ListDeps, 'lists' | 'fanOuts'>,
  id: ListId,
  list: List,
): Promise<List | undefined> => {
  if (!hasManyFree(list, lists.claimsMax)) return list;
  const neighbours = neighboursIn(list);
  // Jobs between two ranges may have become tasks, or be in a claim with a row of its own. These are kept apart.
  const gaps = list.operation === undefined && !list.apart ? neighbours.flatMap((each) => each.gaps) : [];
  const done = await doneIn(fanOuts, id, gaps);
  const plan = planMerge(neighbours, (token) => done.has(token), lists.claimsMax);
  if (!plan) return list;
  // If another function was faster, the list as it is now is used all the same.
  await lists.change(id, { ...plan, gone: goneIn(list, plan.from, plan.to) });
  return lists.read(id);
};
