/** Payloads in rows of their own, on DynamoDB (docs/decisions/0004). */
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import pLimit from 'p-limit';
import type { PayloadToStore } from '../batching/task.ts';
import { conditionally, execute, insertion } from './dynamodb.ts';
import { payloadKey, payloadRow } from './task-rows.ts';

const CONCURRENCY = 8;

/**
 * Inserts rows. One that is there is the task's own, and may be wanted by a later run than the one that is known here: a
 * function that stood still since then must not write it again. Or it was left by a task that had the id before.
 */
export const storePayloads = async (
  client: DynamoDBDocumentClient,
  table: string,
  payloads: readonly PayloadToStore[],
): Promise<void> => {
  const inserted = await execute(
    client,
    payloads.map((payload) => insertion(table, payloadRow(payload))),
  );
  const limit = pLimit(CONCURRENCY);
  const there = payloads.filter((_, index) => !inserted[index]);
  await Promise.all(there.map((payload) => limit(() => takeOver(client, table, payload))));
};

/** The row of an earlier task that expired: its time to live is the other one's. */
const takeOver = (client: DynamoDBDocumentClient, table: string, task: PayloadToStore) =>
  conditionally(
    client.send(
      new UpdateCommand({
        TableName: table,
        Key: payloadKey(task),
        UpdateExpression: 'SET Payload = :payload, CreatedAt = :at, #run = :run REMOVE ExpiresAt',
        ConditionExpression: 'CreatedAt < :at',
        ExpressionAttributeNames: { '#run': 'Run' },
        ExpressionAttributeValues: { ':payload': task.payload, ':at': task.createdAt, ':run': task.run },
      }),
    ),
  );
