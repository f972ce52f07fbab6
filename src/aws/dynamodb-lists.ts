/** Deferred lists in DynamoDB. */
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { isNumbered } from '../domain/fan-out-ids.ts';
import { FULL_SIZE } from '../domain/fan-outs/tree.ts';
import { type ListId, listOf } from '../domain/lists/ids.ts';
import { APART_MAX, type Apart, CLAIMS_MAX, type Lease, type StoredClaim } from '../domain/lists/list.ts';
import { endOf } from '../domain/lists/ranges.ts';
import type { JobResult, LeaseChange, Lists } from '../ports/lists.ts';
import type { Item } from '../rows/item.ts';
import {
  apartItem,
  appendKey,
  appendOf,
  appendRow,
  CLAIMS,
  claimKey,
  claimOf,
  claimRow,
  jobRows,
  listKey,
  listOfRow,
  newListRow,
  printHolder,
  printLeases,
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
import { apartAsRead, holderCondition, leaseChange, updateOf } from './list-changes.ts';
import { clearList } from './list-clearing.ts';
import { readJobs, rowsBetween } from './list-jobs.ts';

const { width } = FULL_SIZE;

const STATUS = { '#status': 'Status' };
const HANDS_OUT = '#status IN (:open, :sealed)';
const OPEN_OR_SEALED = { ':open': 'open', ':sealed': 'sealed' };

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** The update of a list's row that changes its leases. @param becomes the new state of its claims in rows of their own */
const updateWith = (change: LeaseChange, becomes?: Apart) => {
  const { set, remove, when, names, values } = leaseChange(change);
  const { isHandingOut = false } = change;
  const apart = becomes ? apartItem(becomes) : undefined;
  const isGone = apart?.Apart === 0;
  const conditions = [...when, ...(isHandingOut ? [HANDS_OUT] : [])];
  return {
    UpdateExpression: updateOf(
      apart && !isGone ? [...set, 'Apart=:apart', 'ApartUntil=:apartUntil'] : set,
      isGone ? [...remove, 'Apart', 'ApartUntil'] : remove,
    ),
    ConditionExpression: conditions.length > 0 ? conditions.join(' AND ') : 'attribute_exists(Id)',
    ...(Object.keys(names).length > 0 || isHandingOut
      ? { ExpressionAttributeNames: { ...names, ...(isHandingOut ? STATUS : {}) } }
      : {}),
    ExpressionAttributeValues: valuesOf({
      ...values,
      ...(isHandingOut ? OPEN_OR_SEALED : {}),
      ...(apart && !isGone ? { ':apart': apart.Apart, ':apartUntil': apart.ApartUntil } : {}),
    }),
  };
};

/** DynamoDB refuses an empty map of values. */
const valuesOf = (values: Item): Item | undefined => (Object.keys(values).length > 0 ? values : undefined);

/** Changes or deletes the row of a claim, if its leases are as they were read. */
const apartWrite = (
  table: string,
  id: ListId,
  { key, leases }: StoredClaim,
  to: readonly Lease[],
  isSameEnd: boolean,
) => {
  const ends = isSameEnd ? { ':was': secondsOf(leases[0]?.until ?? 0) } : {};
  const values = { ':leases': printLeases(leases), ...ends };
  const row = {
    TableName: table,
    Key: claimKey(id, key),
    ConditionExpression: `Leases = :leases${isSameEnd ? ' AND #until = :was' : ''}`,
  };
  const [lease] = to;
  const names = { ExpressionAttributeNames: { '#until': 'Until' } };
  return lease
    ? {
        Update: {
          ...row,
          UpdateExpression: 'SET Leases = :to, #until = :until',
          ...names,
          ExpressionAttributeValues: { ...values, ':to': printLeases(to), ':until': secondsOf(lease.until) },
        },
      }
    : { Delete: { ...row, ...(isSameEnd ? names : {}), ExpressionAttributeValues: values } };
};

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
  const update = (of: string, key: Item, input: Omit<UpdateCommandInput, 'TableName' | 'Key'>) =>
    conditionally(besideTransactions(() => client.send(new UpdateCommand({ TableName: of, Key: key, ...input }))));
  const inHeader = (id: ListId, change: LeaseChange, becomes?: Apart): TransactItem => ({
    Update: { TableName: headers, Key: listKey(id), ...updateWith(change, becomes) },
  });
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
    jobs: (id, ranges) => readJobs(client, table, id, ranges),
    leaseFresh: async (id, lease, { total, most, begins, apart }): Promise<Lease | undefined> => {
      const { key, count, until } = lease;
      const { when, values } = apartAsRead(apart);
      const holder = begins?.holder;
      const answer = await update(headers, listKey(id), {
        UpdateExpression: `SET lf.#key = Head, ln.#key = :count, le.#key = :until, Head = Head + :count${holder ? ', lh.#claim = :holder' : ''}`,
        ConditionExpression: [
          HANDS_OUT,
          'Head <= :last AND attribute_not_exists(lf.#key) AND size(lf) < :most',
          when,
          ...(begins ? [holderCondition('lh.#claim', begins, () => ':was')] : []),
        ].join(' AND '),
        ExpressionAttributeNames: { ...STATUS, '#key': key, ...(begins ? { '#claim': begins.claim } : {}) },
        ExpressionAttributeValues: {
          ...OPEN_OR_SEALED,
          ...values,
          ...(holder ? { ':holder': printHolder(holder) } : {}),
          ...(begins?.was ? { ':was': printHolder(begins.was) } : {}),
          ':count': count,
          ':until': secondsOf(until),
          ':last': total - count,
          ':most': most,
        },
        ReturnValues: 'UPDATED_NEW',
      });
      const end = answer?.Attributes?.Head as number | undefined;
      return end === undefined ? undefined : { ...lease, first: end - count };
    },
    change: async (id, change) => (await update(headers, listKey(id), updateWith(change))) !== undefined,
    claimsMax: CLAIMS_MAX,
    claimApart: async (id, key) => {
      const row = await get(table, claimKey(id, key));
      return row && claimOf(row);
    },
    claimsApart: async (id) => {
      const [from, to] = [{ Id: id, Entry: CLAIMS }, `${CLAIMS}~`];
      const rows = await rowsBetween(client, { TableName: table }, from, to, (read) => read.length > 2 * APART_MAX);
      return rows.map(claimOf);
    },
    putApart: (id, claim, { becomes, ...change }) =>
      transactionally(
        client.send(
          new TransactWriteCommand({
            TransactItems: [
              inHeader(id, change, becomes),
              {
                Put: {
                  TableName: table,
                  Item: claimRow(id, claim),
                  ConditionExpression: 'attribute_not_exists(Id)',
                },
              },
            ],
          }),
        ),
      ),
    changeApart: async (id, claim, to) => {
      const write = apartWrite(table, id, claim, to, false);
      const command = write.Update ? new UpdateCommand(write.Update) : new DeleteCommand(write.Delete);
      return (await conditionally(besideTransactions(() => client.send(command as UpdateCommand)))) !== undefined;
    },
    gather: (id, moved, to, apart) =>
      transactionally(
        client.send(
          new TransactWriteCommand({
            TransactItems: [
              inHeader(id, { from: [], to, gone: [], ...(apart ? { apart: apart.was } : {}) }, apart?.becomes),
              ...moved.map(({ claim, keep }) => apartWrite(table, id, claim, keep, apart !== undefined)),
            ],
          }),
        ),
      ),
    trigger: async (id, token) => {
      const row = await get(table, triggerKey(id, token));
      return row && takenOf(row);
    },
    noteAmount: async (id, token, wanted) => {
      const stored = await update(table, triggerKey(id, token), {
        UpdateExpression: 'SET Wanted = if_not_exists(Wanted, :wanted)',
        ConditionExpression: 'attribute_exists(Id)',
        ExpressionAttributeValues: { ':wanted': wanted },
        ReturnValues: 'UPDATED_NEW',
      });
      // The row is gone if the list was deleted meanwhile.
      return (stored?.Attributes?.Wanted as string | undefined) ?? wanted;
    },
    goOn: async (id, token, started) => {
      await update(table, triggerKey(id, token), {
        UpdateExpression: 'SET Started = :started',
        ConditionExpression: 'attribute_exists(Id) AND (attribute_not_exists(Started) OR Started < :started)',
        ExpressionAttributeValues: { ':started': started },
      });
    },
    take: (id, token, { ranges, from, rest, head, fresh, wanted, gone }) =>
      transactionally(
        client.send(
          new TransactWriteCommand({
            TransactItems: [
              inHeader(id, {
                from,
                to: rest ? [rest] : [],
                isHandingOut: true,
                fresh: { head, count: fresh },
                gone,
              }),
              {
                Put: {
                  TableName: table,
                  Item: triggerRow(id, token, ranges, wanted),
                  ConditionExpression: 'attribute_not_exists(Id)',
                },
              },
            ],
          }),
        ),
      ),
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
