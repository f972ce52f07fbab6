/**
 * Connects destinations of a configuration with queues, topics, event buses and secrets of the app that deploys this
 * configuration.
 */
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
 * A target for events, or the secret that signs the requests of an HTTP destination. Properties are omitted if CDK's
 * own classes for buses and secrets declare them with a wider type than the interfaces do.
 */
export type CallbackTarget = IQueue | ITopic | Omit<IEventBus, 'eventSourceName'> | Omit<ISecret, 'secretFullArn'>;

/** The properties of a target that depend on its kind. */
interface Described {
  readonly kind: Destination['kind'];
  readonly arn: string;
  readonly fifo?: boolean;
  readonly key?: IKey | undefined;
  readonly service?: KeyService;
  /**
   * The target, if it has a resource policy. Functions of another account can only send to it if that policy allows it.
   */
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
  // No key is needed here: EventBridge itself uses the key of an event bus.
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

  /**
   * The rights to send to each destination. If a target was bound before synthesis ends, the rights apply to that
   * target, otherwise to the configured name.
   */
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
    return `the configuration has no destination ${JSON.stringify(name)}: ${known.length > 0 ? `it has ${known.join(', ')}` : 'it has none, so add it under "destinations"'}`;
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
    http: 'a URL, which accepts a secret',
  };
  if (isBound) return `the destination ${name} already has a target: call grantCallbacks once for each destination`;
  if (destination.kind !== kind)
    return `the destination ${name} is ${words[destination.kind]} in the configuration, but the target is ${kind === 'http' ? 'a secret' : words[kind]}: use the same kind for both`;
  if (fifo)
    return `the target of the destination ${name} is FIFO, but Groupage sends no FIFO messages: use a standard queue or topic`;
  if (destination.kind === 'http' && !('secretsManager' in destination.secret))
    return `the secret of the destination ${name} is an SSM parameter in the configuration: write {"secretsManager": NAME}, and the given secret replaces it`;
  return undefined;
};
