/**
 * The downstream of each operation, of whatever kind. What a kind needs of the SDK is loaded when the first batch of such
 * an operation is called about: most deployments have one kind.
 */
import { awsClients } from '../src/aws/clients.ts';
import type { OperationName } from '../src/batching/ids.ts';
import type { DownstreamTarget } from '../src/config/endpoints.ts';
import { type Config, operationFor } from '../src/config/resolved.ts';
import type { Downstream } from '../src/downstream/downstream.ts';
import { httpDownstream } from '../src/downstream/http.ts';
import type { Secrets } from '../src/downstream/secret.ts';
import { type Environment, setting } from '../src/environment.ts';
import type { Machine } from '../src/ports.ts';
import type { Host, ServiceAt } from './compose.ts';

export const downstreamsOf = (
  config: Config,
  environment: Environment,
  host: Host,
  { now }: Pick<Machine, 'now'>,
): ((name: OperationName) => Downstream) => {
  const surroundings: Surroundings = { environment, host, now, secrets: secretsOf(host, now) };
  const made = new Map<OperationName, Downstream>();
  return (name) => {
    const known = made.get(name) ?? lazily(() => openDownstream(operationFor(config, name).downstream, surroundings));
    made.set(name, known);
    return known;
  };
};

interface Surroundings {
  readonly environment: Environment;
  readonly host: Host;
  readonly now: Machine['now'];
  readonly secrets: Secrets;
}

const openDownstream = async (target: DownstreamTarget, given: Surroundings): Promise<Downstream> => {
  const { environment, host, now, secrets } = given;
  switch (target.kind) {
    case 'http':
      return httpDownstream(target, { now, secrets });
    case 'lambda': {
      const at = optionsOf(host.services?.lambda, target.function);
      if ('missing' in at) return unreachable(at.missing);
      const { lambdaClient, lambdaDownstream } = await import('../src/downstream/lambda.ts');
      return lambdaDownstream(target, lambdaClient(at));
    }
    case 'step-functions': {
      const at = optionsOf(host.services?.stepFunctions, target.stateMachine);
      if ('missing' in at) return unreachable(at.missing);
      const { stepFunctionsClient, stepFunctionsDownstream } = await import('../src/downstream/step-functions.ts');
      const { stateMachine: name } = target;
      const arn = name.startsWith('arn:') ? name : `${setting(environment, 'stateMachines')}${name}`;
      return stepFunctionsDownstream(target, arn, stepFunctionsClient(at));
    }
    case 'queue': {
      const { queueDownstream } = await import('../src/downstream/queue.ts');
      const region = regionIn(target.name);
      // A local start has all of its queues in one place.
      const isHere = region === undefined || region === environment.AWS_REGION || host.services !== undefined;
      return queueDownstream(target, isHere ? host.clients.sqs : awsClients({ region }).sqs);
    }
  }
};

/** A client calls one region: that of the ARN, where there is one. */
const optionsOf = (at: ServiceAt | undefined, name: string): ServiceAt => {
  const region = regionIn(name);
  return at ?? (region === undefined ? {} : { region });
};

const regionIn = (name: string): string | undefined => (name.startsWith('arn:') ? name.split(':')[3] : undefined);

const unreachable = (reason: string): Downstream => ({
  call: async () => ({ kind: 'unavailable', reason, mayRetryAtOnce: false }),
});

/** Opened at the first call; a failure to open is a defect, and is not kept. */
const lazily = (open: () => Promise<Downstream>): Downstream => {
  let opened: Promise<Downstream> | undefined;
  return {
    call: async (call) => {
      opened ??= open();
      try {
        return await (await opened).call(call);
      } catch (cause) {
        opened = undefined;
        throw cause;
      }
    },
  };
};

/** The host's own, or those of AWS, loaded when one is wanted. */
export const secretsOf = ({ services }: Pick<Host, 'services'>, now: Machine['now']): Secrets => {
  if (services) return services.secrets;
  let loaded: Promise<Secrets> | undefined;
  const load = async (): Promise<Secrets> => {
    const { awsSecrets, secretClients } = await import('../src/aws/secrets.ts');
    return awsSecrets(secretClients(), now);
  };
  return {
    read: async (ref) => {
      loaded ??= load();
      return (await loaded).read(ref);
    },
  };
};
