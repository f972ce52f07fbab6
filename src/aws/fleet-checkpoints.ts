/**
 * Checkpoints of fleets (decision 30). Each checkpoint has a row under its own partition key, so that reads of the
 * fleet and of other partitions do not use up the throughput of that key.
 *
 * The row stores the fence of the owner that opened it last. A new owner raises the fence in the same write that reads
 * the checkpoint. The new owner therefore reads every checkpoint that an earlier owner stored before this write.
 * Checkpoints that an earlier owner sends after this write are refused.
 */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Lease } from '../domain/fleets/fleet.ts';
import type { FleetName, PartitionId } from '../domain/fleets/ids.ts';
import type { Opened } from '../ports/fleets.ts';
import { checkpointKey, openedOf } from '../rows/fleet-rows.ts';
import { NOT_NEWER, readable, readsUpTo, VERSION_AT_FIRST, versionOf } from '../rows/row-version.ts';

/**
 * Raises the fence and reads the checkpoint. A repeated call does no harm. If the checkpoint is still in the lease's
 * row, it is copied to its own row.
 *
 * @returns undefined if a later owner has opened the checkpoint
 * @throws NewerRow
 */
export const raiseFence = async (
  client: DynamoDBDocumentClient,
  table: string,
  fleet: FleetName,
  { partition, fence, checkpoint, checkpointApart }: Lease,
): Promise<Opened | undefined> => {
  const copied = checkpointApart ? undefined : checkpoint;
  try {
    const { Attributes = {} } = await client.send(
      new UpdateCommand({
        TableName: table,
        Key: checkpointKey(fleet, partition),
        UpdateExpression: `SET Fence = :fence, ${VERSION_AT_FIRST}${copied === undefined ? '' : ', Checkpoint = :copied'} REMOVE CheckpointNo`,
        ConditionExpression: `(attribute_not_exists(Fence) OR Fence < :fence) AND ${NOT_NEWER}`,
        ExpressionAttributeValues: {
          ':fence': fence,
          ':version': versionOf('fleet checkpoint'),
          ':reads': readsUpTo('fleet checkpoint'),
          ...(copied === undefined ? {} : { ':copied': copied }),
        },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return openedOf(Attributes);
  } catch (cause) {
    if (!(cause instanceof ConditionalCheckFailedException) || !cause.Item) throw cause;
    const row = readable('fleet checkpoint', unmarshall(cause.Item));
    // An equal fence means that an earlier request of this owner was done, although its answer was lost.
    return row.Fence === fence ? openedOf(row) : undefined;
  }
};

/**
 * Reads the checkpoint in its own row, if there is one.
 * @throws NewerRow
 */
export const readCheckpoint = async (
  client: DynamoDBDocumentClient,
  table: string,
  fleet: FleetName,
  partition: PartitionId,
): Promise<string | undefined> => {
  const { Fleet, Entry } = checkpointKey(fleet, partition);
  const { Items: [row] = [] } = await client.send(
    new QueryCommand({
      TableName: table,
      // Use a query, so that the workers of a fleet need no other read permission.
      KeyConditionExpression: 'Fleet = :fleet AND Entry = :entry',
      ExpressionAttributeValues: { ':fleet': Fleet, ':entry': Entry },
      ConsistentRead: true,
    }),
  );
  return row && openedOf(row).checkpoint;
};
