/** Fan-outs in DynamoDB. */

import {
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { INDEXES } from '../domain/deployed/environment.ts';
import { expiresAt } from '../domain/expiry.ts';
import { type FanOutId, isNumbered } from '../domain/fan-out-ids.ts';
import { FULL_SIZE } from '../domain/fan-outs/tree.ts';
import type { Millis } from '../domain/ids.ts';
import type { FanOuts } from '../ports/fan-outs.ts';
import {
  countsOf,
  endedFields,
  fanOutOf,
  firstFailureItem,
  headerKey,
  ITEM_KEY_ATTRIBUTES,
  itemKeyOf,
  newHeader,
  nodeKey,
  nodeOf,
  nodeRow,
  PATROL_NAMES,
  reservationOf,
  tokenKey,
  tokenRow,
  walkItem,
} from '../rows/fan-out-rows.ts';
import type { Item } from '../rows/item.ts';
import { NOT_NEWER, readsUpTo } from '../rows/row-version.ts';
import {
  besideTransactions,
  conditionally,
  execute,
  getAll,
  insertion,
  transactionally,
  writeAll,
} from './dynamodb.ts';
import { ackNode, correctGroup } from './fan-out-acks.ts';
import { headerPage } from './header-pages.ts';

/**
 * How long the token of an addition is kept, in milliseconds. No caller is expected to repeat an addition after a
 * month.
 */
const KEEP_TOKENS: Millis = 30 * 24 * 60 * 60_000;

/** A write of a header. The write returns the row after the write, or undefined if the condition failed. */
interface Change {
  readonly set: string;
  readonly when: string;
  readonly values?: Item;
}

const STATUS = { '#status': 'Status' };

export const dynamoDBFanOuts = (client: DynamoDBDocumentClient, table: string): FanOuts => {
  const get = async (key: Item): Promise<Item | undefined> =>
    (await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item;
  const read = async (id: FanOutId) => {
    const row = await get(headerKey(id));
    return row && fanOutOf(row);
  };
  const change = async (id: FanOutId, { set, when, values }: Change) => {
    const update = new UpdateCommand({
      TableName: table,
      Key: headerKey(id),
      UpdateExpression: set,
      ConditionExpression: `${NOT_NEWER} AND (${when})`,
      ...(/#status/.test(set + when) ? { ExpressionAttributeNames: STATUS } : {}),
      ExpressionAttributeValues: { ...values, ':reads': readsUpTo('fan-out') },
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const answer = await conditionally(
      besideTransactions(() => client.send(update)),
      'fan-out',
    );
    return answer?.Attributes && fanOutOf(answer.Attributes);
  };
  return {
    ...FULL_SIZE,
    read,
    open: async (fanOut, checkAt) => {
      const row = newHeader(fanOut, checkAt);
      const put = new PutCommand({ TableName: table, Item: row, ConditionExpression: 'attribute_not_exists(Id)' });
      if (await conditionally(besideTransactions(() => client.send(put))))
        return { isNew: true, stored: fanOutOf(row) };
      const stored = await read(fanOut.id);
      if (!stored) throw new Error(`fan-out ${fanOut.id} was deleted while it was opened again: repeat the request`);
      return { isNew: false, stored };
    },
    itemKeys: async (ids) => {
      const rows = await getAll(client, table, ids.map(headerKey), { only: ITEM_KEY_ATTRIBUTES });
      return new Map(rows.map(itemKeyOf).map((each) => [each.id, each]));
    },
    reservation: async (id, token) => {
      const row = await get(tokenKey(id, token));
      return row && reservationOf(row);
    },
    reserve: (id, token, { first, count, openedAt, groups, at }) =>
      transactionally(
        client.send(
          new TransactWriteCommand({
            TransactItems: [
              {
                Update: {
                  TableName: table,
                  Key: headerKey(id),
                  UpdateExpression: 'SET Touched = :at ADD G :groups, #total :count, V :one',
                  ConditionExpression: '#status = :open AND G = :first AND CreatedAt = :opened',
                  ExpressionAttributeNames: { ...STATUS, '#total': 'Total' },
                  ExpressionAttributeValues: {
                    ':at': at,
                    ':groups': groups,
                    ':count': count,
                    ':one': 1,
                    ':open': 'open',
                    ':first': first,
                    ':opened': openedAt,
                  },
                },
              },
              {
                Put: {
                  TableName: table,
                  Item: tokenRow(id, token, { first, count, openedAt }, at + KEEP_TOKENS),
                  ConditionExpression: 'attribute_not_exists(Id) OR OpenedAt <> :opened',
                  ExpressionAttributeValues: { ':opened': openedAt },
                },
              },
            ],
          }),
        ),
      ),
    putGroups: async (id, groups, at) => {
      await execute(
        client,
        groups.map(({ n, size }) => insertion(table, nodeRow(id, { level: 0, n }, size, at))),
      );
    },
    node: async (id, position) => {
      const row = await get(nodeKey(id, position));
      return row && nodeOf(row);
    },
    counts: async (id, positions) => {
      const keys = positions.map((position) => nodeKey(id, position));
      const rows = keys.length === 0 ? [] : await getAll(client, table, keys, { only: ['Id', 'k', 'f', 'Seen', 'v'] });
      const byKey = new Map(rows.map((row) => [row.Id as string, countsOf(row)]));
      return keys.map(({ Id }) => byKey.get(Id as string));
    },
    ack: (id, position, slots) => ackNode(client, table, id, position, slots),
    correct: (id, group, indexes, at) => correctGroup(client, table, id, group, indexes, at),
    noteCorrection: async (id) => {
      await change(id, { set: 'SET Corrected = :yes', when: 'attribute_exists(Id)', values: { ':yes': true } });
    },
    putNode: async (id, position, slots) => {
      const put = new PutCommand({
        TableName: table,
        Item: nodeRow(id, position, FULL_SIZE.width, slots.at, slots),
        ConditionExpression: 'attribute_not_exists(Id)',
      });
      return (await conditionally(client.send(put))) !== undefined;
    },
    seal: async (id, at) => {
      const sealed = await change(id, {
        set: 'SET #status = :sealed, Touched = :at ADD V :one',
        when: '#status = :open',
        values: { ':sealed': 'sealed', ':open': 'open', ':at': at, ':one': 1 },
      });
      return sealed ?? read(id);
    },
    noteFails: async (id, fails, most) => {
      const noted = await change(id, {
        set: 'ADD Fails :fails',
        when: 'attribute_exists(Id) AND (attribute_not_exists(Fails) OR size(Fails) <= :most)',
        values: { ':fails': new Set(fails), ':most': most },
      });
      return noted ?? read(id);
    },
    forgetFails: (id, fails) =>
      change(id, {
        set: 'DELETE Fails :fails',
        when: 'attribute_exists(Id)',
        values: { ':fails': new Set(fails) },
      }),
    noteFailedGroup: async (id, seen, group) => {
      const noted = await change(id, {
        set: 'SET FailedGroup = :group',
        when: seen === undefined ? 'attribute_exists(Id) AND attribute_not_exists(FailedGroup)' : 'FailedGroup = :seen',
        values: { ':group': group, ...(seen === undefined ? {} : { ':seen': seen }) },
      });
      return noted !== undefined;
    },
    note: async (id, what, checkAt) => {
      const { notice } = what;
      const isFirst = notice === 'first-failure';
      const noted = await change(id, {
        set: `SET ${isFirst ? 'FirstFailure' : 'AllSucceeded'} = :value, CheckAt = :check ADD Unsent :notice`,
        when: isFirst
          ? '#status IN (:open, :sealed) AND attribute_not_exists(FirstFailure)'
          : '#status = :complete AND attribute_not_exists(AllSucceeded)',
        values: {
          ':check': checkAt,
          ':notice': new Set([notice]),
          ...(isFirst
            ? { ':value': firstFailureItem(what.firstFailure), ':open': 'open', ':sealed': 'sealed' }
            : { ':value': what.at, ':complete': 'complete' }),
        },
      });
      return noted ?? read(id);
    },
    noticeSent: async (id, notice) => {
      await change(id, {
        set: 'DELETE Unsent :notice',
        when: 'attribute_exists(Id)',
        values: { ':notice': new Set([notice]) },
      });
    },
    beginSum: async (id, seen, at) => {
      const begun = await change(id, {
        set: 'SET SummedAt = :at',
        when: seen === undefined ? 'attribute_exists(Id) AND attribute_not_exists(SummedAt)' : 'SummedAt = :seen',
        values: { ':at': at, ...(seen === undefined ? {} : { ':seen': seen }) },
      });
      return begun !== undefined;
    },
    end: async (id, { from, version, ...ending }) => {
      const fields = Object.entries(endedFields({ from, ...ending }));
      const set = fields.map(([name]) => (name === 'Status' ? '#status = :Status' : `${name} = :${name}`));
      const allowed = from.map((_, index) => `:from${index}`);
      const ended = await change(id, {
        set: `SET ${set.join(', ')} ADD V :one REMOVE Walk`,
        when: `#status IN (${allowed.join(', ')}) AND attribute_not_exists(Event)${version === undefined ? '' : ' AND V = :version'}`,
        values: {
          ...Object.fromEntries(fields.map(([name, value]) => [`:${name}`, value])),
          ...Object.fromEntries(from.map((status, index) => [`:from${index}`, status])),
          ':one': 1,
          ...(version === undefined ? {} : { ':version': version }),
        },
      });
      return ended !== undefined;
    },
    forgetEvent: async (id, checkAt) => {
      await change(id, {
        set: 'SET CheckAt = :at REMOVE Event',
        when: 'attribute_exists(Event)',
        values: { ':at': checkAt },
      });
    },
    due: async (now, limit) => {
      const pages = await Promise.all(PATROL_NAMES.map((patrol) => duePage(client, table, patrol, now, limit)));
      const all = pages.flat().sort((a, b) => (a.CheckAt as number) - (b.CheckAt as number));
      return all.slice(0, limit).map(({ Id }) => Id as FanOutId);
    },
    page: async (limit, cursor) => {
      const page = await headerPage(client, table, (id) => !isNumbered(id), limit, cursor);
      return { ...page, items: page.items.map(fanOutOf) };
    },
    checkAgain: async (id, seen, { checkAt, walk }) => {
      const changed = await change(id, {
        set: walk ? 'SET CheckAt = :at, Walk = :walk' : 'SET CheckAt = :at REMOVE Walk',
        when: 'CheckAt = :seen',
        values: { ':at': checkAt, ':seen': seen, ...(walk ? { ':walk': walkItem(walk) } : {}) },
      });
      return changed !== undefined;
    },
    removeNodes: (id, positions) =>
      writeAll(
        client,
        table,
        positions.map((position) => ({ delete: nodeKey(id, position) })),
      ),
    bury: async (id, expires) => {
      await change(id, {
        set: 'SET ExpiresAt = :expires REMOVE CheckAt, Patrol, Walk',
        when: 'attribute_exists(Id)',
        values: { ':expires': expiresAt(expires, 0) },
      });
    },
  };
};

const duePage = async (
  client: DynamoDBDocumentClient,
  table: string,
  patrol: string,
  now: Millis,
  limit: number,
): Promise<readonly Item[]> => {
  const { Items: rows = [] } = await client.send(
    new QueryCommand({
      TableName: table,
      IndexName: INDEXES.fanOutTable,
      KeyConditionExpression: 'Patrol = :patrol AND CheckAt <= :now',
      ExpressionAttributeValues: { ':patrol': patrol, ':now': now },
      Limit: limit,
    }),
  );
  return rows;
};
