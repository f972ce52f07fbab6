/** Clears a deferred list's rows away, page by page: what is gone is not asked for again. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ListId } from '../deferred/ids.ts';
import type { Clearing } from '../deferred/store.ts';
import { CONCURRENCY, writeAll } from './dynamodb.ts';
import type { Item } from './item.ts';
import { rowsBetween } from './list-jobs.ts';
import { APPENDS, jobsKey, resultKey, tokenOfAppend } from './list-rows.ts';

/** Behind every row that has only digits for a name. */
const LAST = '~';
/** Behind every name that begins so, whatever token it goes on with: `$` comes after `#`. */
const behind = (begin: string): string => begin.replace(/#$/, '$');

export const clearList = async (
  client: DynamoDBDocumentClient,
  table: string,
  id: ListId,
  groups: number,
  width: number,
  { mayGoOn, isSettled }: Clearing,
): Promise<boolean> => {
  const query = {
    TableName: table,
    ProjectionExpression: 'Id, Entry',
  };
  /** Deletes rows of a partition; false where there was no time. */
  const remove = async (from: Item, to = LAST): Promise<boolean> => {
    if (!mayGoOn()) return false;
    let isAll = true;
    const rows = await rowsBetween(client, query, from, to, () => {
      isAll = mayGoOn();
      return !isAll;
    });
    await writeAll(
      client,
      table,
      rows.map(({ Id, Entry }) => ({ delete: { Id, Entry } })),
    );
    return isAll;
  };
  const appends = await rowsBetween(client, query, { Id: id, Entry: APPENDS }, behind(APPENDS));
  for (const row of appends) {
    if (!(await remove({ ...jobsKey(id, tokenOfAppend(row), 0) }))) return false;
    // Last: by it the jobs are found, also those that somebody is still about to store.
    if (isSettled) await writeAll(client, table, [{ delete: { Id: row.Id, Entry: row.Entry } }]);
  }
  // Some at once, since each is asked for again when this did not get to the end.
  for (let first = 0; first < groups; first += CONCURRENCY) {
    const some = Array.from({ length: Math.min(CONCURRENCY, groups - first) }, (_, n) => first + n);
    const areGone = await Promise.all(some.map((group) => remove(resultKey(id, group * width, width))));
    if (areGone.includes(false)) return false;
  }
  return (await remove({ Id: id, Entry: 's#' }, behind('s#'))) && (await remove({ Id: id, Entry: 't#' }, behind('t#')));
};
