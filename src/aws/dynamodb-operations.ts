/**
 * Operation rows in DynamoDB. Each operation has a partition in the BatchLock table, beside the partitions of its
 * Targets.
 */
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { OperationName } from '../domain/ids.ts';
import { LAST_FAILURE_MAX_BYTES, type WaitingTarget } from '../domain/operations/slots.ts';
import type { Operations } from '../ports/operations.ts';
import type { Item } from '../rows/item.ts';
import { pauseItem, WAITING_PREFIX } from '../rows/lock-rows.ts';
import {
  operationKey,
  operationStateOf,
  partitionOf,
  waitingTargetItem,
  waitingTargetKey,
  waitingTargetOf,
} from '../rows/operation-rows.ts';
import { NOT_NEWER, readsUpTo, VERSION_AT_FIRST, versionOf } from '../rows/row-version.ts';
import { cutToBytes } from '../util/utf8.ts';
import { conditionally } from './dynamodb.ts';
import { dynamoDBSlots, HAS_ROOM, slotValues } from './dynamodb-slots.ts';

const NOT_PAUSED = 'attribute_not_exists(Paused)';

interface Update {
  readonly set: string;
  readonly when?: string;
  readonly values: Item;
}

export const dynamoDBOperations = (client: DynamoDBDocumentClient, table: string): Operations => {
  /**
   * Operations whose row contains a note that they have a cap, as far as this process knows. Remembering them saves
   * requests: a write that is refused because the note exists costs as much as a successful write.
   */
  const noted = new Set<OperationName>();
  /** A conditional write. Returns the row after the write, or undefined if the condition failed. */
  const update = async (operation: OperationName, { set, when, values }: Update): Promise<Item | undefined> => {
    const answer = await conditionally(
      client.send(
        new UpdateCommand({
          TableName: table,
          Key: operationKey(operation),
          // Set the version in every write, because any write may create the row. An expression has only one SET clause.
          UpdateExpression: set.startsWith('SET ')
            ? set.replace('SET ', `SET ${VERSION_AT_FIRST}, `)
            : `SET ${VERSION_AT_FIRST} ${set}`,
          ConditionExpression: when === undefined ? NOT_NEWER : `${NOT_NEWER} AND (${when})`,
          ExpressionAttributeValues: {
            ...values,
            ':reads': readsUpTo('operation'),
            ':version': versionOf('operation'),
          },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
      'operation',
    );
    return answer && (answer.Attributes ?? {});
  };
  return {
    read: async (operation) => {
      const get = new GetCommand({ TableName: table, Key: operationKey(operation), ConsistentRead: true });
      const state = operationStateOf((await client.send(get)).Item);
      if (state.largestCap !== undefined) noted.add(operation);
      return state;
    },
    ...dynamoDBSlots(client, table, partitionOf, {
      kind: 'operation',
      key: operationKey,
      when: NOT_PAUSED,
    }),
    takeOnlyPage: async (operation, slot, most) => {
      if (noted.has(operation)) return false;
      const when = `${NOT_PAUSED} AND attribute_not_exists(LargestCap) AND ${HAS_ROOM}`;
      return (
        (await update(operation, { set: 'ADD InFlight :slots', when, values: slotValues(slot, most) })) !== undefined
      );
    },
    noteCap: async (operation, cap) => {
      const when = 'attribute_not_exists(LargestCap) OR LargestCap < :cap';
      await update(operation, { set: 'SET LargestCap = :cap', when, values: { ':cap': cap } });
    },
    enqueue: async (operation, waiting) => {
      await client.send(new PutCommand({ TableName: table, Item: waitingTargetItem(operation, waiting) }));
    },
    waiting: async (operation, limit, end = 'first') => {
      const { Items: rows = [] } = await client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: '#target = :target AND begins_with(Entry, :prefix)',
          ExpressionAttributeNames: { '#target': 'Target' },
          ExpressionAttributeValues: { ':target': partitionOf(operation), ':prefix': WAITING_PREFIX },
          ConsistentRead: true,
          ScanIndexForward: end === 'first',
          Limit: limit,
        }),
      );
      return rows.map(waitingTargetOf);
    },
    isWaiting: async (operation, waiting) => {
      const Key = waitingTargetKey(operation, waiting);
      return (await client.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }))).Item !== undefined;
    },
    dequeue: async (operation, waiting, which = 'this') => {
      const Key = waitingTargetKey(operation, waiting);
      const deleted = await conditionally(
        client.send(new DeleteCommand({ TableName: table, Key, ...stayOf(waiting, which) })),
      );
      return deleted !== undefined;
    },
    pause: async (operation, pause) => {
      const paused = await update(operation, {
        set: 'SET Paused = :pause',
        when: pause.by === 'person' ? `${NOT_PAUSED} OR Paused.Id <> :id` : NOT_PAUSED,
        values: { ':pause': pauseItem(pause), ...(pause.by === 'person' ? { ':id': pause.id } : {}) },
      });
      return paused !== undefined;
    },
    resume: async (operation, id, at) => {
      const set = 'SET ResumedAt = :at, ResumedId = :id REMOVE Paused';
      return (
        (await update(operation, { set, when: 'Paused.Id = :id', values: { ':id': id, ':at': at } })) !== undefined
      );
    },
    addFailure: async (operation, by = 1, reason) => {
      const row = await update(
        operation,
        reason === undefined
          ? { set: 'ADD Failures :by', values: { ':by': by } }
          : {
              set: 'SET LastFailure = :reason ADD Failures :by',
              values: { ':by': by, ':reason': cutToBytes(reason, LAST_FAILURE_MAX_BYTES) },
            },
      );
      const { failures, recoveries } = operationStateOf(row);
      return { failures, recoveries };
    },
    markThrottled: async (operation, at) => {
      const set = 'SET ThrottledSince = if_not_exists(ThrottledSince, :at)';
      await update(operation, { set, values: { ':at': at } });
    },
    resetFailures: async (operation) => {
      await update(operation, {
        set: 'REMOVE Failures, LastFailure, ThrottledSince ADD Recoveries :one',
        values: { ':one': 1 },
      });
    },
    noteAnswers: async (operation, form) => {
      const [set, when] = ['SET Answers = :form', 'attribute_not_exists(Answers)'];
      const noted = await update(
        operation,
        form === 'without-results'
          ? { set, when, values: { ':form': form } }
          : { set, when: `${when} OR Answers = :without`, values: { ':form': form, ':without': 'without-results' } },
      );
      return noted !== undefined;
    },
    markWaking: async (operation, seen, next) => {
      const marked = await update(operation, {
        set: next ? 'SET WakingId = :next, WokenAt = :at' : 'REMOVE WakingId, WokenAt',
        when: seen === undefined ? 'attribute_not_exists(WakingId)' : 'WakingId = :seen',
        values: {
          ...(next ? { ':next': next.id, ':at': next.at } : {}),
          ...(seen === undefined ? {} : { ':seen': seen }),
        },
      });
      return marked !== undefined;
    },
  };
};

/**
 * The condition that a waiting Target's row still has the enqueue that was read (`this`), or that the row exists at all
 * (`any`).
 */
const stayOf = ({ by }: WaitingTarget, which: 'this' | 'any') => {
  if (which === 'any') return { ConditionExpression: 'attribute_exists(Entry)' };
  return by === undefined
    ? { ConditionExpression: 'attribute_exists(Entry) AND attribute_not_exists(EnqueuedBy)' }
    : { ConditionExpression: 'EnqueuedBy = :by', ExpressionAttributeValues: { ':by': by } };
};
