/** The deployed resources whose metrics and logs a run reads. */
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Account, resourcesOf } from '../../account/stacks.ts';

export interface Resources {
  readonly tables: readonly { readonly name: string; readonly indexes: readonly string[] }[];
  /** Name of the table of tasks. */
  readonly taskTable: string;
  /** Names of queues. */
  readonly queues: readonly string[];
  /** Names of functions and of their log groups, by the names that the simulator uses. */
  readonly functions: Readonly<Record<string, { readonly name: string; readonly logGroup: string }>>;
  /** The service dimension of the instance's metrics. */
  readonly service: string;
}

/** The construct of each function (lib/flow-handlers.ts). */
const FUNCTIONS = {
  register: 'RegisterHandler',
  elect: 'ElectHandler',
  group: 'GroupHandler',
  batch: 'BatchHandler',
  sweep: 'SweepHandler',
  api: 'ApiHandler',
} as const;

export const readResources = async (
  account: Account,
  stacks: { readonly data: string; readonly flow: string },
): Promise<Resources> => {
  const dynamodb = new DynamoDBClient({ region: account.region });
  const [data, flow] = [await resourcesOf(account, stacks.data), await resourcesOf(account, stacks.flow)];
  const named = (type: string, part: string): string => {
    const found = [...data, ...flow].find((each) => each.type === type && each.logicalId.includes(part));
    if (!found) throw new Error(`the stacks have no ${type} ${part}`);
    return found.name;
  };
  const tables = data.filter(({ type }) => type === 'AWS::DynamoDB::Table').map(({ name }) => name);
  return {
    tables: await Promise.all(
      tables.map(async (name) => {
        const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: name }));
        return { name, indexes: (Table?.GlobalSecondaryIndexes ?? []).map(({ IndexName = '' }) => IndexName) };
      }),
    ),
    taskTable: named('AWS::DynamoDB::Table', 'TablesTask'),
    // CloudFormation names a queue by its URL.
    queues: flow.filter(({ type }) => type === 'AWS::SQS::Queue').map(({ name }) => name.split('/').at(-1) ?? ''),
    functions: Object.fromEntries(
      Object.entries(FUNCTIONS).map(([fn, part]) => [
        fn,
        { name: named('AWS::Lambda::Function', part), logGroup: named('AWS::Logs::LogGroup', part) },
      ]),
    ),
    service: stacks.flow,
  };
};
