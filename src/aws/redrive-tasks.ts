/** Another run of failed tasks, on DynamoDB. */
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import pLimit from 'p-limit';
import type { Millis, TaskId } from '../batching/ids.ts';
import type { Task } from '../batching/task.ts';
import type { TaskRun, Tasks } from '../ports.ts';
import { conditionally, type Item } from './dynamodb.ts';
import { payloadKey, taskKey, taskOf } from './task-rows.ts';

/** One request a task: redrives are rare, and not every engine knows statements that set and remove. */
const CONCURRENCY = 8;

export const redriveTasks = async (
  client: DynamoDBDocumentClient,
  table: string,
  runs: readonly TaskRun[],
  at: Millis,
  rowsOf: (ids: readonly TaskId[]) => Promise<ReadonlyMap<string, Item>>,
): ReturnType<Tasks['redrive']> => {
  const limit = pLimit(CONCURRENCY);
  await Promise.all(runs.map((each) => limit(() => startRun(client, table, each, at))));
  const rows = await rowsOf(runs.map(({ id }) => id));
  const tasks = runs.map(({ id }) => {
    const row = rows.get(id);
    return row && taskOf(row);
  });
  // Also for one that an earlier call left here.
  const apart = tasks.filter((task) => task?.payloadApart && task.state.status === 'created') as Task[];
  await Promise.all(apart.map((task) => limit(() => keepPayload(client, table, task))));
  return tasks;
};

const startRun = (client: DynamoDBDocumentClient, table: string, { id, run }: TaskRun, at: Millis) =>
  conditionally(
    client.send(
      new UpdateCommand({
        TableName: table,
        Key: taskKey(id),
        UpdateExpression:
          'SET #status = :created, #run = :next, RedrivenAt = :at REMOVE BatchId, Attempts, FinishedAt, ExpiresAt, FailedTarget, #error',
        ConditionExpression: '#status = :failed AND #run = :run',
        ExpressionAttributeNames: { '#status': 'Status', '#run': 'Run', '#error': 'Error' },
        ExpressionAttributeValues: {
          ':created': 'created',
          ':failed': 'failed',
          ':run': run,
          ':next': run + 1,
          ':at': at,
        },
      }),
    ),
  );

/** Nothing expires while it is unfinished. A payload that has expired already is missed by the task's batch. */
const keepPayload = (client: DynamoDBDocumentClient, table: string, task: Task) =>
  conditionally(
    client.send(
      new UpdateCommand({
        TableName: table,
        Key: payloadKey(task),
        UpdateExpression: 'REMOVE ExpiresAt',
        ConditionExpression: 'attribute_exists(Id)',
      }),
    ),
  );
