/**
 * The second way: the list's row has the ids of the jobs that wait, in their order, and whoever claims takes the first
 * away if it still is the first. What he does then is in the job's own row.
 *
 * As well as it can be done: the first id alone comes over the wire, though DynamoDB charges for the whole row; and
 * consistent, since who reads late loses a write, which costs the most. A set in place of the list would lose less
 * often, for the same bytes, and forget the order.
 */
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionally } from '../../../src/aws/dynamodb.ts';
import { completeRow } from './job-rows.ts';
import { type JobTable, jobIdOf, RowTooLarge, type Way } from './variant.ts';

/** Beside the rows of jobs, which are there already. */
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
