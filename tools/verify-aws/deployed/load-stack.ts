/** The stack of a run beside the stage's own: the downstream function, and the relay for the tests. */
import { join } from 'node:path';
import { type App, CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Architecture, Code, FunctionUrlAuthType, Function as Lambda, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { buildSync } from 'esbuild';
import { temporaryFolder } from '../../../lib/temporary-folder.ts';

/** Names of the stack's outputs. */
export const CALLS_QUEUE_URL = 'CallsQueueUrl';
export const RELAY_URL = 'RelayUrl';
export const REQUESTS_QUEUE_URL = 'RequestsQueueUrl';
export const ANSWERS_TABLE = 'AnswersTable';

/** Tag of all stacks of a run, with the time at which the run ends at the latest, in ISO 8601. */
export const UNTIL_TAG = 'groupage:verify-until';

/** `Tags.of` does not tag stacks themselves (the feature flag `explicitStackTags` in cdk.json). */
export const tagStacks = (app: App, until: string): void => {
  for (const stack of app.node.children) if (Stack.isStack(stack)) stack.addStackTag(UNTIL_TAG, until);
};

export interface LoadStackProps extends StackProps {
  /** Name of the downstream function, as the configuration has it. */
  readonly functionName: string;
  /** The token in the relay's address. @default - no relay */
  readonly token?: string | undefined;
}

export class LoadStack extends Stack {
  constructor(scope: Construct, id: string, { functionName, token, ...props }: LoadStackProps) {
    super(scope, id, { description: 'Groupage: load and downstream of a run of verify:aws', ...props });
    const calls = this.#queue('Calls');
    const downstream = this.#function('downstream', Duration.seconds(20), functionName);
    downstream.addEnvironment('CALLS_QUEUE_URL', calls.queueUrl);
    calls.grantSendMessages(downstream);
    this.#output(CALLS_QUEUE_URL, calls.queueUrl);
    if (token !== undefined) this.#relay(token);
  }

  #relay(token: string): void {
    const requests = this.#queue('Requests');
    const answers = new Table(this, 'Answers', {
      partitionKey: { name: 'Id', type: AttributeType.STRING },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const relay = this.#function('relay', Duration.seconds(60));
    relay.addEnvironment('TOKEN', token);
    relay.addEnvironment('REQUESTS_QUEUE_URL', requests.queueUrl);
    relay.addEnvironment('ANSWERS_TABLE', answers.tableName);
    requests.grantSendMessages(relay);
    answers.grant(relay, 'dynamodb:GetItem');
    const url = relay.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
    // Without the token, because `cdk` prints outputs.
    this.#output(RELAY_URL, url.url);
    this.#output(REQUESTS_QUEUE_URL, requests.queueUrl);
    this.#output(ANSWERS_TABLE, answers.tableName);
  }

  #queue(id: string): Queue {
    return new Queue(this, id, {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(1),
      // A received message is deleted at once, so a longer timeout would only delay the next receive after a failure.
      visibilityTimeout: Duration.seconds(60),
    });
  }

  #function(name: 'downstream' | 'relay', timeout: Duration, functionName?: string): Lambda {
    return new Lambda(this, name === 'downstream' ? 'Downstream' : 'Relay', {
      code: codeOf(name),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout,
      memorySize: 256,
      logGroup: new LogGroup(this, `${name}-logs`, {
        retention: RetentionDays.ONE_WEEK,
        removalPolicy: RemovalPolicy.DESTROY,
      }),
      ...(functionName === undefined ? {} : { functionName }),
    });
  }

  #output(name: string, value: string): void {
    new CfnOutput(this, name, { value }).overrideLogicalId(name);
  }
}

const codeOf = (name: string): Code => {
  const folder = temporaryFolder('verify');
  buildSync({
    entryPoints: [join(import.meta.dirname, 'functions', `${name}.ts`)],
    outfile: join(folder, 'index.mjs'),
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    // Some dependencies contain CommonJS code that needs `require`.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
  return Code.fromAsset(folder);
};
