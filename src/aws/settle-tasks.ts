/** Settles tasks in DynamoDB: ends tasks that no batch has. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expiresAt } from '../domain/expiry.ts';
import type { TaskId } from '../domain/ids.ts';
import { isSettledIn, type Task } from '../domain/tasks/task.ts';
import type { Tasks, Written } from '../ports/tasks.ts';
import type { Item } from '../rows/item.ts';
import { settledFields, taskKey, taskOf } from '../rows/task-rows.ts';
import { execute } from './dynamodb.ts';
import { expiry } from './payloads.ts';

type Settlements = Parameters<Tasks['settle']>[0];

export const settleTasks = async (
  client: DynamoDBDocumentClient,
  table: string,
  settlements: Settlements,
  { at, keep }: Parameters<Tasks['settle']>[1],
  rowsOf: (ids: readonly TaskId[]) => Promise<ReadonlyMap<string, Item>>,
): ReturnType<Tasks['settle']> => {
  const expires = expiresAt(at, keep);
  const written = await execute(
    client,
    settlements.map(({ task, as }) => {
      const fields = settledFields(as, task, at, expires);
      const set = Object.keys(fields).map((name) => `"${name}"=?`);
      return {
        key: taskKey(task.id),
        text: `UPDATE "${table}" SET ${set.join(', ')} WHERE "Id"=? AND "Status"='created' AND "Run"=?`,
        parameters: [...Object.values(fields), task.id, task.run],
      };
    }),
  );
  const rows = await rowsOf(settlements.map(({ task }) => task.id));
  const apart: Task[] = [];
  const answers = settlements.map(({ task }, index): Written | undefined => {
    const row = rows.get(task.id);
    if (!row) return undefined;
    const stored = taskOf(row);
    // A repeated call must do this again, because the function that settled the task first may have crashed before this
    // step.
    if (stored.payloadApart && isSettledIn(task.run, stored)) apart.push(stored);
    return { isNew: written[index] === true, stored };
  });
  await execute(
    client,
    apart.map((task) => expiry(table, task, expires)),
  );
  return answers;
};
