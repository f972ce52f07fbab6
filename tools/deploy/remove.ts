/**
 * Removes stacks of a stage, and checks that they are gone.
 *
 * The tables of a stage that keeps its data are protected and retained, so they remain after the rollback of a data
 * stack whose creation failed. No function has used them, because functions are created after the data stack. A table
 * that is not empty is kept anyway.
 */

import {
  DeleteTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  ScanCommand,
  UpdateTableCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { EXAMPLE_CONFIG } from '../../src/config/load.ts';
import { inWords } from '../account/failures.ts';
import { type Account, eventsSince, findStack } from '../account/stacks.ts';
import { CommandFailure } from '../failure.ts';
import { causesIn } from './causes.ts';
import { cdk } from './cdk.ts';

export interface ToRemove {
  readonly stage: string;
  readonly remove: readonly string[];
  /** The data stack whose empty tables are removed too, because the removal of the stack would retain them. */
  readonly tablesOf?: string;
}

export interface Removed {
  readonly says: readonly string[];
  /** Stacks and tables that could not be removed, with the reasons. */
  readonly problems: readonly string[];
}

/** @param signal ends the waiting; CloudFormation continues with removals that have started. */
export const removeStacks = async (
  account: Account,
  { stage, remove, tablesOf: owner }: ToRemove,
  signal: AbortSignal,
): Promise<Removed> => {
  const from = Date.now();
  const tables = owner === undefined ? [] : await tablesOf(account, owner);
  // Use the example configuration: the names of stacks depend only on the stage, and the user's configuration may be invalid.
  const settings = { stage, config: EXAMPLE_CONFIG, region: account.region };
  if (remove.length > 0) await cdk(settings, 'destroy', ...remove, '--exclusively', '--force');
  const [says, problems]: [string[], string[]] = [[], []];
  for (const name of remove) {
    const left = await findStack(account, name);
    if (left === undefined) says.push(`${name} is removed`);
    else
      problems.push(
        [`${name} still exists (${left.status})`, ...(await causesIn(account, left.id, from))].join('\n  '),
      );
  }
  if (!signal.aborted) says.push(...(await removeEmptyTables(account, tables)));
  else if (tables.length > 0) problems.push(`these tables remain, and no stack owns them: ${tables.join(', ')}`);
  return { says, problems };
};

/** The tables that a stack created, from its events: its list of resources omits resources that a rollback skipped. */
const tablesOf = async (account: Account, stack: string): Promise<string[]> => {
  const found = await findStack(account, stack);
  const events = found ? await eventsSince(account, found.id, 0) : [];
  const tables = events
    .filter(({ ResourceType }) => ResourceType === 'AWS::DynamoDB::Table')
    .flatMap(({ PhysicalResourceId }) => (PhysicalResourceId ? [PhysicalResourceId] : []));
  return [...new Set(tables)];
};

/** @returns a sentence for each table: removed, or kept and why. */
const removeEmptyTables = async ({ region }: Account, tables: readonly string[]): Promise<string[]> => {
  const dynamodb = new DynamoDBClient({ region });
  const says: string[] = [];
  for (const table of tables) {
    try {
      await inWords(`remove the table ${table}`, region, () => removeIfEmpty(dynamodb, table));
      says.push(`the empty table ${table} is removed`);
    } catch (cause) {
      if (cause instanceof ResourceNotFoundException) continue;
      if (!(cause instanceof CommandFailure)) throw cause;
      says.push(`the table ${table} remains: ${cause.message}`);
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
