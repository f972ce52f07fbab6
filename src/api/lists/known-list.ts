/** Finds a deferred list by id. A deleted list answers 404, although its id cannot be used again yet. */
import { type ListId, listId } from '../../domain/lists/ids.ts';
import type { List } from '../../domain/lists/list.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { HttpProblem } from '../shared/problem.ts';

const noSuchList = (id: string): HttpProblem =>
  new HttpProblem(404, `there is no list ${JSON.stringify(id.slice(0, 200))}: it was never opened, or ended long ago`);

/** @throws HttpProblem */
export const listNamed = (text: string): ListId => {
  const id = listId(text);
  if (id === undefined) throw noSuchList(text);
  return id;
};

const wasDeleted = (id: ListId): HttpProblem => new HttpProblem(404, `list ${id} was deleted`);

/** Reads a list. A deleted list is treated as missing. @throws HttpProblem */
export const lookUp = async ({ lists }: Pick<ApiDeps, 'lists'>, id: ListId): Promise<List> => {
  const list = await lists.read(id);
  if (!list) throw noSuchList(id);
  if (list.status === 'expired') throw wasDeleted(id);
  return list;
};

/** The 404 problem for a list that a step did not find. The list was deleted, never existed, or ended long ago. */
export const unknownList = async ({ lists }: Pick<ApiDeps, 'lists'>, id: ListId): Promise<HttpProblem> =>
  (await lists.read(id))?.status === 'expired' ? wasDeleted(id) : noSuchList(id);
