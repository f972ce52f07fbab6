/** The members of a batch on DynamoDB (rule H3): their rows, and payloads that have rows of their own. */

import type { BatchId, TaskId } from '../domain/ids.ts';
import { ageOf } from '../domain/tasks/age.ts';
import { payloadRowOf, runNumber, type Task } from '../domain/tasks/task.ts';
import type { EndedMember, Member, Members, OpenTask } from '../ports/tasks.ts';
import type { Item } from '../rows/item.ts';
import { payloadKey, taskOf } from '../rows/task-rows.ts';
import type { HowToRead } from './dynamodb.ts';

/** How the Task table is read. */
interface Reads {
  rowsOf(ids: readonly TaskId[], how?: HowToRead): Promise<ReadonlyMap<string, Item>>;
  payloadsOf(tasks: readonly Task[], how?: HowToRead): Promise<ReadonlyMap<string, string>>;
}

/** A task's row, and its payload if there is one. */
interface Loaded {
  readonly row: Item;
  readonly payload?: string;
}

/** Those that are stored, in the order asked. */
export const loadMembers = async (
  reads: Reads,
  ids: readonly TaskId[],
  batch: BatchId,
  how?: HowToRead,
): Promise<Loaded[]> => {
  const stored = await reads.rowsOf(ids, how);
  const rows = ids.flatMap((id) => stored.get(id) ?? []);
  const apart = rows
    .filter((row) => isOpenIn(row, batch))
    .map(taskOf)
    .filter(({ payloadApart }) => payloadApart);
  const payloads = await reads.payloadsOf(apart, how);
  return rows.map((row) => {
    const payload: string | undefined =
      row.Payload ?? payloads.get(payloadKey({ id: row.Id, payloadHash: row.PayloadHash }).Id);
    return payload === undefined ? { row } : { row, payload };
  });
};

const isOpenIn = (row: Item, batch: BatchId): boolean => row.BatchId === batch && row.Status === 'batched';

/** Whether a member left the batch: by a redrive, which only a failed one can. */
export const hasLeft = (row: Item, batch: BatchId): boolean =>
  row.BatchId !== batch && runNumber({ run: row.Run, createdAt: row.CreatedAt }) > 1;

const memberOf = (row: Item): Member => {
  const task = taskOf(row);
  const { id, callback, fanOutItem, mergeKeys } = task;
  return {
    id,
    age: ageOf(task),
    ...(callback === undefined ? {} : { callback }),
    ...(fanOutItem === undefined ? {} : { fanOutItem }),
    ...(mergeKeys === undefined ? {} : { mergeKeys }),
  };
};

export const membersOf = (stored: readonly Loaded[], batch: BatchId): Members => {
  const open = stored.filter(({ row }) => isOpenIn(row, batch));
  const ended = stored.flatMap(({ row }): EndedMember[] =>
    row.BatchId === batch && row.Status !== 'batched' ? [{ ...memberOf(row), status: row.Status }] : [],
  );
  const redriven = stored.filter(({ row }) => hasLeft(row, batch)).length;
  const count = (status: string): number => ended.filter((member) => member.status === status).length;
  return {
    open: open.flatMap(({ row, payload }): OpenTask[] =>
      payload === undefined ? [] : [{ ...memberOf(row), payload, ...payloadRowOf(taskOf(row)) }],
    ),
    lost: open.filter(({ payload }) => payload === undefined).map(({ row }) => memberOf(row)),
    ended,
    counts: { succeeded: count('succeeded'), failed: count('failed') + redriven },
  };
};
