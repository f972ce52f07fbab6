/**
 * A stack that was deployed for the run. Its functions run in the cloud, and its resources are found through AWS's
 * APIs.
 */
import { GetFunctionConfigurationCommand, InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { Environment } from '../../src/domain/deployed/environment.ts';
import { type Account, findStack, openAccount, resourcesOf, type StackResource } from '../../tools/account/stacks.ts';
import { serviceOf, signedSend } from '../../tools/cli/shared/stack-api.ts';
import type { Backend } from './backend.ts';
import { type Cloud, clientsOf, enter } from './cloud.ts';
import type { GivenStack } from './given.ts';

/** A backend whose functions have names in the cloud. */
export interface DeployedBackend extends Backend {
  /** @param part of a function's name, e.g. `GroupHandler`. @throws Error if the stack has no such function */
  nameOf(part: string): string;
}

export const openDeployed = async ({
  cloud,
  stackName,
}: Pick<GivenStack, 'cloud' | 'stackName'>): Promise<DeployedBackend> => {
  enter(cloud);
  const lambda = new LambdaClient();
  const functions = (await resourcesIn(stackName, 'AWS::Lambda::Function')).map(({ name }) => name);
  const environments = await Promise.all(
    functions.map(
      async (FunctionName) => (await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }))).Environment,
    ),
  );
  const account = await openAccount(process.env);
  const { address: api, service } = await apiOfStack(account, cloud, stackName);
  const ask = signedSend(account, stackName, service);
  const nameOf = (part: string): string => {
    const name = functions.find((each) => each.includes(part));
    if (!name) throw new Error(`${stackName} has no function ${part}: it has ${functions.join(', ')}`);
    return name;
  };
  return {
    nameOf,
    clients: clientsOf(cloud),
    settings: Object.assign({}, ...environments.map((environment) => environment?.Variables)) as Environment,
    api: (path, init = {}) => ask(`${api}/v1${path}`, init),
    invoke: async (part, event) => {
      const FunctionName = nameOf(part);
      const { FunctionError, Payload } = await lambda.send(
        new InvokeCommand({ FunctionName, Payload: JSON.stringify(event) }),
      );
      if (FunctionError) throw new Error(`${part}: ${FunctionError} ${Payload?.transformToString()}`);
    },
    errors: () => [`see the logs of ${functions.join(', ')}`],
    stop: async () => {},
  };
};

/** The resources of a type, e.g. `AWS::IAM::Role`, in a stack of this run's cloud. */
export const resourcesIn = async (stackName: string, type: string): Promise<StackResource[]> =>
  (await resourcesOf(await openAccount(process.env), stackName)).filter((each) => each.type === type);

/**
 * The URL of a stack's API without the version, and the service for which requests are signed. In an emulator, an API
 * has AWS's host name; the emulator answers for it under a path.
 */
export const apiOfStack = async (account: Account, { endpoint }: Cloud, stackName: string) => {
  const { ApiUrl = '' } = (await findStack(account, stackName))?.outputs ?? {};
  const service = serviceOf(ApiUrl);
  const [id = ''] = new URL(ApiUrl).host.split(/[.-]/);
  const path = service === 'lambda' ? 'lambda-url' : 'execute-api';
  return { service, address: endpoint ? `${endpoint}/_aws/${path}/${id}` : ApiUrl.replace(/\/$/, '') };
};

/** The URL of a stack's API, without the version. */
export const apiAddress = async (account: Account, cloud: Cloud, stackName: string): Promise<string> =>
  (await apiOfStack(account, cloud, stackName)).address;
