/**
 * The second variant: the list's row has the ids of the waiting jobs in order. A claimer removes the first id, on
 * condition that this id is still the first. The state of a claimed job is in the job's own row.
 *
 * The variant is as efficient as possible. A read returns only the first id, though DynamoDB charges for the whole row.
 * The read is strongly consistent, because a stale read causes a refused write, and a refused write costs more than any
 * read. A set instead of a list would cause fewer refusals for the same bytes, but loses the order.
 */
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionally } from '../../../src/aws/dynamodb.ts';
import { completeRow } from './job-rows.ts';
import { type JobTable, jobIdOf, RowTooLarge, type Way } from './variant.ts';

/** The name of the list's row, which is in the same table as the rows of jobs. */
const WAITING = 'waiting';

export const popping = async (jobs: JobTable): Promise<Way> => {
  const advance = (done: number): Promise<void> => putWaiting(jobs, done);
  await advance(0);
  return {
    advance,
    claim: async () => {
      for (;;) {
        const first = await firstOf(jobs);
        if (first === undefined) return undefined;
        if (await isPopped(jobs, first)) return { job: first, payload: await payloadAt(jobs, first) };
      }
    },
    complete: (taken) => completeRow(jobs, taken),
  };
};

const keyOf = ({ list }: JobTable) => ({ Id: list, Job: WAITING });

const putWaiting = async (jobs: JobTable, from: number): Promise<void> => {
  const Waiting = Array.from({ length: jobs.jobs - from }, (_, index) => jobIdOf(from + index));
  try {
    await jobs.client.send(
      new UpdateCommand({
        TableName: jobs.table,
        Key: keyOf(jobs),
        UpdateExpression: 'SET Waiting = :waiting',
        ExpressionAttributeValues: { ':waiting': Waiting },
      }),
    );
  } catch (cause) {
    if (cause instanceof Error && /size.*exceeded/i.test(cause.message)) throw new RowTooLarge(jobs.jobs, cause);
    throw cause;
  }
};

const firstOf = async (jobs: JobTable): Promise<string | undefined> => {
  const { Item } = await jobs.client.send(
    new GetCommand({
      TableName: jobs.table,
      Key: keyOf(jobs),
      ConsistentRead: true,
      ProjectionExpression: 'Waiting[0]',
    }),
  );
  return (Item?.Waiting as string[] | undefined)?.[0];
};

const isPopped = async (jobs: JobTable, first: string): Promise<boolean> => {
  const update = new UpdateCommand({
    TableName: jobs.table,
    Key: keyOf(jobs),
    UpdateExpression: 'REMOVE Waiting[0]',
    ConditionExpression: 'Waiting[0] = :first',
    ExpressionAttributeValues: { ':first': first },
  });
  return (await conditionally(jobs.client.send(update))) !== undefined;
};

const payloadAt = async ({ client, table, list }: JobTable, job: string): Promise<string> => {
  const { Item } = await client.send(new GetCommand({ TableName: table, Key: { Id: list, Job: job } }));
  return Item?.Payload as string;
};
