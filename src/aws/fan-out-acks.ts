/** Acks of a fan-out's nodes in DynamoDB (T3): one conditional update acks up to 150 places of a row. */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { type FanOutId, isNumbered } from '../domain/fan-out-ids.ts';
import type { Position } from '../domain/fan-outs/tree.ts';
import type { Millis } from '../domain/ids.ts';
import type { Acked, Slots } from '../ports/fan-outs.ts';
import { countsOf, nodeKey, nodeOf } from '../rows/fan-out-rows.ts';

/** Writes the outcomes of places in a node if all of these places are empty. Otherwise returns the row unchanged. */
export const ackNode = async (
  client: DynamoDBDocumentClient,
  table: string,
  id: FanOutId,
  position: Position,
  slots: Slots,
): Promise<Acked> => {
  try {
    const { Attributes = {} } = await client.send(new UpdateCommand(ackInput(table, id, position, slots)));
    return { isWritten: true, node: isWhole(id, position) ? nodeOf(Attributes) : countsOf(Attributes) };
  } catch (cause) {
    if (!(cause instanceof ConditionalCheckFailedException)) throw cause;
    return { isWritten: false, node: cause.Item && nodeOf(unmarshall(cause.Item)) };
  }
};

/** T11. Changes places of a group from failed to succeeded. If one of them is not failed, returns the row unchanged. */
export const correctGroup = async (
  client: DynamoDBDocumentClient,
  table: string,
  id: FanOutId,
  group: number,
  indexes: readonly number[],
  at: Millis,
): Promise<Acked> => {
  try {
    const { Attributes = {} } = await client.send(
      new UpdateCommand({
        TableName: table,
        Key: nodeKey(id, { level: 0, n: group }),
        UpdateExpression: `SET ${indexes.map((index) => `r[${index}]=:y`).join(',')},Seen=:t ADD f :f`,
        ConditionExpression: indexes.map((index) => `r[${index}]=:n`).join(' AND '),
        ExpressionAttributeValues: { ':y': true, ':n': false, ':f': -indexes.length, ':t': at },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return { isWritten: true, node: countsOf(Attributes) };
  } catch (cause) {
    if (!(cause instanceof ConditionalCheckFailedException)) throw cause;
    return { isWritten: false, node: cause.Item && nodeOf(unmarshall(cause.Item)) };
  }
};

/** T9. Whether the contents of a node's places matter, not only the counts, so that the whole row is needed. */
const isWhole = (id: FanOutId, { level }: Position): boolean => level === 0 && isNumbered(id);

/**
 * Builds the update. Its names are short, because one expression covers up to 150 items and has at most 4,096 bytes.
 */
const ackInput = (
  table: string,
  id: FanOutId,
  position: Position,
  { slots, failed, at }: Slots,
): UpdateCommandInput => {
  const all = [...slots];
  const set = all.map(([slot, succeeded]) => `r[${slot}]=${succeeded ? ':y' : ':n'}`);
  const has = (outcome: boolean): boolean => all.some(([, succeeded]) => succeeded === outcome);
  return {
    TableName: table,
    Key: nodeKey(id, position),
    UpdateExpression: `SET ${set.join(',')},Seen=:t ADD k :k,f :f`,
    ConditionExpression: all.map(([slot]) => `r[${slot}]=:u`).join(' AND '),
    ExpressionAttributeValues: {
      ':u': null,
      ':k': -all.length,
      ':f': failed,
      ':t': at,
      ...(has(true) ? { ':y': true } : {}),
      ...(has(false) ? { ':n': false } : {}),
    },
    // Return the whole row only if it is needed, because its places are six kilobytes of JSON.
    ReturnValues: isWhole(id, position) ? 'ALL_NEW' : 'UPDATED_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
};
