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
 * Inserts payload rows. An existing row may be this task's own, which a later run needs: a function that was suspended
 * for long must not overwrite it. Or an earlier task with the same id left it.
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
 * Overwrites the row that an earlier task with the same id left, and removes its expiry. DynamoDB may delete that row
 * right after it refused the insert; then this writes a new row.
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
 * Keeps a payload for another run, because nothing may expire while its task is unfinished. If the payload has expired
 * already, the task's batch reports it as missing.
 */
export const keepPayload = (client: DynamoDBDocumentClient, table: string, task: Task) =>
  conditionally(
    client.send(
      new UpdateCommand({
        TableName: table,
        Key: payloadKey(task),
        UpdateExpression: 'SET #run = :next REMOVE ExpiresAt',
        // Refused for a run that began long ago: the task may have ended by now, so that its payload must expire.
        ConditionExpression: '#run <= :run',
        ExpressionAttributeNames: { '#run': 'Run' },
        ExpressionAttributeValues: { ':run': task.run, ':next': task.run + 1 },
      }),
    ),
  );

/**
 * Lets a payload row expire together with its task. The condition on the run keeps the payload while a later run is
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
