/**
 * One Lambda function: its code, role, log group and settings. At first the function may only write its logs. Each
 * further right is granted explicitly.
 */
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
  Tracing,
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
import { isKept, type Surroundings } from './surroundings.ts';

/** Memory of a function, in megabytes. */
const MEMORY = { default: 512, min: 128, max: 10_240 } as const;
/** Table actions that only read. */
const TABLE_READS: ReadonlySet<string> = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan']);
/** Why a role has rights on all resources. */
const INTERFACES =
  'Lambda creates network interfaces whose ids are not known before, and describes all of them. Requests by the code of the function itself are denied.';
const TRACES = 'X-Ray has no resources by which xray:PutTraceSegments and xray:PutTelemetryRecords could be limited.';

export interface HandlerProps {
  /** The name of the file that contains the function's entry. */
  readonly name: HandlerName;
  readonly code: Code;
  readonly timeout: Duration;
  readonly description: string;
  /** The instance's name in metrics and events. */
  readonly service: string;
  /** The network, which all functions of an instance share. Undefined outside a VPC. */
  readonly network: Network | undefined;
  readonly surroundings: Omit<Surroundings, keyof Network>;
}

/** How Lambda passes the messages of a queue to a function. */
export interface SourceProps {
  readonly queue: IQueue;
  /** The largest number of messages in one invocation. */
  readonly batchSize: number;
  /** How long Lambda waits for further messages after the first one. @default - not at all */
  readonly window?: Duration;
  /**
   * The largest number of concurrent invocations. Above it, messages stay in the queue. Reserved concurrency is not
   * used: the event source would receive more messages than the function takes, and Lambda would throttle the excess. A
   * throttled message returns when its visibility timeout ends, and becomes a dead letter after five receives. An
   * account with too few concurrent executions has the same effect (docs/how-to/deploy.md#concurrent-executions).
   */
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
    const {
      encryptionKey,
      logRetention,
      architecture,
      prefix,
      removalPolicy,
      tracing = Tracing.DISABLED,
    } = surroundings;
    const functionName = physicalName(this, prefix, name);
    this.#key = encryptionKey;
    this.logGroup = new LogGroup(this, 'Logs', {
      retention: logRetention ?? RetentionDays.ONE_MONTH,
      // Users may need the logs after the stack is gone, to find out what failed and why.
      removalPolicy: isKept(this, removalPolicy) ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
      ...(encryptionKey ? { encryptionKey } : {}),
    });
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.logGroup.grantWrite(this.role);
    if (network) this.role.addToPolicy(networkInterfaces());
    this.#explainWildcards(network !== undefined, tracing !== Tracing.DISABLED);
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
      tracing,
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

  /** Explains rights on all resources. They are granted only for a VPC, and by the function itself for its traces. */
  #explainWildcards(isAttached: boolean, isTraced: boolean): void {
    const reasons = [...(isAttached ? [INTERFACES] : []), ...(isTraced ? [TRACES] : [])];
    if (reasons.length > 0) acknowledge(this.role, 'AwsSolutions-IAM5[Resource::*]', reasons.join(' '));
  }

  /**
   * Lets the function read a queue. `SqsEventSource` is not used, because it grants more rights than Lambda needs. The
   * construct's id is the same that `SqsEventSource` would generate.
   */
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
    // Functions send messages to themselves on purpose, directly or through other functions (guards, delays longer than
    // SQS allows, retries, a finished task that registers the next one). Lambda's loop detection would stop such a
    // chain after 16 invocations.
    (this.function.node.defaultChild as CfnFunction).recursiveLoop = RecursiveLoop.ALLOW;
    return this;
  }

  /** Grants the given actions on a table. @param indexes the indexes that the function queries. */
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

  /** Grants to scan an index. Used only for sparse indexes, which contain only the rows that the scan needs. */
  scans(table: Table, index: string): this {
    this.#allow([`${table.tableArn}/index/${index}`], ['dynamodb:Scan']);
    return this;
  }

  /** Grants to send to these queues. */
  sends(queues: Partial<Record<Setting, IQueue>>): this {
    this.#useKey('sqs', 'send');
    return this.#queues(queues, ['sqs:SendMessage']);
  }

  /** Grants to receive and delete messages from these queues. */
  takesFrom(queues: Partial<Record<Setting, IQueue>>): this {
    this.#useKey('sqs', 'read');
    return this.#queues(queues, ['sqs:ReceiveMessage', 'sqs:DeleteMessage']);
  }

  /** Grants to receive messages from these queues, to make them visible again at once, and to delete them. */
  browses(queues: Partial<Record<Setting, IQueue>>): this {
    this.#useKey('sqs', 'read');
    // One statement for all actions, because an inline policy of a role has limited space.
    return this.#queues(queues, ['sqs:ReceiveMessage', 'sqs:ChangeMessageVisibility', 'sqs:DeleteMessage']);
  }

  /** Grants to change when received messages become visible again. */
  putsOff(queues: Partial<Record<Setting, IQueue>>): this {
    return this.#queues(queues, ['sqs:ChangeMessageVisibility']);
  }

  /** Grants to read how many messages these queues have. */
  counts(queues: Partial<Record<Setting, IQueue>>): this {
    return this.#queues(queues, ['sqs:GetQueueAttributes']);
  }

  /** Grants to use the resources that the configuration names. */
  may(rights: readonly Right[]): this {
    for (const { resource, actions } of rights) this.#allow([resource], [...actions]);
    return this;
  }

  /** Sets the ARN prefix for state machines that are configured by name. */
  startsByName(): this {
    this.set('stateMachines', stateMachineArn());
    return this;
  }

  /** Sets the ARN prefix for topics that are configured by name. */
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

  /** Grants use of the customer's key that encrypts tables and queues, if there is one. */
  #useKey(service: KeyService, use: KeyUse): void {
    if (this.#key) grantKey(this.#key, this.function, service, use);
  }

  #allow(resources: string[], actions: string[]): void {
    this.function.addToRolePolicy(new PolicyStatement({ resources, actions }));
  }

  /** The unique id of the function's role, which SQS reports as the sender of its messages. */
  get roleId(): string {
    return this.role.roleId;
  }

  /** Sets an environment variable of the function. */
  set(setting: Setting, value: string): this {
    this.function.addEnvironment(ENVIRONMENT[setting], value);
    return this;
  }
}
