/** Tasks in batches: the members of one batch, or the tasks without a result of the batches that are not finished. */
import { type Batch, isFinished, membersOf, unfinishedOf } from '../../domain/batches/batch.ts';
import { type BatchId, isBatchId, type OperationName, type Target, type TaskId } from '../../domain/ids.ts';
import type { Page } from '../../domain/page.ts';
import type { UnderWay } from '../../ports/batches.ts';
import { InvalidCursor } from '../../ports/rows.ts';
import { readUnderWayOf } from '../operations/under-way.ts';
import { byPosition, isAfter, positionIn, printPosition } from '../shared/batch-cursor.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { HttpProblem } from '../shared/problem.ts';

/** The status of a task in a batch: `batched` before the batch's first attempt, `in-progress` afterwards. */
export type InBatch = 'batched' | 'in-progress';

/** A task and its batch. */
export interface Member {
  readonly id: TaskId;
  readonly batch: Batch;
  /** Its place among all members of the batch, from 0. */
  readonly place: number;
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
  const items = members.slice(from, from + limit).map((member, index) => ({ id: member, batch, place: from + index }));
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
  const [listed = '', ...rest] = (cursor ?? '').split('.');
  const last = listed === '' ? undefined : positionIn(listed);
  let at = rest.join('.') || undefined;
  const items: Member[] = [];
  for (let read = 0; read < BATCHES_MAX; read += 1) {
    const page = await batches.underWay(operation, 1, at);
    const [entry] = page.items;
    const open = entry && mayBe(entry, status) ? await openMembers(batches, entry.id, status) : [];
    const left = open.filter((each) => !last || each.batch.id !== last.id || each.place > (last.member ?? -1));
    items.push(...left.slice(0, limit - items.length));
    const [end] = items.slice(-1);
    if (end && items.length === limit && end.place !== left.at(-1)?.place)
      return { items, cursor: `${printPosition({ ...end.batch, member: end.place })}.${at ?? ''}` };
    if (page.cursor === undefined) return { items };
    at = page.cursor;
    if (items.length === limit) break;
  }
  return { items, cursor: `.${at ?? ''}` };
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
  const last = cursor === undefined ? undefined : positionIn(cursor);
  const [newest, { entries }, { lock }] = await Promise.all([
    batches.ofTarget(target, NEWEST),
    readUnderWayOf(deps, target),
    locks.readEventually(target),
  ]);
  const listed = new Set(entries.map(({ id }) => id));
  const others = [...newest.items, ...(lock.openBatch ? [lock.openBatch] : [])].filter((id) => !listed.has(id));
  const fresh = (await Promise.all(others.map((id) => batches.get(id)))).flatMap((batch) =>
    batch && !isFinished(batch.status) ? [batch] : [],
  );
  const all = [...entries.filter((entry) => mayBe(entry, status)), ...fresh]
    .filter((each) => !last || each.id === last.id || isAfter(each, last))
    .toSorted(byPosition);
  const items: Member[] = [];
  let isAll = true;
  for (const [index, { id }] of all.entries()) {
    const open = await openMembers(batches, id, status);
    items.push(...open.filter(({ place }) => !last || id !== last.id || place > (last.member ?? -1)));
    isAll = items.length < limit || (items.length === limit && index === all.length - 1);
    if (!isAll) break;
  }
  const shown = items.slice(0, limit);
  const [end] = shown.slice(-1);
  return { items: shown, ...(end && !isAll ? { cursor: printPosition({ ...end.batch, member: end.place }) } : {}) };
};

/** Whether a listed batch may have this status: before its first attempt, it has no last attempt. */
const mayBe = ({ lastAttempt }: UnderWay, status: InBatch): boolean =>
  status === 'in-progress' || lastAttempt === undefined;

/** The members without a result of a batch, if it has this status. */
const openMembers = async (
  batches: ApiDeps['batches'],
  id: BatchId,
  status: InBatch,
): Promise<readonly (Member & { readonly place: number })[]> => {
  const batch = await batches.get(id);
  if (!batch || isFinished(batch.status)) return [];
  if ((batch.status === 'in-progress') !== (status === 'in-progress')) return [];
  const open = new Set(unfinishedOf(batch));
  return membersOf(batch).flatMap((member, place) => (open.has(member) ? [{ id: member, batch, place }] : []));
};

/** @throws InvalidCursor */
const offsetIn = (cursor = '0'): number => {
  if (!/^\d{1,6}$/.test(cursor)) throw new InvalidCursor();
  return Number(cursor);
};
