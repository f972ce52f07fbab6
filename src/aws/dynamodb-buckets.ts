/** Buckets of limits, and their queues, in the table BatchLock. */
import { type DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { type BucketId, bucketPrefix } from '../domain/limits/bucket-id.ts';
import type { Buckets } from '../ports/buckets.ts';
import { bucketItem, bucketKey, bucketOf, queueItem, queueKey, waitingCallOf } from '../rows/bucket-rows.ts';
import type { StoreClock } from '../util/store-clock.ts';
import { conditionally, queryIndex } from './dynamodb.ts';
import { TARGETS } from './dynamodb-locks.ts';

/** @param clock of the client, which learns the store's time from each answer. */
export const dynamoDBBuckets = (client: DynamoDBDocumentClient, table: string, clock: StoreClock): Buckets => {
  const now = () => clock.now(Date.now());
  return {
    now,
    read: async (id) => {
      const get = new GetCommand({ TableName: table, Key: bucketKey(id), ConsistentRead: true });
      return bucketOf((await client.send(get)).Item);
    },
    list: async (limit, most, cursor, key) => {
      const byLimit = { ...TARGETS, table, key: 'Operation', value: bucketPrefix(limit), newestFirst: false };
      const search = key === undefined ? {} : { search: { sort: 'Target', prefix: bucketPrefix(limit, key) } };
      const { items, ...next } = await queryIndex(client, { ...byLimit, ...search }, most, cursor);
      return { items: items.map(({ Target }) => Target as BucketId), ...next };
    },
    write: async (id, seen, next) => {
      const put = new PutCommand({
        TableName: table,
        Item: bucketItem(id, { ...next, turn: seen + 1 }, now()),
        ConditionExpression: seen === 0 ? 'attribute_not_exists(Turn)' : 'Turn = :seen',
        ...(seen === 0 ? {} : { ExpressionAttributeValues: { ':seen': seen } }),
      });
      return (await conditionally(client.send(put))) !== undefined;
    },
    enqueue: async (id, waiting) => {
      await client.send(new PutCommand({ TableName: table, Item: queueItem(id, waiting, now()) }));
    },
    waiting: async (id, { after, upTo }, limit) => {
      const { Target, Entry: first } = queueKey(id, after);
      const { Items: rows = [] } = await client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: '#target = :target AND Entry BETWEEN :after AND :upTo',
          ExpressionAttributeNames: { '#target': 'Target' },
          ExpressionAttributeValues: { ':target': Target, ':after': first, ':upTo': queueKey(id, upTo).Entry },
          ConsistentRead: true,
          // The range includes its first key, which is the last row that was granted.
          Limit: limit + 1,
        }),
      );
      return rows
        .map(waitingCallOf)
        .filter(({ entry }) => entry > after)
        .slice(0, limit);
    },
  };
};
