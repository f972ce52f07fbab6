/** The audit trail in DynamoDB. */
import {
  type DynamoDBDocumentClient,
  PutCommand,
  QueryCommand,
  type QueryCommandOutput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Millis } from '../domain/ids.ts';
import type { Audit } from '../ports/audit.ts';
import { InvalidCursor } from '../ports/rows.ts';
import { entryItem, entryKey, entryOf, monthOf, monthsBack } from '../rows/audit-rows.ts';
import type { Item } from '../rows/item.ts';
import { fromCursor, type Key, parseCursor, printCursor } from './cursor.ts';
import { conditionally } from './dynamodb.ts';

/** @param keep how long entries are stored, in milliseconds */
export const dynamoDBAudit = (client: DynamoDBDocumentClient, table: string, keep: Millis): Audit => {
  /** The newest entries of one month. DynamoDB reads 1 MB at once, so an answer may end before the month does. */
  const query = async (
    month: string,
    [from, to]: readonly [string, string],
    limit: number,
    start: Key | undefined,
  ): Promise<Item[]> => {
    const items: Item[] = [];
    let next = start;
    do {
      const page: QueryCommandOutput = await client.send(
        new QueryCommand({
          TableName: table,
          // `Month` is a reserved word.
          KeyConditionExpression: '#month = :month AND Entry BETWEEN :from AND :to',
          ExpressionAttributeNames: { '#month': 'Month' },
          ExpressionAttributeValues: { ':month': month, ':from': from, ':to': to },
          ScanIndexForward: false,
          ConsistentRead: true,
          Limit: limit - items.length,
          ExclusiveStartKey: next,
        }),
      );
      items.push(...(page.Items ?? []));
      next = page.LastEvaluatedKey;
    } while (next && items.length < limit);
    return items;
  };
  return {
    begin: async (entry) => {
      await client.send(new PutCommand({ TableName: table, Item: entryItem(entry, keep) }));
    },
    end: async (entry, status) => {
      await conditionally(
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: entryKey(entry),
            UpdateExpression: 'SET Outcome = :status',
            ConditionExpression: 'attribute_exists(Entry)',
            ExpressionAttributeValues: { ':status': status },
          }),
        ),
        'audit entry',
      );
    },
    page: async (asked) => {
      const { day, limit, cursor, now } = asked;
      const list = day === undefined ? {} : { Month: monthOf(day) };
      const start = parseCursor(cursor, { Month: 'string', Entry: 'string' }, list);
      const newest = String(start?.Month ?? monthOf(day ?? now));
      if (start && !isPlace(start, monthOf(now), day)) throw new InvalidCursor();
      // DynamoDB deletes expired rows with a delay.
      const oldest = new Date(now - keep + 1).toISOString();
      const to = day ?? '9';
      const months =
        to < oldest.slice(0, to.length) ? [] : day === undefined ? monthsBack(newest, monthOf(oldest)) : [newest];
      const from = day !== undefined && day > oldest ? day : oldest;
      const items: Item[] = [];
      for (const month of months) {
        // One more than asked for shows whether there is another page.
        const left = limit + 1 - items.length;
        const begin = month === start?.Month ? start : undefined;
        items.push(...(await fromCursor(cursor, query(month, [from, `${to}~`], left, begin))));
        if (items.length > limit) break;
      }
      const { Month, Entry } = items[limit - 1] ?? {};
      return {
        items: items.slice(0, limit).map(entryOf),
        ...printCursor(items.length > limit ? { Month, Entry } : undefined),
      };
    },
  };
};

/** Whether a key can be that of an entry in the list. */
const isPlace = ({ Month, Entry }: Key, newest: string, day: string | undefined): boolean =>
  /^\d{4}-(?:0[1-9]|1[0-2])$/.test(String(Month)) &&
  String(Month) <= newest &&
  String(Entry).startsWith(day ?? `${Month}-`);
