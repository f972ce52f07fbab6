/** Tasks in batches: the members of one batch, or the tasks without a result of the batches that are not finished. */
import { type Batch, isFinished, membersOf, unfinishedOf } from '../../domain/batches/batch.ts';
import type { OperationName, Target, TaskId } from '../../domain/ids.ts';
import type { Page } from '../../domain/page.ts';
import type { UnderWay } from '../../ports/batches.ts';
import { InvalidCursor } from '../../ports/rows.ts';
import { readUnderWayOf } from '../operations/under-way.ts';
import { byPosition, isAfter, type Position, positionIn, printPosition } from '../shared/batch-cursor.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { batchNamed, unfinishedBatches } from '../shared/known-batch.ts';

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
  deps: ApiDeps,
  id: string,
  limit: number,
  cursor: string | undefined,
): Promise<Page<Member>> => {
  const batch = await batchNamed(deps, id);
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
    const batch = entry && mayBe(entry, status) ? await batches.get(entry.id) : undefined;
    const left = openAfter(last, batch, status);
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
  const [newest, entries, { lock }] = await Promise.all([
    batches.ofTarget(target, NEWEST),
    readUnderWayOf(deps, target),
    locks.readEventually(target),
  ]);
  const listed = new Set(entries.map(({ id }) => id));
  const others = [...newest.items, ...(lock.openBatch ? [lock.openBatch] : [])].filter((id) => !listed.has(id));
  const fresh = new Map((await unfinishedBatches(deps, others)).map((batch) => [batch.id, batch]));
  const all = [...entries.filter((entry) => mayBe(entry, status)), ...fresh.values()]
    .filter((each) => !last || each.id === last.id || isAfter(each, last))
    .toSorted(byPosition);
  const items: Member[] = [];
  let isAll = true;
  for (const [index, { id }] of all.entries()) {
    items.push(...openAfter(last, fresh.get(id) ?? (await batches.get(id)), status));
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

/** The members without a result of a batch with this status. Of the batch that was listed last, those after the last one. */
const openAfter = (last: Position | undefined, batch: Batch | undefined, status: InBatch): readonly Member[] => {
  if (!batch || isFinished(batch.status) || (batch.status === 'in-progress') !== (status === 'in-progress')) return [];
  const open = new Set(unfinishedOf(batch));
  const after = batch.id === last?.id ? (last.member ?? -1) : -1;
  return membersOf(batch).flatMap((id, place) => (place > after && open.has(id) ? [{ id, batch, place }] : []));
};

/** @throws InvalidCursor */
const offsetIn = (cursor = '0'): number => {
  if (!/^\d{1,6}$/.test(cursor)) throw new InvalidCursor();
  return Number(cursor);
};
