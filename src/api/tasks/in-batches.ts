/** Tasks in batches: the members of one batch, or the tasks without a result of the batches that are not finished. */
import { type Batch, isFinished, membersOf, unfinishedOf } from '../../domain/batches/batch.ts';
import {
  type BatchId,
  isBatchId,
  type OperationName,
  operationOf,
  type Target,
  type TaskId,
} from '../../domain/ids.ts';
import type { Page } from '../../domain/page.ts';
import { InvalidCursor } from '../../ports/rows.ts';
import { readUnderWay } from '../operations/under-way.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { HttpProblem } from '../shared/problem.ts';

/** The status of a task in a batch: `batched` before the batch's first attempt, `in-progress` afterwards. */
export type InBatch = 'batched' | 'in-progress';

/** A task and its batch. */
export interface Member {
  readonly id: TaskId;
  readonly batch: Batch;
}

/** How many of the newest batches of a Target are read. Older ones are listed as under way if they are unfinished. */
const NEWEST = 50;
/** Maximum number of batches that one request reads. */
const BATCHES_MAX = 100;

/** The members of a batch, in their order. @throws HttpProblem */
export const membersOfBatch = async (
  { batches }: ApiDeps,
  id: string,
  limit: number,
  cursor: string | undefined,
): Promise<Page<Member>> => {
  const batch = isBatchId(id) ? await batches.get(id) : undefined;
  if (!batch) throw new HttpProblem(404, `there is no batch ${JSON.stringify(id.slice(0, 200))}; URL-encode the id`);
  const from = offsetIn(cursor);
  const members = membersOf(batch);
  const items = members.slice(from, from + limit).map((member) => ({ id: member, batch }));
  return { items, ...(from + limit < members.length ? { cursor: String(from + limit) } : {}) };
};

/** Tasks of an operation in batches that are under way, the oldest batch first. */
export const inBatchesOfOperation = async (
  { batches }: ApiDeps,
  operation: OperationName,
  status: InBatch,
  limit: number,
  cursor: string | undefined,
): Promise<Page<Member>> => {
  const [offset = '0', ...rest] = (cursor ?? '').split('.');
  let [from, at] = [offsetIn(offset || '0'), rest.join('.') || undefined];
  const items: Member[] = [];
  for (let read = 0; read < BATCHES_MAX; read += 1) {
    const page = await batches.underWay(operation, 1, at);
    const open = await openMembers(batches, page.items[0]?.id, status);
    items.push(...open.slice(from, from + limit - items.length));
    if (items.length === limit && items.at(-1)?.id !== open.at(-1)?.id) {
      const next = open.findIndex(({ id }) => id === items.at(-1)?.id) + 1;
      return { items, cursor: `${next}.${at ?? ''}` };
    }
    if (page.cursor === undefined) return { items };
    [from, at] = [0, page.cursor];
    if (items.length === limit) break;
  }
  return { items, cursor: `0.${at ?? ''}` };
};

/** Tasks of a Target in batches that are not finished, the oldest batch first. */
export const inBatchesOfTarget = async (
  deps: ApiDeps,
  target: Target,
  status: InBatch,
  limit: number,
  cursor: string | undefined,
): Promise<Page<Member>> => {
  const { batches, locks } = deps;
  const [newest, { entries }, { lock }] = await Promise.all([
    batches.ofTarget(target, NEWEST),
    readUnderWay(deps, operationOf(target)),
    locks.readEventually(target),
  ]);
  const listed = entries.filter((each) => each.target === target).map(({ id }) => id);
  const ids = new Set([...listed, ...newest.items, ...(lock.openBatch ? [lock.openBatch] : [])]);
  const found = await Promise.all([...ids].slice(0, BATCHES_MAX).map((id) => openMembers(batches, id, status)));
  const all = found
    .flat()
    .toSorted((a, b) => a.batch.oldestAt - b.batch.oldestAt || a.batch.id.localeCompare(b.batch.id));
  const from = offsetIn(cursor);
  return {
    items: all.slice(from, from + limit),
    ...(from + limit < all.length ? { cursor: String(from + limit) } : {}),
  };
};

/** The members without a result of a batch, if it has this status. */
const openMembers = async (
  batches: ApiDeps['batches'],
  id: BatchId | undefined,
  status: InBatch,
): Promise<readonly Member[]> => {
  const batch = id === undefined ? undefined : await batches.get(id);
  if (!batch || isFinished(batch.status)) return [];
  if ((batch.status === 'in-progress') !== (status === 'in-progress')) return [];
  return unfinishedOf(batch).map((member) => ({ id: member, batch }));
};

/** @throws InvalidCursor */
const offsetIn = (cursor = '0'): number => {
  if (!/^\d{1,6}$/.test(cursor)) throw new InvalidCursor();
  return Number(cursor);
};
