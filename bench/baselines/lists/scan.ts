/**
 * The first variant: each job is a row with a status. A claimer finds the first waiting row and marks the row, on
 * condition that the row still waits.
 *
 * The variant is as efficient as possible. The list is one partition, read in order, page by page. Reads are eventually
 * consistent at half the price, because the condition of the write decides. A claimer whose write is refused tries the
 * next row of the same page instead of reading again.
 */
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionally } from '../../../src/aws/dynamodb.ts';
import type { Item } from '../../../src/rows/item.ts';
import { completeRow, putJobRows } from './job-rows.ts';
import type { JobTable, Taken, Way } from './variant.ts';

/**
 * The number of rows per request. A long list needs few requests, and for a short list not much more than needed is
 * read.
 */
const PAGE = 1_000;

export const scanning = async (jobs: JobTable): Promise<Way> => {
  await putJobRows(jobs, 0, jobs.jobs, 'waiting');
  let gone = 0;
  return {
    advance: async (done) => {
      await putJobRows(jobs, gone, done, 'done');
      gone = done;
    },
    claim: async () => {
      let start: Item | undefined;
      do {
        const page = await waiting(jobs, start);
        for (const row of page.rows)
          if (await isMine(jobs, row)) return { job: row.Job, payload: row.Payload } as Taken;
        start = page.next;
      } while (start);
      return undefined;
    },
    complete: (taken) => completeRow(jobs, taken),
  };
};

const STATUS = { '#status': 'Status' };

const waiting = async ({ client, table, list }: JobTable, start: Item | undefined) => {
  const { Items = [], LastEvaluatedKey } = await client.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'Id = :list',
      FilterExpression: '#status = :waiting',
      ExpressionAttributeNames: STATUS,
      ExpressionAttributeValues: { ':list': list, ':waiting': 'waiting' },
      Limit: PAGE,
      ExclusiveStartKey: start,
    }),
  );
  return { rows: Items, next: LastEvaluatedKey };
};

const isMine = async ({ client, table }: JobTable, { Id, Job }: Item): Promise<boolean> => {
  const update = new UpdateCommand({
    TableName: table,
    Key: { Id, Job },
    UpdateExpression: 'SET #status = :leased',
    ConditionExpression: '#status = :waiting',
    ExpressionAttributeNames: STATUS,
    ExpressionAttributeValues: { ':leased': 'leased', ':waiting': 'waiting' },
  });
  return (await conditionally(client.send(update))) !== undefined;
};
