/**
 * Fleets in DynamoDB. Each fleet has a partition of the table, with a row for each lease and each node. Lease rows sort
 * before node rows, so one query reads each lease before its owner. Checkpoints have partitions of their own.
 */

import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
  type UpdateCommandInput,
  type UpdateCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { FleetName, NodeKey } from '../domain/fleets/ids.ts';
import type { Millis } from '../domain/ids.ts';
import type { Fleets, Held } from '../ports/fleets.ts';
import {
  apartRow,
  checkpointKey,
  expiryOf,
  fleetOf,
  leaseKey,
  leaseOf,
  NAMES,
  nameRow,
  nodeKeyOf,
  nodeRow,
} from '../rows/fleet-rows.ts';
import type { Item } from '../rows/item.ts';
import { VERSION_AT_FIRST, versionOf } from '../rows/row-version.ts';
import { conditionally, transactionally } from './dynamodb.ts';
import { raiseFence, readCheckpoint } from './fleet-checkpoints.ts';

type Change = Omit<UpdateCommandInput, 'TableName' | 'Key'>;

interface OwnersChange {
  readonly UpdateExpression: string;
  readonly names?: Record<string, string>;
  readonly values?: Item;
  /** A condition in addition to the condition on the owner. It begins with ` AND `. */
  readonly condition?: string;
}

/** `Owner` is a reserved word of DynamoDB. */
const OWNER = { '#Owner': 'Owner' };
const NEXT = { '#Next': 'Next' };

export const dynamoDBFleets = (client: DynamoDBDocumentClient, table: string): Fleets => {
  const send = (key: Item, change: Change): Promise<UpdateCommandOutput> =>
    client.send(new UpdateCommand({ TableName: table, Key: key, ...change }));
  /**
   * How far DynamoDB's clock is ahead of this machine's clock, in milliseconds, according to the last answer. Without
   * this correction, DynamoDB would delete the row of a live node whose machine's clock is a day behind.
   */
  const ahead = (): Millis => client.config.systemClockOffset;
  const update = (key: Item, change: Change): Promise<UpdateCommandOutput | undefined> =>
    conditionally(send(key, change));
  const updated = async (key: Item, change: Change): Promise<boolean> => (await update(key, change)) !== undefined;
  /** Reads all rows of a partition, ordered by `Entry`. */
  const rowsUnder = async (key: string): Promise<readonly Item[]> => {
    const rows: Item[] = [];
    let from: Item | undefined;
    do {
      const page = await client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: 'Fleet = :key',
          ExpressionAttributeValues: { ':key': key },
          ConsistentRead: true,
          ExclusiveStartKey: from,
        }),
      );
      rows.push(...(page.Items ?? []));
      from = page.LastEvaluatedKey;
    } while (from);
    return rows;
  };
  const isKnown = async (fleet: FleetName): Promise<boolean> => {
    const query = { ':names': NAMES, ':fleet': fleet };
    const { Count = 0 } = await client.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'Fleet = :names AND Entry = :fleet',
        ExpressionAttributeValues: query,
        ConsistentRead: true,
      }),
    );
    return Count > 0;
  };
  /**
   * Writes the name of a new fleet, and the row that keeps nodes of version 0.2.0 out, in one transaction. A new fleet
   * has no checkpoints that version 0.2.0 could read.
   */
  const begin = async (fleet: FleetName): Promise<void> => {
    if (await isKnown(fleet)) return;
    const put = (Item: Item) => ({ TableName: table, Item });
    const isBegun = await transactionally(
      client.send(
        new TransactWriteCommand({
          TransactItems: [
            { Put: { ...put(nameRow(fleet)), ConditionExpression: 'attribute_not_exists(Fleet)' } },
            { Put: put(apartRow(fleet)) },
          ],
        }),
      ),
    );
    if (!isBegun && !(await isKnown(fleet)))
      throw new Error(`fleet ${fleet} could not be created: DynamoDB was busy; try again`);
  };
  /** P8. A write that only the current owner of a lease can do. */
  const byOwner = (fleet: FleetName, held: Held, { names, values, condition, ...change }: OwnersChange) =>
    updated(leaseKey(fleet, held.partition), {
      ...change,
      ConditionExpression: `#Owner = :me AND Fence = :fence${condition ?? ''}`,
      ExpressionAttributeNames: { ...OWNER, ...names },
      ExpressionAttributeValues: { ':me': held.owner, ':fence': held.fence, ...values },
    });

  return {
    join: async (fleet, node) => {
      await begin(fleet);
      const put = {
        TableName: table,
        Item: nodeRow(fleet, node, ahead()),
        ConditionExpression: 'attribute_not_exists(Entry)',
      };
      // A repeated request must not undo an eviction. The condition is sufficient, because no other node has this key.
      await conditionally(client.send(new PutCommand(put)));
    },
    beat: async (fleet, { key, beat, ttl, beatAt, leaving, restarting }) => {
      const written = await unlessWritten(
        send(nodeKeyOf(fleet, key), {
          UpdateExpression: `SET Beat = :beat, #Ttl = :ttl, BeatAt = :at, ExpiresAt = :expires${leaving ? ', Leaving = :leaving' : ''}${restarting ? ', Restarting = :restarting' : ''}`,
          // A delayed heartbeat must not overwrite a later heartbeat, which may have another Ttl.
          ConditionExpression: 'Beat < :beat AND attribute_not_exists(Evicted)',
          ExpressionAttributeNames: { '#Ttl': 'Ttl' },
          ExpressionAttributeValues: {
            ':beat': beat,
            ':ttl': ttl,
            ':at': beatAt,
            ':expires': expiryOf(beatAt + ahead()),
            ...(leaving ? { ':leaving': true } : {}),
            ...(restarting ? { ':restarting': true } : {}),
          },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return written === undefined || (written.Beat !== undefined && written.Evicted === undefined);
    },
    read: async (fleet) => fleetOf(await rowsUnder(fleet)),
    evict: (fleet, node, beat) =>
      updated(nodeKeyOf(fleet, node), {
        UpdateExpression: 'SET Evicted = :evicted',
        ConditionExpression: 'Beat = :beat AND attribute_not_exists(Evicted)',
        ExpressionAttributeValues: { ':evicted': true, ':beat': beat },
      }),
    take: async (fleet, { partition, owner, fence }, by, at) => {
      const isNew = owner === undefined && fence === 0;
      const answer = await update(leaseKey(fleet, partition), {
        UpdateExpression: `SET #Owner = :by, Fence = :next, Since = :at, ${VERSION_AT_FIRST} REMOVE #Next, CheckpointNo`,
        ConditionExpression: isNew
          ? 'attribute_not_exists(Fence)'
          : `Fence = :fence AND ${owner === undefined ? 'attribute_not_exists(#Owner)' : '#Owner = :owner'}`,
        ExpressionAttributeNames: { ...OWNER, ...NEXT },
        ExpressionAttributeValues: {
          ':by': by,
          ':next': fence + 1,
          ':at': at,
          ':version': versionOf('fleet lease'),
          ...(isNew ? {} : { ':fence': fence }),
          ...(owner === undefined ? {} : { ':owner': owner }),
        },
        ReturnValues: 'ALL_NEW',
      });
      return answer?.Attributes && leaseOf(answer.Attributes);
    },
    ask: (fleet, { partition, owner, fence }, by) =>
      updated(leaseKey(fleet, partition), {
        UpdateExpression: 'SET #Next = :by',
        ConditionExpression: '#Owner = :owner AND Fence = :fence AND attribute_not_exists(#Next)',
        ExpressionAttributeNames: { ...OWNER, ...NEXT },
        ExpressionAttributeValues: { ':by': by, ':owner': owner, ':fence': fence },
      }),
    decline: (fleet, held, asker) =>
      byOwner(fleet, held, {
        UpdateExpression: 'REMOVE #Next',
        condition: ' AND #Next = :asker',
        names: NEXT,
        values: { ':asker': asker },
      }),
    handOver: (fleet, held, to, at) =>
      byOwner(
        fleet,
        held,
        to === undefined
          ? { UpdateExpression: 'REMOVE #Owner, #Next, Since, CheckpointNo', names: NEXT }
          : {
              UpdateExpression: 'SET #Owner = :to, Fence = :next, Since = :at REMOVE #Next, CheckpointNo',
              names: NEXT,
              values: { ':to': to, ':next': held.fence + 1, ':at': at },
            },
      ),
    open: async (fleet, lease) => {
      const opened = await raiseFence(client, table, fleet, lease);
      if (!opened || lease.checkpointApart) return opened;
      // Write into the lease where the checkpoint is, before the first checkpoint is stored there. The next owner reads
      // the checkpoint from the place that the lease names.
      const isMine = await byOwner(fleet, lease as Held, {
        UpdateExpression: 'SET CheckpointApart = :apart REMOVE Checkpoint, CheckpointNo',
        values: { ':apart': true },
      });
      return isMine ? opened : undefined;
    },
    checkpoint: async (fleet, { partition, owner, fence, checkpointApart }, text, count) => {
      const key = checkpointApart ? checkpointKey(fleet, partition) : leaseKey(fleet, partition);
      const stored = await unlessWritten(
        send(key, {
          UpdateExpression: 'SET Checkpoint = :text, CheckpointNo = :count',
          ConditionExpression: `Fence = :fence AND (attribute_not_exists(CheckpointNo) OR CheckpointNo < :count)${checkpointApart ? '' : ' AND #Owner = :me'}`,
          ...(checkpointApart ? {} : { ExpressionAttributeNames: OWNER }),
          ExpressionAttributeValues: {
            ':fence': fence,
            ':text': text,
            ':count': count,
            ...(checkpointApart ? {} : { ':me': owner }),
          },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return stored === undefined || (stored.Fence === fence && (checkpointApart || stored.Owner === owner));
    },
    checkpointOf: (fleet, partition) => readCheckpoint(client, table, fleet, partition),
    leave: async (fleet, node) => {
      await client.send(new DeleteCommand({ TableName: table, Key: nodeKeyOf(fleet, node) }));
    },
    names: async () => (await rowsUnder(NAMES)).map(({ Entry }) => Entry as FleetName),
    drain: (fleet, node, draining) =>
      updated(nodeKeyOf(fleet, node), {
        UpdateExpression: draining ? 'SET Draining = :draining' : 'REMOVE Draining',
        ConditionExpression: 'attribute_exists(Entry)',
        ...(draining ? { ExpressionAttributeValues: { ':draining': true } } : {}),
      }),
    separate: async (fleet) => {
      const { Version, ...key } = apartRow(fleet);
      await send(key, {
        UpdateExpression: 'SET Version = :version',
        ExpressionAttributeValues: { ':version': Version },
      });
    },
    pin: (fleet, partition, to: NodeKey | undefined) =>
      updated(leaseKey(fleet, partition), {
        UpdateExpression: to === undefined ? 'REMOVE Pin' : 'SET Pin = :to',
        ConditionExpression: 'attribute_exists(Entry)',
        ...(to === undefined ? {} : { ExpressionAttributeValues: { ':to': to } }),
      }),
  };
};

/**
 * Returns the current row if a conditional write was refused, and undefined if the write was done. A write is also
 * refused if the same write, or a later write, was done before.
 */
const unlessWritten = async (write: Promise<unknown>): Promise<Item | undefined> => {
  try {
    await write;
    return undefined;
  } catch (cause) {
    if (!(cause instanceof ConditionalCheckFailedException)) throw cause;
    return cause.Item ? unmarshall(cause.Item) : {};
  }
};
