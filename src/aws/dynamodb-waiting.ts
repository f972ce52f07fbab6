/** Waiting rows in DynamoDB: a Target's queue, read in order by one strongly consistent query. */
import {
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import type { Target } from '../domain/ids.ts';
import type { PatrolMarks } from '../ports/locks.ts';
import type { WaitingTasks } from '../ports/waiting.ts';
import type { Item } from '../rows/item.ts';
import {
  PATROL_KEY,
  patrolMarkItem,
  patrolMarkOf,
  WAITING_PREFIX,
  waitingItem,
  waitingKey,
  waitingOf,
} from '../rows/lock-rows.ts';
import { fromCursor, parseCursor, printCursor } from './cursor.ts';
import { writeAll } from './dynamodb.ts';

export const dynamoDBWaiting = (client: DynamoDBDocumentClient, table: string): WaitingTasks => {
  const rowsOf = (target: Target): QueryCommandInput => ({
    TableName: table,
    KeyConditionExpression: '#target = :target AND begins_with(Entry, :prefix)',
    ExpressionAttributeNames: { '#target': 'Target' },
    ExpressionAttributeValues: { ':target': target, ':prefix': WAITING_PREFIX },
  });
  return {
    put: (tasks) =>
      writeAll(
        client,
        table,
        tasks.map((task) => ({ put: waitingItem(task.target, task) })),
      ),
    first: async (target, limit) => {
      const rows: Item[] = [];
      let from: Item | undefined;
      do {
        const page: QueryCommandOutput = await client.send(
          new QueryCommand({
            ...rowsOf(target),
            ConsistentRead: true,
            Limit: limit - rows.length,
            ExclusiveStartKey: from,
          }),
        );
        rows.push(...(page.Items ?? []));
        from = page.LastEvaluatedKey;
      } while (from && rows.length < limit);
      return rows.map(waitingOf);
    },
    has: async (target, entry) => {
      const get = new GetCommand({ TableName: table, Key: waitingKey(target, entry), ConsistentRead: true });
      return (await client.send(get)).Item !== undefined;
    },
    page: async (target, limit, cursor) => {
      const query = new QueryCommand({
        ...rowsOf(target),
        Limit: limit,
        ExclusiveStartKey: parseCursor(cursor, { Target: 'string', Entry: 'string' }, { Target: target }),
      });
      const page = await fromCursor(cursor, client.send(query));
      return { items: (page.Items ?? []).map(waitingOf), ...printCursor(page.LastEvaluatedKey) };
    },
    remove: (target, entries) =>
      writeAll(
        client,
        table,
        entries.map((entry) => ({ delete: waitingKey(target, entry) })),
      ),
    count: async (target, limit) => {
      const { Count = 0 } = await client.send(new QueryCommand({ ...rowsOf(target), Select: 'COUNT', Limit: limit }));
      return Count;
    },
  };
};

/** Stores the position of the patrol in a row of the BatchLock table. */
export const dynamoDBPatrolMarks = (client: DynamoDBDocumentClient, table: string): PatrolMarks => ({
  read: async () => {
    const { Item: row } = await client.send(
      new GetCommand({ TableName: table, Key: PATROL_KEY, ConsistentRead: true }),
    );
    return row && patrolMarkOf(row);
  },
  write: async (mark) => {
    await client.send(new PutCommand({ TableName: table, Item: patrolMarkItem(mark) }));
  },
});
