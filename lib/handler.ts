/** One λ: its code, role, log group and settings. What it may do is granted by name; nothing is granted by default but its logs. */
import { Aws, type Duration, Names, RemovalPolicy } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
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
import { ENVIRONMENT, type Setting } from '../src/environment.ts';
import { topicArn } from './destinations.ts';
import { type Right, stateMachineArn } from './endpoints.ts';

export interface HandlerProps {
  readonly code: Code;
  readonly timeout: Duration;
  readonly description: string;
  /** @default 512 */
  readonly memorySize?: number;
}

/** How a queue's messages reach a λ. */
export interface SourceProps {
  readonly queue: IQueue;
  /** Messages of one invocation. */
  readonly batchSize: number;
  /** Invocations at once, at the most. Not reserved concurrency: that throttles, and throttles end in dead letters. */
  readonly maxConcurrency: number;
}

export class Handler extends Construct {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, { code, timeout, description, memorySize = 512 }: HandlerProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, 'Logs', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    this.function = new LambdaFunction(this, 'Function', {
      code,
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      description,
      timeout,
      memorySize,
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      environment: { NODE_OPTIONS: '--enable-source-maps', [ENVIRONMENT.stack]: Aws.STACK_NAME },
    });
  }

  /** Works off a queue. Not by `SqsEventSource`, which grants more than Lambda uses; the id is the one it would give. */
  source({ queue, batchSize, maxConcurrency }: SourceProps): this {
    const mapping = { eventSourceArn: queue.queueArn, batchSize, maxConcurrency, reportBatchItemFailures: true };
    this.function.addEventSourceMapping(`SqsEventSource:${Names.nodeUniqueId(queue.node)}`, mapping);
    this.#allow([queue.queueArn], ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes']);
    // Messages that come back to their λ (guards, hops, retries, a finished task's follow-up) are the design; Lambda
    // would stop them after 16. No message reaches the λs without a queue.
    (this.function.node.defaultChild as CfnFunction).recursiveLoop = RecursiveLoop.ALLOW;
    return this;
  }

  /** Lets it do these things, and no others, with a table. @param indexes names of the indexes it queries. */
  table(setting: Setting, table: Table, actions: readonly string[], indexes: readonly string[] = []): this {
    this.#set(setting, table.tableName);
    this.#allow(
      [table.tableArn],
      actions.map((action) => `dynamodb:${action}`),
    );
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
    return this.#queues(queues, ['sqs:SendMessage']);
  }

  /** Lets it take messages from these queues. */
  takesFrom(queues: Partial<Record<Setting, IQueue>>): this {
    return this.#queues(queues, ['sqs:ReceiveMessage', 'sqs:DeleteMessage']);
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
    this.#set('stateMachines', stateMachineArn());
    return this;
  }

  /** Lets it publish to topics that are named, and not given by their ARN. */
  publishesByName(): this {
    this.#set('topics', topicArn());
    return this;
  }

  #queues(queues: Partial<Record<Setting, IQueue>>, actions: string[]): this {
    for (const [setting, queue] of Object.entries(queues)) this.#set(setting as Setting, queue.queueUrl);
    this.#allow(
      Object.values(queues).map(({ queueArn }) => queueArn),
      actions,
    );
    return this;
  }

  #allow(resources: string[], actions: string[]): void {
    this.function.addToRolePolicy(new PolicyStatement({ resources, actions }));
  }

  #set(setting: Setting, value: string): void {
    this.function.addEnvironment(ENVIRONMENT[setting], value);
  }
}
