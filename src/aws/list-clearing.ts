/**
 * Deletes the rows of a deferred list, page by page. The row of an addition is deleted after its jobs, so the remaining
 * rows show where to continue. Results have no rows that show this. Their groups are numbered instead, and the caller
 * stores how far the deletion has come.
 */
import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { ListId } from '../domain/lists/ids.ts';
import type { Clearing } from '../ports/lists.ts';
import type { Item } from '../rows/item.ts';
import { APPENDS, CLAIMS, jobsKey, resultKey, SEGMENTS, TRIGGERS, tokenOfAppend } from '../rows/list-rows.ts';
import { inParts } from '../util/parts.ts';
import { CONCURRENCY, writeAll } from './dynamodb.ts';

/** This name sorts after the names of all rows whose names have only digits. */
const LAST = '~';
/** A name that sorts after all names with this beginning, whatever token follows: `$` comes after `#`. */
const behind = (begin: string): string => begin.replace(/#$/, '$');
/** Number of rows that are read and deleted before the time is checked again. Deleting them takes a second or two. */
const ROWS = 1_000;

/** @returns the group of results to continue with; undefined after everything was deleted */
export const clearList = async (
  client: DynamoDBDocumentClient,
  table: string,
  id: ListId,
  { from, groups, width }: { readonly from: number; readonly groups: number; readonly width: number },
  { mayGoOn, isSettled }: Clearing,
): Promise<number | undefined> => {
  /**
   * Passes pages of the keys of a partition's rows to `handle`, in order.
   * @returns false if the time was over before the last page
   */
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
    for (const some of inParts(appends, CONCURRENCY)) {
      const areGone = await Promise.all(some.map((row) => remove(jobsKey(id, tokenOfAppend(row), 0))));
      // Delete the rows of the additions last, because only these rows lead to the jobs. An addition that is still
      // running may store more jobs, so keep the rows until that is impossible.
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
  for (const kind of [CLAIMS, SEGMENTS, TRIGGERS])
    if (!(await remove({ Id: id, Entry: kind }, behind(kind)))) return groups;
  return undefined;
};
