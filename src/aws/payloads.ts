/** Payloads in rows of their own, on DynamoDB: stored, kept for another run, let go (docs/decisions/0004). */
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import pLimit from 'p-limit';
import type { PayloadToStore, Task } from '../domain/tasks/task.ts';
import { NOT_NEWER, readsUpTo, versionOf } from '../rows/row-version.ts';
import { payloadKey, payloadRow } from '../rows/task-rows.ts';
import { CONCURRENCY, conditionally, execute, insertion, type Statement } from './dynamodb.ts';

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
  const there = payloads.filter((_, index) => !inserted[index]);
  await pLimit(CONCURRENCY).map(there, (payload) => takeOver(client, table, payload));
};

/**
 * Overwrites the row of an earlier task that had the id, with its expiry. DynamoDB may delete that row just after it refused the
 * insert: then this writes the row anew.
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

/** Nothing expires while it is unfinished. A payload that has expired already is missed by the task's batch. */
export const keepPayload = (client: DynamoDBDocumentClient, table: string, task: Task) =>
  conditionally(
    client.send(
      new UpdateCommand({
        TableName: table,
        Key: payloadKey(task),
        UpdateExpression: 'SET #run = :next REMOVE ExpiresAt',
        // Not for a run that began long ago: by now it may be over, and expire.
        ConditionExpression: '#run <= :run',
        ExpressionAttributeNames: { '#run': 'Run' },
        ExpressionAttributeValues: { ':run': task.run, ':next': task.run + 1 },
      }),
    ),
  );

/** A payload in a row of its own goes when its task goes: until that is finished, in whichever run, it must not. */
export const expiry = (
  table: string,
  { run, ...task }: Pick<Task, 'id' | 'payloadHash' | 'run'>,
  at: number,
): Statement => ({
  key: payloadKey(task),
  text: `UPDATE "${table}" SET "ExpiresAt"=? WHERE "Id"=? AND "Run"<=?`,
  parameters: [at, payloadKey(task).Id, run],
});
