/**
 * Recovery for a local start, where no other process uses these tables. It finds all work in progress and voids its
 * leases. Never use it where Lambda functions run: it scans the tables, and would void the leases of running work.
 */
import { type DynamoDBDocumentClient, paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { BatchId, Target } from '../domain/ids.ts';
import { batchKey } from '../rows/batch-rows.ts';
import type { Item } from '../rows/item.ts';
import { LOCK_ENTRY, lockKey } from '../rows/lock-rows.ts';
import { readable } from '../rows/row-version.ts';
import { conditionally } from './dynamodb.ts';

/**
 * Voids the lease of each lock row, because the process that held it has ended. Returns all Targets that have a lock
 * row.
 */
export const voidLeases = async (client: DynamoDBDocumentClient, table: string): Promise<Target[]> => {
  // An operation's row has the same entry name, but has no `Operation` attribute, because it belongs to no Target.
  const isLock = 'Entry = :lock AND attribute_exists(Operation)';
  const rows = await scan(client, table, isLock, { ':lock': LOCK_ENTRY });
  const targets = rows.map((row) => readable('lock', row).Target as Target);
  for (const { Target: target, LockHolder } of rows)
    if (LockHolder !== undefined)
      await conditionally(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: lockKey(target as Target),
            UpdateExpression: 'SET LockedUntil = :past',
            ConditionExpression: 'attribute_exists(LockHolder)',
            ExpressionAttributeValues: { ':past': 0 },
          }),
        ),
      );
  return targets;
};

/**
 * Voids running attempts. They do not count, because their process was stopped. Returns all batches that were waiting
 * for an attempt or were in an attempt.
 */
export const voidAttempts = async (client: DynamoDBDocumentClient, table: string): Promise<BatchId[]> => {
  const rows = await scan(
    client,
    table,
    '#status IN (:sealed, :running)',
    { ':sealed': 'sealed', ':running': 'in-progress' },
    { '#status': 'Status' },
  );
  for (const { BatchId: id, StartedBy } of rows.map((row) => readable('batch', row)))
    if (StartedBy !== undefined)
      await conditionally(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: batchKey(id as BatchId),
            UpdateExpression: 'SET RunUntil = :past, Tries = if_not_exists(Tries, Attempt) - :one REMOVE StartedBy',
            ConditionExpression: 'attribute_exists(StartedBy)',
            ExpressionAttributeValues: { ':past': 0, ':one': 1 },
          }),
        ),
      );
  return rows.map((row) => row.BatchId as BatchId);
};

const scan = async (
  client: DynamoDBDocumentClient,
  table: string,
  filter: string,
  values: Item,
  names?: Record<string, string>,
): Promise<Item[]> => {
  const rows: Item[] = [];
  const pages = paginateScan(
    { client },
    {
      TableName: table,
      FilterExpression: filter,
      ExpressionAttributeValues: values,
      ...(names ? { ExpressionAttributeNames: names } : {}),
      ConsistentRead: true,
    },
  );
  for await (const { Items = [] } of pages) rows.push(...Items);
  return rows;
};
