/** Batches in DynamoDB. */

import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type Batch, membersOf } from '../domain/batches/batch.ts';
import { INDEXES, UNDER_WAY } from '../domain/deployed/environment.ts';
import { expiresAt } from '../domain/expiry.ts';
import { type BatchId, operationOf } from '../domain/ids.ts';
import type { Batches, UnderWay } from '../ports/batches.ts';
import {
  batchKey,
  batchOf,
  callItems,
  countsItem,
  grantItem,
  lastAttemptItem,
  newBatchRow,
  pendingItem,
  suspicionItem,
  underWayOf,
} from '../rows/batch-rows.ts';
import type { Item } from '../rows/item.ts';
import { conditionally, DynamoDBFailure, queryIndex } from './dynamodb.ts';

/** Placeholders for attributes whose names are reserved words of DynamoDB. */
const RESERVED = { '#status': 'Status', '#open': 'Open', '#split': 'Split' };
const namesIn = (expression: string) =>
  Object.fromEntries(Object.entries(RESERVED).filter(([name]) => expression.includes(name)));

/** Placeholder for an attribute's value. */
const placeholder = (name: string): string => `:${name.replace('#', '')}`;

/** Most queries for one page of batches under way. */
const QUERIES_MAX = 20;

const RUNNING = '#status = :running AND Attempt = :attempt';

export const dynamoDBBatches = (client: DynamoDBDocumentClient, table: string): Batches => {
  const get = async (id: BatchId): Promise<Batch | undefined> => {
    const { Item: row } = await client.send(
      new GetCommand({ TableName: table, Key: batchKey(id), ConsistentRead: true }),
    );
    return row && batchOf(row);
  };
  /** A conditional write. Returns the row after the write, or undefined if the condition failed. */
  const update = async (id: BatchId, set: string, when: string, values: Item): Promise<Batch | undefined> => {
    const answer = await conditionally(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: batchKey(id),
          UpdateExpression: set,
          ConditionExpression: when,
          ExpressionAttributeNames: namesIn(`${set} ${when}`),
          ExpressionAttributeValues: values,
          ReturnValues: 'ALL_NEW',
        }),
      ),
    );
    return answer?.Attributes && batchOf(answer.Attributes);
  };
  const stored = async (id: BatchId): Promise<Batch> => {
    const batch = await get(id);
    if (!batch) throw new DynamoDBFailure('Vanished', `batch ${id} existed a moment ago, but its row is gone`);
    return batch;
  };
  return {
    get,
    form: async (forming) => {
      const row = newBatchRow(forming);
      const put = new PutCommand({ TableName: table, Item: row, ConditionExpression: 'attribute_not_exists(BatchId)' });
      return (await conditionally(client.send(put))) ? batchOf(row) : stored(forming.id);
    },
    seal: async (batch, dropped, at, keep) => {
      const size = membersOf({ ...batch, dropped }).length;
      const isEmpty = size === 0;
      const end = isEmpty ? ', FinishedAt = :at, Counts = :counts, ExpiresAt = :expires' : '';
      const sealed = await update(
        batch.id,
        `SET #status = :sealed, Dropped = :dropped, TaskCount = :size, SealedAt = :at${end}`,
        '#status = :forming',
        {
          ':sealed': isEmpty ? 'succeeded' : 'sealed',
          ':forming': 'forming',
          ':dropped': [...dropped],
          ':size': size,
          ':at': at,
          ...(isEmpty ? { ':counts': countsItem({ succeeded: 0, failed: 0 }), ':expires': expiresAt(at, keep) } : {}),
        },
      );
      return { batch: sealed ?? (await stored(batch.id)), byMe: sealed !== undefined };
    },
    start: async (id, { attempt, countedAttempts, uncounted, token, at, runUntil, grants }) => {
      const started = await update(
        id,
        `SET #status = :running, Attempt = :attempt, Tries = :tries, StartedBy = :token, RunUntil = :until, StartedAt = if_not_exists(StartedAt, :at)${uncounted === undefined ? '' : ', Uncounted = :uncounted'}${attempt > 1 ? ', UnderWay = :operation' : ''}${grants ? ', Grants = :grants' : ''}`,
        'Attempt = :before AND (#status = :sealed OR (#status = :running AND RunUntil < :at))',
        {
          ':running': 'in-progress',
          ':sealed': 'sealed',
          ':attempt': attempt,
          ':before': attempt - 1,
          ':tries': countedAttempts,
          ...(uncounted === undefined ? {} : { ':uncounted': uncounted }),
          ':token': token,
          ':until': runUntil,
          ':at': at,
          // The first attempt may have ended without a write, because its function died.
          ...(attempt > 1 ? { ':operation': operationOf(id) } : {}),
          ...(grants ? { ':grants': grants.map(grantItem) } : {}),
        },
      );
      return started !== undefined;
    },
    hold: async (id, { by, span, isUncounted, after }) => {
      const free = 'attribute_not_exists(HeldSpan) OR HeldSpan < :span OR HeldBy = :after';
      const held = await update(
        id,
        `SET HeldBy = :by, HeldSpan = :span, UnderWay = :operation${isUncounted ? ', HeldUncounted = :yes' : ' REMOVE HeldUncounted'}`,
        `#status IN (:sealed, :running) AND (${free}${isUncounted ? ' OR attribute_not_exists(HeldUncounted)' : ''})`,
        {
          ':by': by,
          ':operation': operationOf(id),
          ':span': span,
          ':after': after,
          ':sealed': 'sealed',
          ':running': 'in-progress',
          ...(isUncounted ? { ':yes': true } : {}),
        },
      );
      return held !== undefined;
    },
    postpone: async (id, attempt, { retryAt, countedAttempts, counts, lastAttempt, calls, ...optional }) => {
      const { open, pending, split, parts, partFailures, spared, suspicion, uncounted, grants } = optional;
      const rest = Object.entries({
        '#open': open,
        Pending: pending && pendingItem(pending),
        '#split': split,
        Parts: parts && [...parts],
        PartFailures: partFailures && [...partFailures],
        Spared: spared && [...spared],
        Suspicion: suspicion && suspicionItem(suspicion),
        Uncounted: uncounted,
      });
      const kept = rest.filter(([, value]) => value !== undefined);
      const gone = rest.filter(([, value]) => value === undefined);
      const set = [
        'RunUntil = :at',
        'Tries = :tries',
        'Counts = :counts',
        'LastAttempt = :last',
        'Calls = :calls',
        'UnderWay = :operation',
        ...(grants ? ['Grants = :grants'] : []),
        ...kept.map(([name]) => `${name} = ${placeholder(name)}`),
      ];
      const remove = ['StartedBy', ...gone.map(([name]) => name)];
      const postponed = await update(id, `SET ${set.join(', ')} REMOVE ${remove.join(', ')}`, RUNNING, {
        ':at': retryAt,
        ':tries': countedAttempts,
        ':counts': countsItem(counts),
        ':last': lastAttemptItem(lastAttempt),
        ':calls': callItems(calls),
        ':operation': operationOf(id),
        ...(grants ? { ':grants': grants.map(grantItem) } : {}),
        ...Object.fromEntries(kept.map(([name, value]) => [placeholder(name), value])),
        ':running': 'in-progress',
        ':attempt': attempt,
      });
      return postponed !== undefined;
    },
    place: async (id) => {
      const placed = await update(id, 'SET TargetPage = :lock', '#status IN (:sealed, :running)', {
        ':lock': 0,
        ':sealed': 'sealed',
        ':running': 'in-progress',
      });
      return placed !== undefined;
    },
    finish: (id, attempt, { status, counts, at, keep, calls }) =>
      update(
        id,
        `SET #status = :status, Counts = :counts, FinishedAt = :at, ExpiresAt = :expires${calls ? ', Calls = :calls' : ''} REMOVE #open, Pending, #split, Parts, PartFailures, Spared, Suspicion, Uncounted, UnderWay`,
        RUNNING,
        {
          ':status': status,
          ':counts': countsItem(counts),
          ':at': at,
          ':expires': expiresAt(at, keep),
          ...(calls ? { ':calls': callItems(calls) } : {}),
          ':running': 'in-progress',
          ':attempt': attempt,
        },
      ),

    ofTarget: async (target, limit, cursor) => {
      const byTarget = { table, index: INDEXES.batchTable, key: 'Target', value: target, newestFirst: true };
      const page = await queryIndex(
        client,
        { ...byTarget, keyShape: { BatchId: 'string', Target: 'string', SealedAt: 'number' } },
        limit,
        cursor,
      );
      return { ...page, items: page.items.map(({ BatchId }) => BatchId as BatchId) };
    },
    underWay: async (operation, limit, cursor) => {
      const index = { table, index: UNDER_WAY, key: 'UnderWay', value: operation, newestFirst: false };
      const keyShape = { BatchId: 'string', UnderWay: 'string', OldestAt: 'number' } as const;
      const items: UnderWay[] = [];
      let next = cursor;
      // Read on past entries of finished batches, which functions of release 0.2.0 leave in the index.
      for (let query = 0; query < QUERIES_MAX && items.length < limit; query += 1) {
        const page = await queryIndex(client, { ...index, keyShape }, limit - items.length, next);
        items.push(...page.items.flatMap(underWayOf));
        next = page.cursor;
        if (next === undefined) break;
      }
      return { items, ...(next === undefined ? {} : { cursor: next }) };
    },
  };
};
