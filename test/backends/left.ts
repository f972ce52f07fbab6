/** What a cloud still has of a stack. */
import { CloudFormationClient, paginateListStacks } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { IAMClient, paginateListRoles } from '@aws-sdk/client-iam';
import { LambdaClient, paginateListFunctions } from '@aws-sdk/client-lambda';
import { paginateListQueues, SQSClient } from '@aws-sdk/client-sqs';
import { type Cloud, enter } from './cloud.ts';

/** The stacks, tables, queues, functions and roles whose names begin so. */
export const leftOf = async (cloud: Cloud, prefix: string): Promise<string[]> => {
  enter(cloud);
  const found: string[] = [];
  const note = (kind: string, names: readonly (string | undefined)[] = []): void => {
    for (const name of names) if (name?.split('/').at(-1)?.startsWith(prefix)) found.push(`${kind} ${name}`);
  };
  for await (const { StackSummaries = [] } of paginateListStacks({ client: new CloudFormationClient() }, {}))
    note(
      'stack',
      StackSummaries.filter(({ StackStatus }) => StackStatus !== 'DELETE_COMPLETE').map(({ StackName }) => StackName),
    );
  for await (const { TableNames } of paginateListTables({ client: new DynamoDBClient() }, {}))
    note('table', TableNames);
  for await (const { QueueUrls } of paginateListQueues({ client: new SQSClient() }, { QueueNamePrefix: prefix }))
    note('queue', QueueUrls);
  for await (const { Functions = [] } of paginateListFunctions({ client: new LambdaClient() }, {}))
    note(
      'function',
      Functions.map(({ FunctionName }) => FunctionName),
    );
  for await (const { Roles = [] } of paginateListRoles({ client: new IAMClient() }, {}))
    note(
      'role',
      Roles.map(({ RoleName }) => RoleName),
    );
  return found;
};
