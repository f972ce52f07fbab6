/** Whether there is such a deferred list: one that was deleted is not there any more, and its id is not free yet. */
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

/** A list that was not deleted. @throws HttpProblem */
export const lookUp = async ({ lists }: Pick<ApiDeps, 'lists'>, id: ListId): Promise<List> => {
  const list = await lists.read(id);
  if (!list) throw noSuchList(id);
  if (list.status === 'expired') throw wasDeleted(id);
  return list;
};

/** What to say of a list of which a step found that nobody knows it (any more): that it was deleted, or that its rows go. */
export const unknownList = async ({ lists }: Pick<ApiDeps, 'lists'>, id: ListId): Promise<HttpProblem> =>
  (await lists.read(id))?.status === 'expired' ? wasDeleted(id) : noSuchList(id);
