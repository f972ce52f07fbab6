/**
 * Local replacements for the resources that a configuration names: queues in the local SQS, secrets in environment
 * variables, and functions, state machines, topics and event buses of an emulator. Nothing here calls AWS.
 */
import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { ServiceAt, Services } from '../../lambdas/host.ts';
import { type Destination, type DownstreamTarget, queueNamed } from '../../src/domain/config/endpoints.ts';
import { secretsOfAuth } from '../../src/domain/config/http-format.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import type { Environment } from '../../src/domain/deployed/environment.ts';
import { LOCAL_REGION } from './clients.ts';
import { environmentSecrets, secretVariable } from './secrets.ts';

const LAMBDA = 'AWS_ENDPOINT_URL_LAMBDA';
const STEP_FUNCTIONS = 'AWS_ENDPOINT_URL_SFN';
const SNS = 'AWS_ENDPOINT_URL_SNS';
const EVENTBRIDGE = 'AWS_ENDPOINT_URL_EVENTBRIDGE';

export const localServices = (environment: Environment): Services => ({
  lambda: emulatorAt(environment, LAMBDA, 'functions'),
  stepFunctions: emulatorAt(environment, STEP_FUNCTIONS, 'state machines'),
  topics: emulatorAt(environment, SNS, 'topics'),
  eventBuses: emulatorAt(environment, EVENTBRIDGE, 'event buses'),
  secrets: environmentSecrets(environment),
});

const emulatorAt = (environment: Environment, name: string, what: string): ServiceAt => {
  const endpoint = environment[name];
  if (!endpoint) return { missing: `the local stack has no ${what} of its own. Set ${name} to the URL of an emulator` };
  if (!isLoopback(endpoint)) return { missing: `${name} must be a URL of this machine, such as http://127.0.0.1:4566` };
  return { endpoint, region: LOCAL_REGION, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
};

const isLoopback = (address: string): boolean => {
  const url = URL.parse(address);
  return url !== null && /^https?:$/.test(url.protocol) && /^(?:127\.[\d.]+|localhost|\[::1\])$/.test(url.hostname);
};

/** What the configuration needs and this machine lacks, one sentence each. */
export const missingHere = (config: Config, environment: Environment): string[] => {
  const { lambda, stepFunctions, topics, eventBuses } = localServices(environment);
  const missingFor = (endpoint: DownstreamTarget | Destination): string[] => {
    switch (endpoint.kind) {
      case 'http':
        return [
          endpoint.secret,
          ...Object.values(endpoint.headers),
          ...secretsOfAuth('auth' in endpoint ? endpoint.auth : null),
        ].flatMap((value) =>
          value === null || typeof value === 'string' || environment[secretVariable(value)]
            ? []
            : [`a secret is missing. Until you set ${secretVariable(value)}, calls that need this secret fail`],
        );
      case 'lambda':
        return 'missing' in lambda ? [`${lambda.missing}. Until then, calls to Lambda functions fail`] : [];
      case 'step-functions':
        return 'missing' in stepFunctions ? [`${stepFunctions.missing}. Until then, calls to state machines fail`] : [];
      case 'topic':
        return 'missing' in topics ? [`${topics.missing}. Until then, events for topics are not delivered`] : [];
      case 'event-bus':
        return 'missing' in eventBuses
          ? [`${eventBuses.missing}. Until then, events for event buses are not delivered`]
          : [];
      case 'queue':
        return [];
    }
  };
  const hasRules = Object.keys(config.producers ?? {}).length > 0 || config.producerRules !== undefined;
  const rules = 'every message counts as sent by Groupage itself and by each of the configured producers';
  return [
    ...new Set(endpointsOf(config).flatMap(missingFor)),
    ...(hasRules ? [`${rules}. So producers.send and producers.redrive cannot be tried on this machine`] : []),
  ];
};

/** Creates the queues that a configuration names. */
export const createNamedQueues = async (config: Config, sqs: SQSClient): Promise<void> => {
  const names = endpointsOf(config).flatMap((each) => (each.kind === 'queue' ? [queueNamed(each.name).QueueName] : []));
  for (const QueueName of new Set(names)) await sqs.send(new CreateQueueCommand({ QueueName }));
};

const endpointsOf = ({ operations, destinations }: Config): readonly (DownstreamTarget | Destination)[] => [
  ...Object.values(operations).map(({ downstream }) => downstream),
  ...Object.values(destinations),
];
