/**
 * Payloads in rows of their own in DynamoDB: storing them, keeping them for another run, and letting them expire
 * (docs/decisions/0004).
 */
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import pLimit from 'p-limit';
import type { PayloadToStore, Task } from '../domain/tasks/task.ts';
import { NOT_NEWER, readsUpTo, versionOf } from '../rows/row-version.ts';
import { payloadKey, payloadRow } from '../rows/task-rows.ts';
import { CONCURRENCY, conditionally, execute, insertion, type Statement } from './dynamodb.ts';

/**
 * Inserts payload rows. If a row exists, there are two cases. The row may belong to this task: a later run needs it, so
 * a function that was suspended for long must not overwrite it. Or an earlier task with the same id left the row.
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
  const there = payloads.filter((_, index) => !inserted[index]);
  await pLimit(CONCURRENCY).map(there, (payload) => takeOver(client, table, payload));
};

/**
 * Overwrites the row that an earlier task with the same id left, and removes its expiry. If DynamoDB deletes that row
 * right after it refused the insert, this update writes a new row.
 */
const takeOver = (client: DynamoDBDocumentClient, table: string, task: PayloadToStore) =>
  conditionally(
    client.send(
      new UpdateCommand({
        TableName: table,
        Key: payloadKey(task),
        UpdateExpression: 'SET Payload = :payload, CreatedAt = :at, #run = :run, Version = :version REMOVE ExpiresAt',
        ConditionExpression: `(attribute_not_exists(CreatedAt) OR CreatedAt < :at) AND ${NOT_NEWER}`,
        ExpressionAttributeNames: { '#run': 'Run' },
        ExpressionAttributeValues: {
          ':payload': task.payload,
          ':at': task.createdAt,
          ':run': task.run,
          ':reads': readsUpTo('payload'),
          ':version': versionOf('payload'),
        },
      }),
    ),
  );

/**
 * Keeps a payload for another run of its task, because no payload of an unfinished task may expire. If the payload has
 * expired already, the task's batch reports that the payload is missing.
 */
export const keepPayload = (client: DynamoDBDocumentClient, table: string, task: Task) =>
  conditionally(
    client.send(
      new UpdateCommand({
        TableName: table,
        Key: payloadKey(task),
        UpdateExpression: 'SET #run = :next REMOVE ExpiresAt',
        // Refuse the write for a run that began long ago. That run may have ended already, so that its payload must
        // expire.
        ConditionExpression: '#run <= :run',
        ExpressionAttributeNames: { '#run': 'Run' },
        ExpressionAttributeValues: { ':run': task.run, ':next': task.run + 1 },
      }),
    ),
  );

/**
 * Makes a payload row expire together with its task. The condition on the run keeps the payload while a later run is
 * unfinished.
 */
export const expiry = (
  table: string,
  { run, ...task }: Pick<Task, 'id' | 'payloadHash' | 'run'>,
  at: number,
): Statement => ({
  key: payloadKey(task),
  text: `UPDATE "${table}" SET "ExpiresAt"=? WHERE "Id"=? AND "Run"<=?`,
  parameters: [at, payloadKey(task).Id, run],
});
