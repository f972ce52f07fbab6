/** Lock rows in DynamoDB. Each change is one conditional update. */

import { type DynamoDBDocumentClient, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Lock } from '../domain/batches/lock.ts';
import { INDEXES } from '../domain/deployed/environment.ts';
import { lockExpiresAt } from '../domain/expiry.ts';
import { type Millis, type OperationName, operationOf, type Target, targetPrefix } from '../domain/ids.ts';
import { isBucketId } from '../domain/limits/bucket-id.ts';
import type { Page } from '../domain/page.ts';
import type { Locks, Mine } from '../ports/locks.ts';
import type { Item } from '../rows/item.ts';
import {
  LOCK_ENTRY,
  lockExpiryOf,
  lockItem,
  lockKey,
  lockOf,
  pauseItem,
  WAITING_PREFIX,
  waitingOf,
} from '../rows/lock-rows.ts';
import { NOT_NEWER, readsUpTo, VERSION_AT_FIRST, versionOf } from '../rows/row-version.ts';
import { conditionally, execute, getAll, insertion, queryIndex, scanIndex } from './dynamodb.ts';
import { dropEmptyPages, dynamoDBSlots } from './dynamodb-slots.ts';

/**
 * Every write that may create the row sets these attributes. If an attribute does not change, setting it costs nothing,
 * even in the index.
 */
const IDENTITY = `Operation = :operation, ExpiresAt = :expires, ${VERSION_AT_FIRST}`;

const MINE = 'Fence = :fence AND LockHolder = :token AND attribute_not_exists(OpenBatch)';

/** The condition that an attribute has the value that was read, or is absent if it was absent then. */
const asRead = (attribute: string, value: number | undefined): Condition =>
  value === undefined
    ? { when: `attribute_not_exists(${attribute})`, values: {} }
    : { when: `${attribute} = :read${attribute}`, values: { [`:read${attribute}`]: value } };

/** The condition that a counter has the value that was read. A counter at 0 has no attribute. */
const counted = (attribute: string, value: number): Condition => asRead(attribute, value === 0 ? undefined : value);

/** The index of all Targets with a lock row, by operation, and of all buckets, by limit. */
export const TARGETS = {
  index: INDEXES.batchLockTable,
  keyShape: { Target: 'string', Entry: 'string', Operation: 'string' },
} as const;

const targetsIn = ({ items, ...page }: Page<Item>): Page<Target> => ({
  ...page,
  items: items.map(({ Target: target }) => target as Target),
});

interface Condition {
  readonly when: string;
  readonly values: Item;
}

interface Update {
  readonly set: string;
  readonly when: string;
  readonly values: Item;
}

/** @param keepOf returns how long an operation's finished batches are kept, in milliseconds */
export const dynamoDBLocks = (
  client: DynamoDBDocumentClient,
  table: string,
  keepOf: (operation: OperationName) => Millis,
): Locks => {
  const update = async (target: Target, { set, when, values }: Update): Promise<boolean> => {
    const answer = await conditionally(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: lockKey(target),
          UpdateExpression: set,
          // Some callers have not read the row, so the write itself checks the row's version.
          ConditionExpression: `${NOT_NEWER} AND (${when})`,
          ExpressionAttributeValues: { ...values, ':reads': readsUpTo('lock') },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
      'lock',
    );
    return answer !== undefined;
  };
  const mine = ({ fence, token }: Mine): Item => ({ ':fence': fence, ':token': token });
  const expiryOf = (target: Target, now: Millis): number => lockExpiresAt(now, keepOf(operationOf(target)));
  const identity = (target: Target, now: Millis): Item => ({
    ':operation': operationOf(target),
    ':expires': expiryOf(target, now),
    ':version': versionOf('lock'),
  });
  const read = async (target: Target): Promise<Lock> => {
    const { Item: row } = await client.send(
      new GetCommand({ TableName: table, Key: lockKey(target), ConsistentRead: true }),
    );
    return lockOf(row);
  };
  return {
    ...dynamoDBSlots<Target>(client, table, (target) => target),
    dropPages: (target, pages) => dropEmptyPages(client, table, target, pages),
    read,
    readAll: async (targets) => {
      const rows = await getAll(client, table, targets.map(lockKey));
      const byTarget = new Map(rows.map((row) => [row.Target as string, row]));
      return targets.map((target) => {
        const row = byTarget.get(target);
        return row && { lock: lockOf(row), ...lockExpiryOf(row) };
      });
    },
    enlist: async (targets, now) => {
      // A refused statement means that another function has created the row already. The result is the same.
      await execute(
        client,
        targets.map((target) => insertion(table, lockItem(target, expiryOf(target, now)))),
      );
    },
    readEventually: async (target) => {
      const { Items: rows = [] } = await client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: '#target = :target',
          ExpressionAttributeNames: { '#target': 'Target' },
          ExpressionAttributeValues: { ':target': target },
          Limit: 2,
        }),
      );
      const first = rows.find(({ Entry }) => (Entry as string).startsWith(WAITING_PREFIX));
      const row = rows.find(({ Entry }) => Entry === LOCK_ENTRY);
      return { lock: lockOf(row), ...lockExpiryOf(row), ...(first ? { first: waitingOf(first) } : {}) };
    },
    acquire: (target, { fence, token, seen, now, until }) => {
      const [fenceAsRead, flushAsRead] = [counted('Fence', seen.fence), asRead('FlushedAt', seen.flushedAt)];
      return update(target, {
        set: `SET Fence = :fence, LockHolder = :token, AcquiredAt = :now, LockedUntil = :until, ${IDENTITY}`,
        when: `${fenceAsRead.when} AND ${flushAsRead.when} AND (attribute_not_exists(LockHolder) OR LockedUntil < :now)`,
        values: {
          ...mine({ fence, token }),
          ...fenceAsRead.values,
          ...flushAsRead.values,
          ':now': now,
          ':until': until,
          ...identity(target, now),
        },
      });
    },
    release: (target, holder) =>
      update(target, { set: 'REMOVE LockHolder, Blocked', when: MINE, values: mine(holder) }),
    block: (target, holder, { round, at }) => {
      const unchanged = counted('Round', round);
      return update(target, {
        set: 'SET Blocked = :at REMOVE LockHolder',
        when: `${MINE} AND ${unchanged.when}`,
        values: { ...mine(holder), ...unchanged.values, ':at': at },
      });
    },
    blockUnled: (target, { fence, at }) => {
      const unchanged = counted('Fence', fence);
      return update(target, {
        set: 'SET Blocked = :at',
        when: `attribute_exists(Entry) AND ${unchanged.when} AND attribute_not_exists(LockHolder) AND attribute_not_exists(OpenBatch)`,
        values: { ...unchanged.values, ':at': at },
      });
    },
    handOver: (target, holder, { token, seen, now, until, waits }) => {
      const flushAsRead = asRead('FlushedAt', seen.flushedAt);
      return update(target, {
        set: `SET Fence = :next, LockHolder = :nextToken, AcquiredAt = :now, LockedUntil = :until, ${IDENTITY}${waits ? ' REMOVE Blocked' : ''}`,
        when: `${MINE} AND ${flushAsRead.when}`,
        values: {
          ...mine(holder),
          ...flushAsRead.values,
          ...identity(target, now),
          ':next': holder.fence + 1,
          ':nextToken': token,
          ':now': now,
          ':until': until,
        },
      });
    },
    extend: (target, holder, until) =>
      update(target, { set: 'SET LockedUntil = :until', when: MINE, values: { ...mine(holder), ':until': until } }),
    openBatch: (target, holder, { batch, round, by, until, perTarget, largestCap, uncountedAt }) => {
      const unchanged = counted('Round', round - 1);
      const flight = perTarget
        ? {
            add: ' ADD InFlight :batches',
            when: ' AND (attribute_not_exists(InFlight) OR size(InFlight) < :perTarget)',
            values: { ':batches': new Set([batch]), ':perTarget': perTarget },
          }
        : { add: '', when: '', values: {} };
      return update(target, {
        set: `SET OpenBatch = :batch, Round = :round, OpenedBy = :by, LockedUntil = :until${largestCap === undefined ? '' : ', LargestCap = :largest'}${uncountedAt === undefined ? '' : ', UncountedAt = :uncounted'} REMOVE Blocked${flight.add}`,
        when: `${MINE} AND ${unchanged.when} AND attribute_not_exists(Paused)${flight.when}`,
        values: {
          ...mine(holder),
          ...unchanged.values,
          ...flight.values,
          ':batch': batch,
          ':round': round,
          ':by': by,
          ':until': until,
          ...(largestCap === undefined ? {} : { ':largest': largestCap }),
          ...(uncountedAt === undefined ? {} : { ':uncounted': uncountedAt }),
        },
      });
    },
    count: (target, holder, batches) =>
      update(target, {
        set: 'ADD InFlight :batches',
        when: MINE,
        values: { ...mine(holder), ':batches': new Set(batches) },
      }),
    counted: (target, holder, uncountedAt) =>
      update(target, {
        set: 'REMOVE UncountedAt',
        when: `${MINE} AND UncountedAt = :uncounted`,
        values: { ...mine(holder), ':uncounted': uncountedAt },
      }),
    releaseSlot: async (target, batch) => {
      const landing = new UpdateCommand({
        TableName: table,
        Key: lockKey(target),
        UpdateExpression: 'DELETE InFlight :batches',
        ConditionExpression: `attribute_exists(Entry) AND ${NOT_NEWER}`,
        ExpressionAttributeValues: { ':batches': new Set([batch]), ':reads': readsUpTo('lock') },
        ReturnValues: 'ALL_OLD',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      return lockOf((await conditionally(client.send(landing), 'lock'))?.Attributes);
    },
    pause: (target, pause) =>
      update(target, {
        set: `SET Paused = :pause, Operation = :operation, ${VERSION_AT_FIRST} REMOVE ExpiresAt`,
        when: 'attribute_not_exists(Paused) OR Paused.Id <> :id',
        values: {
          ':pause': pauseItem(pause),
          ':id': pause.id,
          ':operation': operationOf(target),
          ':version': versionOf('lock'),
        },
      }),
    noteCall: async (target, last, at, hasWorked = false) => {
      const failed = `SET FailedAt = :at${hasWorked ? ', WorkedAt = if_not_exists(WorkedAt, :before)' : ''}`;
      await update(target, {
        set: last === 'failed' ? failed : 'SET WorkedAt = :at REMOVE FailedAt',
        // The row of a Target that has been idle for months may have expired. It must not be written without its fence.
        when: 'attribute_exists(Fence)',
        values: { ':at': at, ...(last === 'failed' && hasWorked ? { ':before': 0 } : {}) },
      });
    },
    resume: (target, id, now) =>
      update(target, {
        set: 'SET ExpiresAt = :expires REMOVE Paused',
        when: 'Paused.Id = :id',
        values: { ':id': id, ':expires': expiryOf(target, now) },
      }),
    keep: (target, now) =>
      update(target, {
        set: 'SET ExpiresAt = :expires',
        when: 'attribute_exists(ExpiresAt)',
        values: { ':expires': expiryOf(target, now) },
      }),
    closeBatch: async (target, batch, uncountedAt) => {
      await update(target, {
        set: `${uncountedAt === undefined ? '' : 'SET UncountedAt = :uncounted '}REMOVE OpenBatch, OpenedBy`,
        when: 'OpenBatch = :batch',
        values: { ':batch': batch, ...(uncountedAt === undefined ? {} : { ':uncounted': uncountedAt }) },
      });
    },
    skipFence: (target, fence, seen, now) => {
      const unchanged = counted('Fence', seen);
      return update(target, {
        set: `SET Fence = :fence, ${IDENTITY}`,
        when: `${unchanged.when} AND attribute_not_exists(LockHolder) AND attribute_not_exists(Blocked)`,
        values: { ':fence': fence, ...unchanged.values, ...identity(target, now) },
      });
    },
    flush: async (target, at) => {
      await update(target, {
        set: `SET FlushedAt = :at, ${IDENTITY}`,
        when: 'attribute_not_exists(FlushedAt) OR FlushedAt < :at',
        values: { ':at': at, ...identity(target, at) },
      });
      return read(target);
    },
    targets: async (operation, limit, cursor, prefix) => {
      const byOperation = { ...TARGETS, table, key: 'Operation', value: operation, newestFirst: false };
      const search =
        prefix === undefined ? {} : { search: { sort: 'Target', prefix: targetPrefix(operation, prefix) } };
      return targetsIn(await queryIndex(client, { ...byOperation, ...search }, limit, cursor));
    },
    everyTarget: async (limit, cursor) => {
      const { items, ...next } = targetsIn(await scanIndex(client, { ...TARGETS, table }, limit, cursor));
      return { items: items.filter((each) => !isBucketId(each)), ...next };
    },
  };
};
