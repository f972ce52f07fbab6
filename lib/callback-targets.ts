/** Destinations of a configuration that are parts of the app which deploys it: reached whatever they are called there. */
import { Lazy, Stack } from 'aws-cdk-lib';
import type { IEventBus } from 'aws-cdk-lib/aws-events';
import { Grant, type IResourceWithPolicy } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { Destination } from '../src/domain/config/endpoints.ts';
import type { Config } from '../src/domain/config/resolved.ts';
import { grantKey, type KeyService } from './encryption.ts';
import { destinationRights, type Right } from './endpoints.ts';
import type { Handler } from './handler.ts';
import { InvalidProps } from './invalid-props.ts';

/**
 * What events can go to, or, of an HTTP destination, the secret that signs them. Without what CDK's own buses and secrets do
 * not have as strictly as their interfaces say.
 */
export type CallbackTarget = IQueue | ITopic | Omit<IEventBus, 'eventSourceName'> | Omit<ISecret, 'secretFullArn'>;

/** A target, as far as it matters which kind it is of. */
interface Described {
  readonly kind: Destination['kind'];
  readonly arn: string;
  readonly fifo?: boolean;
  readonly key?: IKey | undefined;
  readonly service?: KeyService;
  /** Whatever has a policy of its own, for functions of another account. */
  readonly resource?: IResourceWithPolicy;
}

const describe = (target: CallbackTarget): Described => {
  if ('queueArn' in target)
    return {
      kind: 'queue',
      arn: target.queueArn,
      fifo: target.fifo,
      key: target.encryptionMasterKey,
      service: 'sqs',
      resource: target,
    };
  if ('topicArn' in target)
    return {
      kind: 'topic',
      arn: target.topicArn,
      fifo: target.fifo,
      key: target.masterKey,
      service: 'sns',
      resource: target,
    };
  // A bus uses its key in its own name.
  if ('eventBusArn' in target) return { kind: 'event-bus', arn: target.eventBusArn };
  const { secretArn: arn, encryptionKey: key } = target;
  return { kind: 'http', arn, key, service: 'secretsmanager', resource: target };
};

export class CallbackTargets {
  readonly #scope: Construct;
  readonly #destinations: Config['destinations'];
  readonly #arns = new Map<string, string>();

  constructor(scope: Construct, { destinations }: Config) {
    this.#scope = scope;
    this.#destinations = destinations;
  }

  /** To reach each destination: what was given for it by the end of the synthesis, otherwise what is configured. */
  rights(): Right[] {
    return Object.entries(this.#destinations).flatMap(([name, destination]) => {
      const [reached, ...others] = destinationRights(destination);
      if (!reached) return others;
      const resource = Lazy.string({ produce: () => this.#arns.get(name) ?? reached.resource });
      return [{ ...reached, resource }, ...others];
    });
  }

  /** @throws InvalidProps */
  bind(name: string, target: CallbackTarget, handler: Handler | undefined): Grant {
    const destination = Object.hasOwn(this.#destinations, name) ? this.#destinations[name] : undefined;
    if (!destination || !handler) throw new InvalidProps(this.#scope, this.#unknown(name));
    const described = describe(target);
    const { kind, arn, key, service, resource } = described;
    const problem = problemOf(name, destination, described, this.#arns.has(name));
    if (problem !== undefined) throw new InvalidProps(this.#scope, problem);
    this.#arns.set(name, arn);
    handler.set('destinations', Stack.of(this.#scope).toJsonString(Object.fromEntries(this.#arns)));
    const [{ actions } = { actions: [] }] = destinationRights(destination);
    const grantee = handler.function;
    const options = { grantee, actions: [...actions], resourceArns: [arn] };
    const grant = resource ? Grant.addToPrincipalOrResource({ ...options, resource }) : Grant.addToPrincipal(options);
    if (!key || !service) return grant;
    return grant.combine(grantKey(key, grantee, service, kind === 'http' ? 'read' : 'send'));
  }

  #unknown(name: string): string {
    const known = Object.keys(this.#destinations);
    return `the configuration has no destination ${JSON.stringify(name)}: ${known.length > 0 ? `it has ${known.join(', ')}` : 'it has none, name it under "destinations"'}`;
  }
}

const problemOf = (
  name: string,
  destination: Destination,
  { kind, fifo }: Described,
  isBound: boolean,
): string | undefined => {
  const words = {
    queue: 'a queue',
    topic: 'a topic',
    'event-bus': 'an event bus',
    http: 'a URL, which takes a secret',
  };
  if (isBound) return `the destination ${name} was given before: one destination is one place`;
  if (destination.kind !== kind)
    return `the destination ${name} is ${words[destination.kind]} in the configuration, and was given ${kind === 'http' ? 'a secret' : words[kind]}: make them the same`;
  if (fifo) return `the destination ${name} is FIFO, which events are not: let them go to one that is not`;
  if (destination.kind === 'http' && !('secretsManager' in destination.secret))
    return `the secret of the destination ${name} is a parameter of SSM in the configuration: write {"secretsManager": NAME}, and the secret that was given takes its place`;
  return undefined;
};
