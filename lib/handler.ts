/** One λ: its code, role, log group and settings. What it may do is granted by name; nothing is granted by default but its logs. */
import { type Duration, Names, RemovalPolicy } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  Architecture,
  type CfnFunction,
  type Code,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { ENVIRONMENT, type Setting } from '../src/domain/deployed/environment.ts';
import { acknowledge } from './acknowledge.ts';
import { grantKey, type KeyService, type KeyUse } from './encryption.ts';
import { type Right, stateMachineArn, topicArn } from './endpoints.ts';
import type { HandlerName } from './handler-code.ts';
import { InvalidProps } from './invalid-props.ts';
import { physicalName } from './names.ts';
import { type Network, networkInterfaces } from './network.ts';
import type { Surroundings } from './surroundings.ts';

/** Megabytes. */
const MEMORY = { default: 512, min: 128, max: 10_240 } as const;
/** They change nothing. */
const TABLE_READS: ReadonlySet<string> = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan']);

export interface HandlerProps {
  /** Its entry's. */
  readonly name: HandlerName;
  readonly code: Code;
  readonly timeout: Duration;
  readonly description: string;
  /** What its metrics and events name. */
  readonly service: string;
  /** Shared by all of an instance. */
  readonly network: Network | undefined;
  readonly surroundings: Omit<Surroundings, keyof Network>;
}

/** How a queue's messages reach a λ. */
export interface SourceProps {
  readonly queue: IQueue;
  /** Messages of one invocation. */
  readonly batchSize: number;
  /** How long the first of them waits for others. @default - not at all */
  readonly window?: Duration;
  /** Invocations at once, at the most. Not reserved concurrency: that throttles, and throttles end in dead letters. */
  readonly maxConcurrency: number;
}

export class Handler extends Construct {
  readonly function: LambdaFunction;
  readonly role: Role;
  readonly logGroup: LogGroup;
  readonly #key: IKey | undefined;

  /** @throws InvalidProps */
  constructor(scope: Construct, id: string, props: HandlerProps) {
    super(scope, id);
    const { name, code, timeout, description, service, network, surroundings } = props;
    const { encryptionKey, logRetention, architecture, prefix } = surroundings;
    const functionName = physicalName(this, prefix, name);
    this.#key = encryptionKey;
    this.logGroup = new LogGroup(this, 'Logs', {
      retention: logRetention ?? RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
      ...(encryptionKey ? { encryptionKey } : {}),
    });
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.logGroup.grantWrite(this.role);
    if (network) this.#attachTo();
    this.function = new LambdaFunction(this, 'Function', {
      code,
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: architecture ?? Architecture.ARM_64,
      description,
      timeout,
      memorySize: this.#memoryOf(name, surroundings),
      role: this.role,
      logGroup: this.logGroup,
      loggingFormat: LoggingFormat.JSON,
      environment: { NODE_OPTIONS: '--enable-source-maps', [ENVIRONMENT.stack]: service },
      ...(functionName === undefined ? {} : { functionName }),
      ...network,
    });
  }

  #memoryOf(name: HandlerName, { memorySizes = {} }: Pick<Surroundings, 'memorySizes'>): number {
    const size = memorySizes[name] ?? MEMORY.default;
    if (Number.isInteger(size) && size >= MEMORY.min && size <= MEMORY.max) return size;
    throw new InvalidProps(
      this,
      `memorySizes[${JSON.stringify(name)}] must be a whole number of megabytes from ${MEMORY.min} to ${MEMORY.max}, not ${size}`,
    );
  }

  /** To a network. */
  #attachTo(): void {
    this.role.addToPolicy(networkInterfaces());
    acknowledge(
      this.role,
      'AwsSolutions-IAM5[Resource::*]',
      'Lambda makes network interfaces of which nobody knows the ids before, and describes all. The function itself may not: requests of its own are refused.',
    );
  }

  /** Works off a queue. Not by `SqsEventSource`, which grants more than Lambda uses; the id is the one it would give. */
  source({ queue, batchSize, window, maxConcurrency }: SourceProps): this {
    const mapping = {
      eventSourceArn: queue.queueArn,
      batchSize,
      maxConcurrency,
      reportBatchItemFailures: true,
      ...(window ? { maxBatchingWindow: window } : {}),
    };
    this.function.addEventSourceMapping(`SqsEventSource:${Names.nodeUniqueId(queue.node)}`, mapping);
    this.#allow([queue.queueArn], ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes']);
    this.#useKey('sqs', 'read');
    // Messages that come back to their λ (guards, hops, retries, a finished task's follow-up) are the design; Lambda
    // would stop them after 16. No message reaches the λs without a queue.
    (this.function.node.defaultChild as CfnFunction).recursiveLoop = RecursiveLoop.ALLOW;
    return this;
  }

  /** Lets it do these things, and no others, with a table. @param indexes names of the indexes it queries. */
  table(setting: Setting, table: Table, actions: readonly string[], indexes: readonly string[] = []): this {
    this.set(setting, table.tableName);
    this.#allow(
      [table.tableArn],
      actions.map((action) => `dynamodb:${action}`),
    );
    this.#useKey('dynamodb', actions.every((action) => TABLE_READS.has(action)) ? 'readTable' : 'writeTable');
    if (indexes.length > 0)
      this.#allow(
        indexes.map((index) => `${table.tableArn}/index/${index}`),
        ['dynamodb:Query'],
      );
    return this;
  }

  /** Lets it read an index from one end to the other: a sparse one, in which only what is looked for is. */
  scans(table: Table, index: string): this {
    this.#allow([`${table.tableArn}/index/${index}`], ['dynamodb:Scan']);
    return this;
  }

  /** Lets it send to these queues. */
  sends(queues: Partial<Record<Setting, IQueue>>): this {
    this.#useKey('sqs', 'send');
    return this.#queues(queues, ['sqs:SendMessage']);
  }

  /** Lets it take messages from these queues. */
  takesFrom(queues: Partial<Record<Setting, IQueue>>): this {
    this.#useKey('sqs', 'read');
    return this.#queues(queues, ['sqs:ReceiveMessage', 'sqs:DeleteMessage']);
  }

  /** Lets it say when messages that it received from these queues come back. */
  putsOff(queues: Partial<Record<Setting, IQueue>>): this {
    return this.#queues(queues, ['sqs:ChangeMessageVisibility']);
  }

  /** Lets it ask how many messages lie in these queues. */
  counts(queues: Partial<Record<Setting, IQueue>>): this {
    return this.#queues(queues, ['sqs:GetQueueAttributes']);
  }

  /** Lets it use what the configuration names. */
  may(rights: readonly Right[]): this {
    for (const { resource, actions } of rights) this.#allow([resource], [...actions]);
    return this;
  }

  /** Lets it start executions of state machines that are named, and not given by their ARN. */
  startsByName(): this {
    this.set('stateMachines', stateMachineArn());
    return this;
  }

  /** Lets it publish to topics that are named, and not given by their ARN. */
  publishesByName(): this {
    this.set('topics', topicArn());
    return this;
  }

  #queues(queues: Partial<Record<Setting, IQueue>>, actions: string[]): this {
    for (const [setting, queue] of Object.entries(queues)) this.set(setting as Setting, queue.queueUrl);
    this.#allow(
      Object.values(queues).map(({ queueArn }) => queueArn),
      actions,
    );
    return this;
  }

  /** What encrypts tables and queues, where that is somebody's own key. */
  #useKey(service: KeyService, use: KeyUse): void {
    if (this.#key) grantKey(this.#key, this.function, service, use);
  }

  #allow(resources: string[], actions: string[]): void {
    this.function.addToRolePolicy(new PolicyStatement({ resources, actions }));
  }

  /** Tells it something that is known when the stack is made. */
  set(setting: Setting, value: string): this {
    this.function.addEnvironment(ENVIRONMENT[setting], value);
    return this;
  }
}
