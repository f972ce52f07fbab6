/** Deferred lists in DynamoDB. */
import {
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { isNumbered } from '../domain/fan-out-ids.ts';
import { FULL_SIZE } from '../domain/fan-outs/tree.ts';
import { type ListId, listOf } from '../domain/lists/ids.ts';
import { endOf, type Lease } from '../domain/lists/list.ts';
import type { JobResult, Lists } from '../ports/lists.ts';
import type { Item } from '../rows/item.ts';
import {
  appendKey,
  appendOf,
  appendRow,
  jobRows,
  listKey,
  listOfRow,
  newListRow,
  resultKey,
  resultOf,
  resultRow,
  secondsOf,
  segmentRow,
  takenOf,
  triggerKey,
  triggerRow,
} from '../rows/list-rows.ts';
import {
  besideTransactions,
  conditionally,
  execute,
  getAll,
  insertion,
  transactionally,
  writeAll,
} from './dynamodb.ts';
import { headerPage } from './header-pages.ts';
import { leaseChange, updateOf } from './list-changes.ts';
import { clearList } from './list-clearing.ts';
import { readJobs, rowsBetween } from './list-jobs.ts';

const { width } = FULL_SIZE;

const STATUS = { '#status': 'Status' };
const HANDS_OUT = '#status IN (:open, :sealed)';
const OPEN_OR_SEALED = { ':open': 'open', ':sealed': 'sealed' };

/**
 * @param headers the FanOut table, which holds the lists' own rows
 * @param table the table that holds the lists' contents
 */
export const dynamoDBLists = (client: DynamoDBDocumentClient, headers: string, table: string): Lists => {
  const get = async (from: string, key: Item): Promise<Item | undefined> =>
    (await client.send(new GetCommand({ TableName: from, Key: key, ConsistentRead: true }))).Item;
  const read = async (id: ListId) => {
    const row = await get(headers, listKey(id));
    return row && listOfRow(row);
  };
  const update = (id: ListId, input: Omit<UpdateCommandInput, 'TableName' | 'Key'>) =>
    conditionally(
      besideTransactions(() => client.send(new UpdateCommand({ TableName: headers, Key: listKey(id), ...input }))),
    );
  return {
    open: async (list, checkAt) => {
      const row = newListRow(list, checkAt);
      const put = new PutCommand({ TableName: headers, Item: row, ConditionExpression: 'attribute_not_exists(Id)' });
      if (await conditionally(besideTransactions(() => client.send(put))))
        return { isNew: true, stored: listOfRow(row) };
      const stored = await read(listOf(list.id));
      if (!stored) throw new Error(`list ${listOf(list.id)} was deleted while it was opened again: repeat the request`);
      return { isNew: false, stored };
    },
    read,
    page: async (limit, cursor) => {
      const page = await headerPage(client, headers, isNumbered, limit, cursor);
      return { ...page, items: page.items.map(listOfRow) };
    },
    append: async (id, token) => {
      const row = await get(table, appendKey(id, token));
      return row && appendOf(row);
    },
    beginAppend: async (id, token, append) => {
      const put = new PutCommand({
        TableName: table,
        Item: appendRow(id, token, append),
        ConditionExpression: 'attribute_not_exists(Id)',
      });
      // If the row exists, another attempt with the same token may have stored its jobs already, and may be publishing
      // them.
      return (await conditionally(besideTransactions(() => client.send(put)))) !== undefined;
    },
    putJobs: (id, token, payloads) =>
      writeAll(
        client,
        table,
        jobRows(id, token, payloads).map((put) => ({ put })),
      ),
    publish: (id, token, { first, count, at }) =>
      transactionally(
        client.send(
          new TransactWriteCommand({
            TransactItems: [
              {
                Update: {
                  TableName: headers,
                  Key: listKey(id),
                  UpdateExpression: 'SET #total = :end, Touched = :at ADD V :one',
                  ConditionExpression: '#status = :open AND #total = :first',
                  ExpressionAttributeNames: { ...STATUS, '#total': 'Total' },
                  ExpressionAttributeValues: {
                    ':end': first + count,
                    ':first': first,
                    ':at': at,
                    ':one': 1,
                    ':open': 'open',
                  },
                },
              },
              { Put: { TableName: table, Item: segmentRow(id, { first, count, token }) } },
              {
                Update: {
                  TableName: table,
                  Key: appendKey(id, token),
                  UpdateExpression: 'SET #first = :first',
                  ConditionExpression: 'attribute_exists(Id) AND attribute_not_exists(#first)',
                  ExpressionAttributeNames: { '#first': 'First' },
                  ExpressionAttributeValues: { ':first': first },
                },
              },
            ],
          }),
        ),
      ),
    jobs: (id, range) => readJobs(client, table, id, range),
    leaseFresh: async (id, { key, count, until, total, most }): Promise<Lease | undefined> => {
      const answer = await update(id, {
        UpdateExpression: 'SET lf.#key = Head, ln.#key = :count, le.#key = :until, Head = Head + :count',
        ConditionExpression: `${HANDS_OUT} AND Head <= :last AND attribute_not_exists(lf.#key) AND size(lf) < :most`,
        ExpressionAttributeNames: { ...STATUS, '#key': key },
        ExpressionAttributeValues: {
          ...OPEN_OR_SEALED,
          ':count': count,
          ':until': secondsOf(until),
          ':last': total - count,
          ':most': most,
        },
        ReturnValues: 'UPDATED_NEW',
      });
      const end = answer?.Attributes?.Head as number | undefined;
      return end === undefined ? undefined : { key, first: end - count, count, until };
    },
    change: async (id, from, to, how) => {
      const { set, remove, when, names, values } = leaseChange(from, to);
      const answer = await update(id, {
        UpdateExpression: updateOf(set, remove),
        ConditionExpression: [...when, ...(how === 'handing-out' ? [HANDS_OUT] : [])].join(' AND '),
        ExpressionAttributeNames: { ...names, ...(how === 'handing-out' ? STATUS : {}) },
        ExpressionAttributeValues: { ...values, ...(how === 'handing-out' ? OPEN_OR_SEALED : {}) },
      });
      return answer !== undefined;
    },
    trigger: async (id, token) => {
      const row = await get(table, triggerKey(id, token));
      return row && takenOf(row);
    },
    goOn: async (id, token, started) => {
      const update = new UpdateCommand({
        TableName: table,
        Key: triggerKey(id, token),
        UpdateExpression: 'SET Started = :started',
        ConditionExpression: 'attribute_exists(Id) AND (attribute_not_exists(Started) OR Started < :started)',
        ExpressionAttributeValues: { ':started': started },
      });
      await conditionally(besideTransactions(() => client.send(update)));
    },
    take: (id, token, { ranges, from, rest, head, fresh }) => {
      const { set, remove, when, names, values } = leaseChange(from, rest ? [rest] : []);
      return transactionally(
        client.send(
          new TransactWriteCommand({
            TransactItems: [
              {
                Update: {
                  TableName: headers,
                  Key: listKey(id),
                  UpdateExpression: updateOf([...set, 'Head = :next'], remove),
                  ConditionExpression: [...when, HANDS_OUT, 'Head = :head'].join(' AND '),
                  ExpressionAttributeNames: { ...names, ...STATUS },
                  ExpressionAttributeValues: { ...values, ...OPEN_OR_SEALED, ':head': head, ':next': head + fresh },
                },
              },
              {
                Put: {
                  TableName: table,
                  Item: triggerRow(id, token, ranges),
                  ConditionExpression: 'attribute_not_exists(Id)',
                },
              },
            ],
          }),
        ),
      );
    },
    putResults: (id, results) => putResults(client, table, id, results),
    results: async (id, range) => {
      const rows: JobResult[] = [];
      const last = endOf(range) - 1;
      for (let first = range.first; first <= last; first = (Math.floor(first / width) + 1) * width) {
        const to = resultKey(id, last, width).Entry as string;
        const part = await rowsBetween(client, { TableName: table }, resultKey(id, first, width), to);
        rows.push(...part.map(resultOf));
      }
      return rows;
    },
    clear: (id, groups, from, how) => clearList(client, table, id, { from, groups, width }, how),
  };
};

/**
 * Stores results. A refused statement means that another result of the job is stored already. In this case, reads and
 * returns the stored result.
 */
const putResults = async (
  client: DynamoDBDocumentClient,
  table: string,
  id: ListId,
  results: readonly JobResult[],
): Promise<readonly JobResult[]> => {
  const statements = results.map((result) => insertion(table, resultRow(id, result, width)));
  const isMine = await execute(client, statements);
  const refused = results.filter((_, index) => !isMine[index]);
  const keys = refused.map(({ token }) => resultKey(id, token, width));
  const rows = keys.length > 0 ? await getAll(client, table, keys) : [];
  const others = new Map(rows.map(resultOf).map((result) => [result.token, result]));
  return results.map((result) => others.get(result.token) ?? result);
};
