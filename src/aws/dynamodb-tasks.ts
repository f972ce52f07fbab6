/** Tasks in DynamoDB. */
import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import pLimit from 'p-limit';
import { belongs, hasLeft, isOpenIn, type Loaded, membersAmong } from '../domain/batches/members.ts';
import { expiresAt } from '../domain/expiry.ts';
import { type BatchId, type Candidate, type OperationName, parseCandidate, type TaskId } from '../domain/ids.ts';
import type { NewTask, Task, TaskResult } from '../domain/tasks/task.ts';
import { type FinishingBatch, type TaskOutline, type Tasks, Unstorable, type Written } from '../ports/tasks.ts';
import type { Item } from '../rows/item.ts';
import { readable, readsUpTo } from '../rows/row-version.ts';
import { finishedFields, newTaskRow, payloadKey, taskKey, taskOf } from '../rows/task-rows.ts';
import {
  CONCURRENCY,
  DynamoDBFailure,
  execute,
  getAll,
  type HowToRead,
  insertion,
  refusal,
  type Statement,
} from './dynamodb.ts';
import { failedTasks } from './failed-tasks.ts';
import { expiry, storePayloads } from './payloads.ts';
import { redriveTasks } from './redrive-tasks.ts';
import { settleTasks } from './settle-tasks.ts';

export const dynamoDBTasks = (client: DynamoDBDocumentClient, table: string): Tasks => {
  const rowsOf = async (ids: readonly TaskId[], how: HowToRead = {}): Promise<ReadonlyMap<string, Item>> => {
    const rows = ids.length === 0 ? [] : await getAll(client, table, ids.map(taskKey), how);
    return new Map(rows.map((row) => [row.Id as string, readable('task', row)]));
  };
  const payloadsOf = async (tasks: readonly Task[], how: HowToRead = {}): Promise<ReadonlyMap<string, string>> => {
    const rows = tasks.length === 0 ? [] : await getAll(client, table, tasks.map(payloadKey), how);
    return new Map(rows.map((row) => [row.Id as string, readable('payload', row).Payload as string]));
  };
  /**
   * H3. Reads the stored tasks in the order of the ids. Tasks that are open in the batch are read with their payloads.
   */
  const load = async (ids: readonly TaskId[], batch: BatchId, how?: HowToRead): Promise<Loaded[]> => {
    const rows = await rowsOf(ids, how);
    const stored = ids.flatMap((id) => {
      const row = rows.get(id);
      return row ? [{ task: taskOf(row), inline: row.Payload as string | undefined }] : [];
    });
    const apart = stored.filter(({ task }) => task.payloadApart && isOpenIn(task, batch));
    const payloads = await payloadsOf(
      apart.map(({ task }) => task),
      how,
    );
    return stored.map(({ task, inline }) => {
      const payload = inline ?? payloads.get(payloadKey(task).Id);
      return payload === undefined ? { task } : { task, payload };
    });
  };
  return {
    insert: (tasks) => insert(client, table, tasks, rowsOf),
    storePayloads: (payloads) => storePayloads(client, table, payloads),
    claim: async (candidates, batch) => {
      const parts = candidates.map(parseCandidate);
      const isMine = await execute(
        client,
        candidates.map((candidate) => claim(table, candidate, batch)),
      );
      // Read the candidates that were refused. Another batch may have claimed them, or this batch may have claimed them
      // before its function crashed.
      const refused = await rowsOf(parts.filter((_, index) => !isMine[index]).map(({ id }) => id));
      return parts.map(
        ({ id, run }, index) =>
          isMine[index] === true || (refused.get(id)?.BatchId === batch && refused.get(id)?.Run === run),
      );
    },
    redrive: (failed, at) => redriveTasks(client, table, failed, at, rowsOf),
    members: async (ids, batch) => membersAmong(await load(ids, batch), batch),
    readEventually: async (ids, batch) => membersAmong(await load(ids, batch, { isEventual: true }), batch).open,
    finish: (results, batch) => finish(client, table, results, batch, rowsOf),
    touch: async (id, batch) => {
      const text = `UPDATE "${table}" SET "BatchId"=? WHERE "Id"=? AND "Status"='batched' AND "BatchId"=?`;
      await execute(client, [{ key: taskKey(id), text, parameters: [batch, id, batch] }]);
    },
    get: async (id) => {
      const { Item: row } = await client.send(
        new GetCommand({ TableName: table, Key: taskKey(id), ConsistentRead: true }),
      );
      return row && taskOf(readable('task', row));
    },
    all: async (ids) => {
      const rows = await rowsOf(ids);
      return ids.flatMap((id) => {
        const row = rows.get(id);
        return row ? [taskOf(row)] : [];
      });
    },
    settle: (settlements, end) => settleTasks(client, table, settlements, end, rowsOf),
    outlines: async (ids) => {
      const rows = await rowsOf(ids, { only: OUTLINE });
      return ids.map((id) => {
        const row = rows.get(id);
        return row && outlineOf(row);
      });
    },
    payload: async (id) => {
      const row = (await rowsOf([id])).get(id);
      if (!row) return undefined;
      const task = taskOf(row);
      return task.payloadApart ? (await payloadsOf([task])).get(payloadKey(task).Id) : (row.Payload as string);
    },
    ...failedTasks(client, table),
  };
};

/** The attributes that {@link outlineOf} reads. */
const OUTLINE = ['Id', 'Run', 'Operation', 'Status', 'BatchId', 'Version'];
const outlineOf = (row: Item): TaskOutline => ({
  id: row.Id as TaskId,
  run: row.Run as number,
  operation: row.Operation as OperationName,
  status: row.Status as TaskOutline['status'],
  ...(row.BatchId === undefined ? {} : { batchId: row.BatchId as BatchId }),
});

const insert = async (
  client: DynamoDBDocumentClient,
  table: string,
  tasks: readonly NewTask[],
  rowsOf: (ids: readonly TaskId[]) => Promise<ReadonlyMap<string, Item>>,
): Promise<Written[]> => {
  const rows = tasks.map(newTaskRow);
  const answers = await insertRows(
    client,
    rows.map((row) => insertion(table, row)),
  );
  const refused = await rowsOf(tasks.filter((_, index) => !answers[index]).map(({ id }) => id));
  return tasks.map(({ id }, index) => {
    const isNew = answers[index] === true;
    const row = isNew ? rows[index] : refused.get(id);
    if (!row)
      throw new DynamoDBFailure('Vanished', `task ${id} expired while it was registered again; register it once more`);
    return { isNew, stored: taskOf(row) };
  });
};

/**
 * Inserts rows. If DynamoDB does not accept a row, the whole request fails. In this case, each row gets a request of
 * its own.
 */
const insertRows = async (client: DynamoDBDocumentClient, rows: readonly Statement[]): Promise<boolean[]> => {
  try {
    return await execute(client, rows);
  } catch (cause) {
    if (refusal(cause) === undefined) throw cause;
  }
  const reasons = new Map<TaskId, string>();
  const answers = await pLimit(CONCURRENCY).map(rows, async (row) => {
    try {
      return (await execute(client, [row]))[0] === true;
    } catch (cause) {
      const reason = refusal(cause);
      if (reason === undefined) throw cause;
      reasons.set(row.key.Id as TaskId, reason);
      return false;
    }
  });
  if (reasons.size > 0) throw new Unstorable(reasons);
  return answers;
};

const claim = (table: string, candidate: Candidate, batch: BatchId): Statement => {
  const { id, run } = parseCandidate(candidate);
  return {
    key: taskKey(id),
    text: `UPDATE "${table}" SET "Status"='batched', "BatchId"=? WHERE "Id"=? AND "Status"='created' AND "Run"=? AND "Version"<=?`,
    parameters: [batch, id, run, readsUpTo('task')],
  };
};

const finish = async (
  client: DynamoDBDocumentClient,
  table: string,
  results: readonly TaskResult[],
  batch: FinishingBatch,
  rowsOf: (ids: readonly TaskId[]) => Promise<ReadonlyMap<string, Item>>,
): ReturnType<Tasks['finish']> => {
  const answers = await execute(
    client,
    results.map((result) => finishing(table, result, batch)),
  );
  const refused = await rowsOf(results.filter((_, index) => !answers[index]).map(({ id }) => id));
  const at = expiresAt(batch.at, batch.keep);
  await execute(
    client,
    results.flatMap(({ id, payloadRow }, index) =>
      payloadRow && (answers[index] || refused.get(id)?.BatchId === batch.id)
        ? [expiry(table, { id, ...payloadRow }, at)]
        : [],
    ),
  );
  return results.map(({ id, outcome }, index) => {
    if (answers[index]) return outcome.status;
    const row = refused.get(id);
    if (!row) return undefined;
    const task = taskOf(row);
    if (hasLeft(task, batch.id)) return 'failed';
    const { status } = task.state;
    return belongs(task, batch.id) && (status === 'succeeded' || status === 'failed') ? status : undefined;
  });
};

const finishing = (table: string, { id, outcome, suspect }: TaskResult, batch: FinishingBatch): Statement => {
  const fields = { ...finishedFields(outcome, batch), ...(suspect ? { Suspect: true } : {}) };
  const set = Object.keys(fields).map((name) => `"${name}"=?`);
  return {
    key: taskKey(id),
    text: `UPDATE "${table}" SET ${set.join(', ')} WHERE "Id"=? AND "Status"='batched' AND "BatchId"=?`,
    parameters: [...Object.values(fields), id, batch.id],
  };
};
