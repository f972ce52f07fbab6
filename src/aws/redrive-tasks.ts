/** Redrives failed tasks in DynamoDB. */
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import pLimit from 'p-limit';
import type { Millis, TaskId } from '../domain/ids.ts';
import { isRedriveOf, type Task } from '../domain/tasks/task.ts';
import type { Tasks, Written } from '../ports/tasks.ts';
import type { Item } from '../rows/item.ts';
import { taskKey, taskOf } from '../rows/task-rows.ts';
import { CONCURRENCY, conditionally } from './dynamodb.ts';
import { keepPayload } from './payloads.ts';

/**
 * Redrives tasks with one request per task: redrives are rare, and some engines do not accept PartiQL statements that
 * both set and remove attributes.
 */
export const redriveTasks = async (
  client: DynamoDBDocumentClient,
  table: string,
  failed: readonly Task[],
  at: Millis,
  rowsOf: (ids: readonly TaskId[]) => Promise<ReadonlyMap<string, Item>>,
): ReturnType<Tasks['redrive']> => {
  const limit = pLimit(CONCURRENCY);
  // Keep the payloads before the runs begin, so that no payload expires during a run.
  const apart = failed.filter(({ payloadApart }) => payloadApart);
  await limit.map(apart, (task) => keepPayload(client, table, task));
  const begun = await limit.map(failed, (task) => startRun(client, table, task, at));
  const others = await rowsOf(failed.filter((_, index) => !begun[index]).map(({ id }) => id));
  return failed.map(({ id, run }, index): Written | undefined => {
    const own = begun[index];
    if (own) return { isNew: true, stored: own };
    const row = others.get(id);
    const stored = row && taskOf(row);
    return stored && { isNew: isRedriveOf(run, at, stored), stored };
  });
};

const startRun = async (
  client: DynamoDBDocumentClient,
  table: string,
  { id, run }: Task,
  at: Millis,
): Promise<Task | undefined> => {
  const answer = await conditionally(
    client.send(
      new UpdateCommand({
        TableName: table,
        Key: taskKey(id),
        UpdateExpression:
          // Remove StartBy too, because it limits only the first run, and its time may be over.
          'SET #status = :created, #run = :next, RedrivenAt = :at REMOVE BatchId, Attempts, FinishedAt, ExpiresAt, FailedTarget, StartBy, #error',
        ConditionExpression: '#status = :failed AND #run = :run',
        ExpressionAttributeNames: { '#status': 'Status', '#run': 'Run', '#error': 'Error' },
        ExpressionAttributeValues: {
          ':created': 'created',
          ':failed': 'failed',
          ':run': run,
          ':next': run + 1,
          ':at': at,
        },
        ReturnValues: 'ALL_NEW',
      }),
    ),
  );
  return answer?.Attributes && taskOf(answer.Attributes);
};
