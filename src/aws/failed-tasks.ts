/** Failed tasks. A sparse index contains only failed tasks, so other tasks add nothing to the cost of reading it. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { INDEXES } from '../domain/deployed/environment.ts';
import { type OperationName, operationOf, type Target, type TaskId } from '../domain/ids.ts';
import type { FailedTask, Tasks } from '../ports/tasks.ts';
import type { Item } from '../rows/item.ts';
import { readable } from '../rows/row-version.ts';
import { taskKey, taskOf } from '../rows/task-rows.ts';
import { getAll, type IndexQuery, queryIndex, scanIndex } from './dynamodb.ts';

export const failedTasks = (
  client: DynamoDBDocumentClient,
  table: string,
): Pick<Tasks, 'failed' | 'failedAnywhere' | 'failures'> => ({
  failed: async (target, limit, cursor) => {
    const page = await queryIndex(client, byTarget(table, target), limit, cursor);
    return { ...page, items: page.items.map(({ Id }) => Id as TaskId) };
  },
  failedAnywhere: async (limit, cursor) => {
    const page = await scan(client, table, limit, cursor);
    return { ...page, items: page.items.map(({ Id }) => Id as TaskId) };
  },
  failures: async (operation, limit, cursor) => {
    const { items: keys, ...next } = await scan(client, table, limit, cursor);
    const wanted = keys.filter((key) => operation === undefined || operationIn(key) === operation);
    const ids = wanted.map(({ Id }) => Id as TaskId);
    const rows = await getAll(client, table, ids.map(taskKey), { only: FAILURE, isEventual: true });
    return { items: rows.flatMap(failureOf), looked: keys.length, ...next };
  },
});

const KEY_SHAPE = { Id: 'string', FailedTarget: 'string', FinishedAt: 'number' } as const;

const byTarget = (table: string, target: Target): IndexQuery => ({
  table,
  index: INDEXES.taskTable,
  key: 'FailedTarget',
  value: target,
  keyShape: KEY_SHAPE,
  newestFirst: true,
});

const scan = (client: DynamoDBDocumentClient, table: string, limit: number, cursor: string | undefined) =>
  scanIndex(client, { table, index: INDEXES.taskTable, keyShape: KEY_SHAPE }, limit, cursor);

const operationIn = ({ FailedTarget }: Item): OperationName => operationOf(FailedTarget as Target);

/** The attributes that {@link failureOf} reads: the task's state and its error. */
const FAILURE = ['Id', 'Operation', 'Target', 'Status', 'BatchId', 'Attempts', 'FinishedAt', 'Error', 'Version'];

/** Omits a task that was redriven meanwhile. The index may still contain the task, because the index lags behind. */
const failureOf = (row: Item): FailedTask[] => {
  const { id, operation, target, state } = taskOf(readable('task', row));
  return state.status === 'failed' ? [{ id, operation, target, error: state.error }] : [];
};
