/**
 * Removes the tables of a data stack that failed to be created, in the stage that keeps its data: they are protected
 * from deletion and outlive their stack, so its rollback leaves them. Nothing ever used them, since what does comes
 * after the data stack; one that holds something all the same is left alone.
 */
import {
  DeleteTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  ScanCommand,
  UpdateTableCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { inWords } from '../account/failures.ts';
import { type Account, eventsSince, findStack } from '../account/stacks.ts';
import { CommandFailure } from '../failure.ts';

/** The tables that a stack has made: from its events, since its list of resources loses what a rollback skipped. */
export const tablesOf = async (account: Account, stack: string): Promise<string[]> => {
  const found = await findStack(account, stack);
  const events = found ? await eventsSince(account, found.id, 0) : [];
  const tables = events
    .filter(({ ResourceType }) => ResourceType === 'AWS::DynamoDB::Table')
    .flatMap(({ PhysicalResourceId }) => (PhysicalResourceId ? [PhysicalResourceId] : []));
  return [...new Set(tables)];
};

/** @returns a sentence for each table that is there no more, or still. */
export const removeEmptyTables = async ({ region }: Account, tables: readonly string[]): Promise<string[]> => {
  const dynamodb = new DynamoDBClient({ region });
  const says: string[] = [];
  for (const table of tables) {
    try {
      await inWords(`remove the table ${table}`, region, () => removeIfEmpty(dynamodb, table));
      says.push(`the table ${table}, which was empty, is removed`);
    } catch (cause) {
      if (cause instanceof ResourceNotFoundException) continue;
      if (!(cause instanceof CommandFailure)) throw cause;
      says.push(`the table ${table} is left: ${cause.message}`);
    }
  }
  return says;
};

const removeIfEmpty = async (dynamodb: DynamoDBClient, TableName: string): Promise<void> => {
  const wait = { client: dynamodb, minDelay: 1, maxWaitTime: 120 };
  const { Count } = await dynamodb.send(new ScanCommand({ TableName, Limit: 1, ConsistentRead: true }));
  if (Count !== 0) throw new CommandFailure('it is not empty');
  await dynamodb.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
  await waitUntilTableExists(wait, { TableName });
  await dynamodb.send(new DeleteTableCommand({ TableName }));
};
