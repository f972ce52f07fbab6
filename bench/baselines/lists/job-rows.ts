/** Rows of single jobs, for the variants without tokens. */
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { writeAll } from '../../../src/aws/dynamodb.ts';
import type { Item } from '../../../src/rows/item.ts';
import { payloadOf } from '../../lists/world.ts';
import { type JobTable, jobIdOf, type Taken } from './variant.ts';

export const createJobTable = async ({ client, table }: Pick<JobTable, 'client' | 'table'>): Promise<void> => {
  await client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'Id', KeyType: 'HASH' },
        { AttributeName: 'Job', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'Id', AttributeType: 'S' },
        { AttributeName: 'Job', AttributeType: 'S' },
      ],
    }),
  );
};

/** Writes the rows of the jobs in a range, in the state before or after the jobs are done. */
export const putJobRows = (
  { client, table, list }: JobTable,
  from: number,
  to: number,
  status: 'waiting' | 'done',
): Promise<void> =>
  writeAll(
    client,
    table,
    Array.from({ length: Math.max(0, to - from) }, (_, index): { readonly put: Item } => ({
      put: { Id: list, Job: jobIdOf(from + index), Status: status, Payload: payloadOf(from + index) },
    })),
  );

export const completeRow = async ({ client, table, list }: JobTable, { job }: Taken): Promise<void> => {
  await client.send(
    new UpdateCommand({
      TableName: table,
      Key: { Id: list, Job: job },
      UpdateExpression: 'SET #status = :done',
      ExpressionAttributeNames: { '#status': 'Status' },
      ExpressionAttributeValues: { ':done': 'done' },
    }),
  );
};
