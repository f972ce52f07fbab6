/** Reads the actual settings of a deployed stack: functions, queues and tables. Uses the user's own credentials. */
import { type CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { DescribeTimeToLiveCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  type EventSourceMappingConfiguration,
  type FunctionConfiguration,
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
  paginateListEventSourceMappings,
} from '@aws-sdk/client-lambda';
import { SQSClient } from '@aws-sdk/client-sqs';
import {
  ENVIRONMENT,
  type Environment,
  indexesOf,
  optionalSetting,
  type Setting,
} from '../../src/domain/deployed/environment.ts';
import { SECOND } from '../../src/domain/timings.ts';
import { queueAttributes } from './queue-attributes.ts';
import type { Deployed, QueueSettings, WorkerSettings, WorkingQueueName } from './settings.ts';

/** AWS clients of one region, with the same credentials. */
export interface DeployedClients {
  readonly cloudFormation: CloudFormationClient;
  readonly lambda: LambdaClient;
  readonly sqs: SQSClient;
  readonly dynamodb: DynamoDBClient;
}

/** Clients with the credentials and region of the given client. */
export const clientsLike = (cloudFormation: CloudFormationClient): DeployedClients => {
  const { credentials, region } = cloudFormation.config;
  const same = { credentials, region };
  return {
    cloudFormation,
    lambda: new LambdaClient(same),
    sqs: new SQSClient(same),
    dynamodb: new DynamoDBClient(same),
  };
};

const WORKING: Readonly<Record<WorkingQueueName, Setting>> = {
  register: 'registerQueue',
  elect: 'electQueue',
  group: 'groupQueue',
  batch: 'batchQueue',
  callback: 'callbackQueue',
};

/**
 * @param stack name or ARN of the stack.
 * @param service service of the instance in it. Functions of other instances are skipped.
 */
export const readDeployed = async (clients: DeployedClients, stack: string, service: string): Promise<Deployed> => {
  const names = await functionsOf(clients, stack);
  const all = await Promise.all(names.map((name) => describe(clients, name)));
  // A user's own stack may contain other functions.
  const functions = all.filter(({ environment }) => environment[ENVIRONMENT.stack] === service);
  const settings: Environment = Object.assign({}, ...functions.map(({ environment }) => environment));
  const queues = await Promise.all(
    Object.entries(WORKING).flatMap(([queue, name]) => {
      const url = optionalSetting(settings, name);
      return url === undefined ? [] : [queueOf(clients, queue as WorkingQueueName, url, functions)];
    }),
  );
  const tables = Object.keys(ENVIRONMENT).filter((name) => name.endsWith('Table')) as Setting[];
  return {
    queues,
    functions: functions.map(({ name }) => name),
    tables: await Promise.all(
      tables.flatMap((table) => {
        const name = optionalSetting(settings, table);
        return name === undefined ? [] : [tableOf(clients, name, table)];
      }),
    ),
  };
};

const functionsOf = async ({ cloudFormation }: DeployedClients, StackName: string): Promise<string[]> => {
  const names: string[] = [];
  for await (const { StackResourceSummaries = [] } of paginateListStackResources(
    { client: cloudFormation },
    { StackName },
  ))
    for (const { ResourceType, PhysicalResourceId } of StackResourceSummaries)
      if (ResourceType === 'AWS::Lambda::Function' && PhysicalResourceId) names.push(PhysicalResourceId);
  return names;
};

interface FunctionOf {
  readonly name: string;
  readonly environment: Environment;
  readonly configuration: FunctionConfiguration;
  readonly sources: readonly EventSourceMappingConfiguration[];
  readonly reserved: number | undefined;
}

const describe = async ({ lambda }: DeployedClients, FunctionName: string): Promise<FunctionOf> => {
  const sources: EventSourceMappingConfiguration[] = [];
  const [configuration, { ReservedConcurrentExecutions: reserved }] = await Promise.all([
    lambda.send(new GetFunctionConfigurationCommand({ FunctionName })),
    lambda.send(new GetFunctionConcurrencyCommand({ FunctionName })),
  ]);
  for await (const { EventSourceMappings = [] } of paginateListEventSourceMappings(
    { client: lambda },
    { FunctionName },
  ))
    sources.push(...EventSourceMappings);
  return {
    name: FunctionName,
    environment: configuration.Environment?.Variables ?? {},
    configuration,
    sources,
    reserved,
  };
};

const queueOf = async (
  { sqs }: DeployedClients,
  queue: WorkingQueueName,
  url: string,
  functions: readonly FunctionOf[],
): Promise<QueueSettings> => {
  const name = url.split('/').at(-1);
  const [worker] = functions.flatMap((fn) =>
    fn.sources
      .filter(({ EventSourceArn }) => EventSourceArn?.split(':').at(-1) === name)
      .map((each) => workerOf(fn, each)),
  );
  return { queue, ...(await queueAttributes(sqs, url)), ...(worker ? { worker } : {}) };
};

const workerOf = (
  { configuration: { Timeout = 0 }, reserved }: FunctionOf,
  { BatchSize = 10, FunctionResponseTypes = [], State = '', ScalingConfig }: EventSourceMappingConfiguration,
): WorkerSettings => ({
  timeout: Timeout * SECOND,
  batchSize: BatchSize,
  reportsFailures: FunctionResponseTypes.includes('ReportBatchItemFailures'),
  isOn: !/^Disabl/.test(State),
  ...(ScalingConfig?.MaximumConcurrency === undefined ? {} : { maxConcurrency: ScalingConfig.MaximumConcurrency }),
  ...(reserved === undefined ? {} : { reserved }),
});

const tableOf = async (
  clients: DeployedClients,
  name: string,
  table: Setting,
): Promise<Deployed['tables'][number]> => ({
  name,
  forgets: await isForgetting(clients, name),
  indexes: indexesOf(table),
});

const isForgetting = async ({ dynamodb }: DeployedClients, TableName: string): Promise<boolean> => {
  const { TimeToLiveDescription } = await dynamodb.send(new DescribeTimeToLiveCommand({ TableName }));
  return (
    TimeToLiveDescription?.TimeToLiveStatus === 'ENABLED' || TimeToLiveDescription?.TimeToLiveStatus === 'ENABLING'
  );
};
