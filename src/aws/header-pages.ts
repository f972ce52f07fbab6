/**
 * Pages of the headers of fan-outs and lists, in the order of the times at which the patrol checks them. Unfinished
 * fan-outs and lists come first, because the patrol checks them at least once an hour. Ended ones follow, whose rows
 * the patrol finally deletes. If the patrol checks a header between the reads of two pages, the header may be shown
 * twice, but no header is left out.
 */

import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { INDEXES } from '../domain/deployed/environment.ts';
import type { FanOutId } from '../domain/fan-out-ids.ts';
import type { Page } from '../domain/page.ts';
import { InvalidCursor } from '../ports/rows.ts';
import { headerKey, PATROL_NAMES } from '../rows/fan-out-rows.ts';
import type { Item } from '../rows/item.ts';
import { fromCursor, type Key, parseCursor, printCursor } from './cursor.ts';
import { getAll } from './dynamodb.ts';

/**
 * Reads a page. A page may have fewer than `limit` headers, or none, although more pages follow, because fan-outs and
 * lists share the index.
 */
export const headerPage = async (
  client: DynamoDBDocumentClient,
  table: string,
  isWanted: (id: FanOutId) => boolean,
  limit: number,
  cursor: string | undefined,
): Promise<Page<Item>> => {
  const from = parsePlaces(cursor);
  const parts = await Promise.all(
    PATROL_NAMES.map((patrol) => fromCursor(cursor, queryPart(client, table, patrol, limit, from[patrol]))),
  );
  const { found, places, isLast } = walk(parts, isWanted, limit);
  const keys = found.map(({ Id }) => headerKey(Id as FanOutId));
  const rows = keys.length === 0 ? [] : await getAll(client, table, keys, { isEventual: true });
  const byId = new Map(rows.map((row) => [row.Id, row]));
  const items = found.flatMap(({ Id }) => byId.get(Id) ?? []);
  return { items, ...(isLast ? {} : printPlaces({ ...from, ...places })) };
};

/** The keys that were read from one partition of the index, in order. */
interface Part {
  readonly keys: readonly Item[];
  readonly isCut: boolean;
}

const queryPart = async (
  client: DynamoDBDocumentClient,
  table: string,
  patrol: string,
  limit: number,
  from: Key | undefined,
): Promise<Part> => {
  const query = new QueryCommand({
    TableName: table,
    IndexName: INDEXES.fanOutTable,
    KeyConditionExpression: 'Patrol = :patrol',
    ExpressionAttributeValues: { ':patrol': patrol },
    Limit: limit,
    ExclusiveStartKey: from,
  });
  const { Items: keys = [], LastEvaluatedKey: last } = await client.send(query);
  return { keys, isCut: last !== undefined };
};

const dueAt = ({ CheckAt }: Item): number => CheckAt as number;

/**
 * Merges the keys of the partitions in the order of their times. Stops at the first time after which a partition may
 * have keys that were not read.
 */
const walk = (parts: readonly Part[], isWanted: (id: FanOutId) => boolean, limit: number) => {
  const seenUntil = Math.min(...parts.flatMap(({ keys, isCut }) => (isCut ? dueAt(keys.at(-1) as Item) : [])));
  const all = parts.flatMap(({ keys }) => keys).toSorted((a, b) => dueAt(a) - dueAt(b));
  const found: Item[] = [];
  const places: Record<string, Item> = {};
  let walked = 0;
  for (const key of all) {
    if (found.length === limit || dueAt(key) > seenUntil) break;
    walked += 1;
    places[key.Patrol as string] = key;
    if (isWanted(key.Id as FanOutId)) found.push(key);
  }
  return { found, places, isLast: walked === all.length && parts.every(({ isCut }) => !isCut) };
};

/** The contents of a cursor: for each partition, the last key read so far. */
type Places = Readonly<Record<string, Key>>;

const SHAPE = { Id: 'string', Patrol: 'string', CheckAt: 'number' } as const;

const printPlaces = (places: Places) => ({
  cursor: Object.values(places)
    .map((key) => printCursor(key).cursor)
    .join('.'),
});

/**
 * Parses a cursor.
 * @throws InvalidCursor
 */
const parsePlaces = (cursor: string | undefined): Places => {
  if (cursor === undefined) return {};
  const parts = cursor.split('.', PATROL_NAMES.length + 1);
  const keys = parts.map((part) => parseCursor(part, SHAPE, {})).filter((key) => key !== undefined);
  const places = Object.fromEntries(keys.map((key) => [String(key.Patrol), key]));
  if (Object.keys(places).length < keys.length || keys.some(({ Patrol }) => !PATROL_NAMES.includes(String(Patrol))))
    throw new InvalidCursor();
  return places;
};
