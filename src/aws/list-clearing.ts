/**
 * Clears a deferred list's rows away, page by page. An addition's row goes once its jobs are gone, so the rows that are left say
 * where to go on. Results have no such rows: their groups are counted, and the caller keeps how far this has come.
 */
import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { ListId } from '../domain/lists/ids.ts';
import type { Clearing } from '../ports/lists.ts';
import type { Item } from '../rows/item.ts';
import { APPENDS, jobsKey, resultKey, SEGMENTS, TRIGGERS, tokenOfAppend } from '../rows/list-rows.ts';
import { CONCURRENCY, writeAll } from './dynamodb.ts';

/** Behind every row that has only digits for a name. */
const LAST = '~';
/** Behind every name that begins so, whatever token it goes on with: `$` comes after `#`. */
const behind = (begin: string): string => begin.replace(/#$/, '$');
/** Rows that are read, and then deleted, before the next look at the time: within a second or two. */
const ROWS = 1_000;

/** @returns which group of results to go on with; undefined once all is gone */
export const clearList = async (
  client: DynamoDBDocumentClient,
  table: string,
  id: ListId,
  { from, groups, width }: { readonly from: number; readonly groups: number; readonly width: number },
  { mayGoOn, isSettled }: Clearing,
): Promise<number | undefined> => {
  /** Hands on pages of the keys of a partition's rows, in their order. @returns false where there was no time for all */
  const eachPage = async (
    { Id, Entry }: Item,
    to: string,
    handle: (keys: readonly Item[]) => Promise<boolean>,
  ): Promise<boolean> => {
    let start: Item | undefined;
    do {
      if (!mayGoOn()) return false;
      const page = await client.send(
        new QueryCommand({
          TableName: table,
          ProjectionExpression: 'Id, Entry',
          ConsistentRead: true,
          KeyConditionExpression: 'Id = :id AND Entry BETWEEN :from AND :to',
          ExpressionAttributeValues: { ':id': Id, ':from': Entry, ':to': to },
          Limit: ROWS,
          ExclusiveStartKey: start,
        }),
      );
      if (!(await handle(page.Items ?? []))) return false;
      start = page.LastEvaluatedKey;
    } while (start);
    return true;
  };
  const removeRows = async (keys: readonly Item[]): Promise<true> => {
    await writeAll(
      client,
      table,
      keys.map(({ Id, Entry }) => ({ delete: { Id, Entry } })),
    );
    return true;
  };
  const remove = (key: Item, to = LAST): Promise<boolean> => eachPage(key, to, removeRows);
  const removeJobs = async (appends: readonly Item[]): Promise<boolean> => {
    for (const some of inParts(appends)) {
      const areGone = await Promise.all(some.map((row) => remove(jobsKey(id, tokenOfAppend(row), 0))));
      // Last: by it the jobs are found, also those that an addition is still about to store.
      if (isSettled) await removeRows(some.filter((_, index) => areGone[index]));
      if (areGone.includes(false)) return false;
    }
    return true;
  };

  if (!(await eachPage({ Id: id, Entry: APPENDS }, behind(APPENDS), removeJobs))) return from;
  for (let first = from; first < groups; first += CONCURRENCY) {
    const some = Array.from({ length: Math.min(CONCURRENCY, groups - first) }, (_, n) => first + n);
    const areGone = await Promise.all(some.map((group) => remove(resultKey(id, group * width, width))));
    if (areGone.includes(false)) return first + areGone.indexOf(false);
  }
  for (const kind of [SEGMENTS, TRIGGERS]) if (!(await remove({ Id: id, Entry: kind }, behind(kind)))) return groups;
  return undefined;
};

const inParts = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / CONCURRENCY) }, (_, n) =>
    all.slice(n * CONCURRENCY, (n + 1) * CONCURRENCY),
  );
