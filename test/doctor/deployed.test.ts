import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { ENVIRONMENT } from '../../src/domain/deployed/environment.ts';
import { type DeployedClients, readDeployed } from '../../tools/doctor/deployed.ts';

const FUNCTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'first-register': { [ENVIRONMENT.stack]: 'Shop', [ENVIRONMENT.taskTable]: 'first-task' },
  'second-register': { [ENVIRONMENT.stack]: 'Shop/Returns', [ENVIRONMENT.taskTable]: 'second-task' },
  theirs: { TABLE: 'theirs' },
};

/** A client whose answers depend on the name of the command. */
const answering = <Client extends object>(
  client: Client,
  answers: Readonly<Record<string, (input: Record<string, string>) => object>>,
): Client =>
  Object.assign(client, {
    send: async (command: { constructor: { name: string }; input: Record<string, string> }) =>
      answers[command.constructor.name]?.(command.input) ?? {},
  });

const options = { region: 'eu-test-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } };
const clients: DeployedClients = {
  cloudFormation: answering(new CloudFormationClient(options), {
    ListStackResourcesCommand: () => ({
      StackResourceSummaries: Object.keys(FUNCTIONS).map((PhysicalResourceId) => ({
        ResourceType: 'AWS::Lambda::Function',
        PhysicalResourceId,
      })),
    }),
  }),
  lambda: answering(new LambdaClient(options), {
    GetFunctionConfigurationCommand: ({ FunctionName = '' }) => ({
      Environment: { Variables: FUNCTIONS[FunctionName] },
    }),
    ListEventSourceMappingsCommand: () => ({ EventSourceMappings: [] }),
  }),
  sqs: answering({} as SQSClient, {}),
  dynamodb: answering({} as DynamoDBClient, {
    DescribeTimeToLiveCommand: () => ({ TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED' } }),
  }),
};

it.each([
  ['Shop', 'first'],
  ['Shop/Returns', 'second'],
])('the doctor reads only the functions and tables of one instance in a stack: %s', async (service, name) => {
  expect(await readDeployed(clients, 'Shop', service)).toEqual({
    queues: [],
    functions: [`${name}-register`],
    tables: [{ name: `${name}-task`, forgets: true, indexes: ['FailedByTarget'] }],
  });
});
