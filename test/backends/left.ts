/** Lists what a cloud still has of a stack. */
import { CloudFormationClient, paginateListStacks } from '@aws-sdk/client-cloudformation';
import {
  CloudWatchClient,
  GetDashboardCommand,
  paginateDescribeAlarms,
  ResourceNotFound,
} from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient, paginateDescribeLogGroups } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { IAMClient, paginateListRoles } from '@aws-sdk/client-iam';
import { LambdaClient, paginateListEventSourceMappings, paginateListFunctions } from '@aws-sdk/client-lambda';
import { paginateListQueues, SQSClient } from '@aws-sdk/client-sqs';
import { paginateDescribeParameters, SSMClient } from '@aws-sdk/client-ssm';
import { type Cloud, enter } from './cloud.ts';

/** The length to which CloudFormation shortens a stack's name in names of up to 64 characters. */
const SHORTENED = 24;

type Names = readonly (string | undefined)[];

/** Lists all names of each kind of resource. */
const KINDS: Readonly<Record<string, (prefix: string, cloud: Cloud) => AsyncIterable<Names>>> = {
  stack: async function* () {
    for await (const { StackSummaries = [] } of paginateListStacks({ client: new CloudFormationClient() }, {}))
      yield StackSummaries.filter(({ StackStatus }) => StackStatus !== 'DELETE_COMPLETE').map((each) => each.StackName);
  },
  table: async function* () {
    for await (const { TableNames = [] } of paginateListTables({ client: new DynamoDBClient() }, {})) yield TableNames;
  },
  queue: async function* () {
    for await (const { QueueUrls = [] } of paginateListQueues({ client: new SQSClient() }, { MaxResults: 1_000 }))
      yield QueueUrls;
  },
  function: async function* () {
    for await (const { Functions = [] } of paginateListFunctions({ client: new LambdaClient() }, {}))
      yield Functions.map((each) => each.FunctionName);
  },
  'event source': async function* () {
    const pages = paginateListEventSourceMappings({ client: new LambdaClient() }, {});
    for await (const { EventSourceMappings = [] } of pages) yield EventSourceMappings.map((each) => each.FunctionArn);
  },
  role: async function* () {
    for await (const { Roles = [] } of paginateListRoles({ client: new IAMClient() }, {}))
      yield Roles.map((each) => each.RoleName);
  },
  'log group': async function* () {
    for await (const { logGroups = [] } of paginateDescribeLogGroups({ client: new CloudWatchLogsClient() }, {}))
      yield logGroups.map((each) => each.logGroupName);
  },
  parameter: async function* () {
    for await (const { Parameters = [] } of paginateDescribeParameters({ client: new SSMClient() }, {}))
      yield Parameters.map((each) => each.Name);
  },
  alarm: async function* () {
    for await (const { MetricAlarms = [] } of paginateDescribeAlarms({ client: new CloudWatchClient() }, {}))
      yield MetricAlarms.map((each) => each.AlarmName);
  },
  // By its name: the emulator lists dashboards with times that the client cannot parse.
  dashboard: async function* (prefix, { region }) {
    const DashboardName = `${prefix}Ops-${region}`;
    try {
      await new CloudWatchClient().send(new GetDashboardCommand({ DashboardName }));
      yield [DashboardName];
    } catch (cause) {
      if (!(cause instanceof ResourceNotFound)) throw cause;
    }
  },
};

/** The resources of all stacks whose names begin with `prefix`, each with its kind. */
export const leftOf = async (cloud: Cloud, prefix: string): Promise<string[]> => {
  enter(cloud);
  const found: string[] = [];
  for (const [kind, pages] of Object.entries(KINDS))
    for await (const names of pages(prefix, cloud))
      for (const name of names) if (name?.includes(prefix.slice(0, SHORTENED))) found.push(`${kind} ${name}`);
  return found;
};

/** The number of resources of each kind. */
export const countOf = (found: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    Object.keys(KINDS).map((kind) => [kind, found.filter((each) => each.startsWith(`${kind} `)).length]),
  );

/** The counts of a whole stage without destinations, and with one operation that has a circuit. */
export const WHOLE_STAGE = {
  stack: 3,
  table: 7,
  queue: 9,
  function: 6,
  'event source': 4,
  role: 6,
  'log group': 6,
  parameter: 1,
  alarm: 48,
  dashboard: 1,
};

/**
 * The counts of a stage with destinations: in addition a queue with its dead-letter queue, and the callback function.
 */
export const STAGE_WITH_CALLBACKS = {
  stack: 3,
  table: 7,
  queue: 12,
  function: 7,
  'event source': 5,
  role: 7,
  'log group': 7,
  parameter: 1,
  alarm: 138,
  dashboard: 1,
};
