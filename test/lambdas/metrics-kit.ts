/** The deployed bundles on their own tables and queues, and the metrics that they print. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DeleteMessageCommand, type Message, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { expect } from 'vitest';
import { stackNames } from '../../lib/stage.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import type { AwsClients } from '../../src/aws/clients.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import {
  CONFIG_ASSET,
  ENVIRONMENT,
  type Environment,
  type Setting,
  setting,
} from '../../src/domain/deployed/environment.ts';
import { METRICS, type MetricName, NAMESPACE, STACK_DIMENSION } from '../../src/domain/events/metrics.ts';
import { synthesise } from '../../tools/local/assembly.ts';
import { localClients } from '../../tools/local/clients.ts';
import { startEngines } from '../../tools/local/engines.ts';
import { createQueues, createTables } from '../../tools/local/resources.ts';
import { CloudAssembly } from '../../tools/local/template.ts';
import type { Template } from '../infrastructure/rules/template.ts';

const NODE = join(import.meta.dirname, '../../node_modules/node/bin/node');
/** As in the template; the dashboard and the alarms use this name. */
const STACK = stackNames('local').flow;
/** Runs a handler of a bundle once. */
const RUN = `
const [file, event, timeLeft] = process.argv.slice(1);
const { handler } = await import(file);
const context = { functionName: 'test', awsRequestId: 'r', getRemainingTimeInMillis: () => Number(timeLeft) };
const answer = await handler(JSON.parse(event), context);
if (answer?.statusCode >= 400 || answer?.batchItemFailures?.length > 0) throw new Error(JSON.stringify(answer));
`;

/** The function of each queue. */
const FUNCTIONS = {
  registerQueue: 'RegisterHandler',
  electQueue: 'ElectHandler',
  groupQueue: 'GroupHandler',
  batchQueue: 'BatchHandler',
  callbackQueue: 'CallbackHandler',
} as const;

/** A line in the embedded metric format. */
interface Line extends Record<string, unknown> {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
    }[];
  };
}

/** A metric, its dimensions in order, and its value; `ms` for a duration. */
export type Measurement = readonly [name: string, dimensions: string, value: unknown];

/** Checks a metric's name, unit and dimensions against the list. */
const isAsListed = (name: string, unit: string, dimensions: readonly string[]): void => {
  expect(Object.keys(METRICS)).toContain(name);
  const { unit: listed, by } = METRICS[name as MetricName];
  expect({ name, unit, dimensions }).toEqual({ name, unit: listed, dimensions: [STACK_DIMENSION, ...by] });
};

const measurements = (lines: readonly Line[]): Measurement[] =>
  lines.flatMap((line) =>
    line._aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) => {
      expect(Namespace).toBe(NAMESPACE);
      return Metrics.flatMap(({ Name, Unit }) =>
        Dimensions.map((names): Measurement => {
          isAsListed(Name, Unit, names);
          const value = line[Name];
          expect(value, `${Name} is a number that is not negative`).toBeGreaterThanOrEqual(0);
          const dimensions = names.map((each) => `${each}=${line[each]}`).join(' ');
          return [Name, dimensions, Unit === 'Milliseconds' ? 'ms' : value];
        }),
      );
    }),
  );

/** Its output, also if it failed and its messages come back. */
const run = async (args: readonly string[], env: Record<string, string>): Promise<{ stdout: string; ok: boolean }> => {
  try {
    return { stdout: (await promisify(execFile)(NODE, args, { env })).stdout, ok: true };
  } catch (cause) {
    if (cause instanceof Error && 'stdout' in cause && cause.message.includes('batchItemFailures'))
      return { stdout: String(cause.stdout), ok: false };
    throw cause;
  }
};

/** The dimensions of a metric, with the stack: `operation=ship`. */
export const of = (...dimensions: readonly string[]): string =>
  [`${STACK_DIMENSION}=${STACK}`, ...dimensions].join(' ');

/** A message as an event source delivers it. */
export const recordOf = (body: string, messageId = 'm') => ({
  messageId,
  body,
  receiptHandle: 'receipt',
  attributes: { ApproximateReceiveCount: '1', SentTimestamp: '1700000000000' },
  messageAttributes: {},
  eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:queue',
});

/** @param config of the functions @param environment further variables of the functions */
export const deployedBundles = async (config: Config, environment: Readonly<Record<string, string>> = {}) => {
  const engines = await startEngines({ ports: { dynamodb: 0, sqs: 0 } });
  const on = { dynamodb: engines.dynamodb.endpoint, sqs: engines.sqs.endpoint };
  const clients: AwsClients = localClients(on);
  const folder = synthesise(config, 'bundles');
  const assembly = new CloudAssembly(folder, on);
  await Promise.all([createTables(assembly, clients.dynamodb), createQueues(assembly, clients.sqs)]);
  const functions = assembly.all('AWS::Lambda::Function');
  const environments = functions.map(({ properties }) => properties.Environment as { Variables: object });
  const settings: Environment = Object.assign({}, ...environments.map(({ Variables }) => Variables));
  const emitted = new Map<string, Set<string>>();

  /**
   * Invokes a function as Lambda does, in its own process.
   *
   * @param deployed a configuration that differs from the other functions'
   * @param timeLeft of the function's time, in milliseconds, at every moment
   */
  const invoke = async (part: string, event: object, deployed?: Config, timeLeft = 50_000) => {
    const fn = functions.find(({ name }) => name.includes(part));
    if (!fn) throw new Error(`the template has no function ${part}`);
    const code = assembly.codeOf(fn);
    const { Variables } = fn.properties.Environment as { Variables: Record<string, string> };
    const args = ['--input-type=module', '-e', RUN, join(code, 'index.mjs'), JSON.stringify(event), String(timeLeft)];
    const { stdout, ok } = await run(args, {
      ...Variables,
      [ENVIRONMENT.stack]: STACK,
      LAMBDA_TASK_ROOT: deployed ? folderWith(deployed) : code,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: on.dynamodb,
      AWS_ENDPOINT_URL_SQS: on.sqs,
      ...environment,
    });
    const lines = stdout.split('\n').flatMap((line) => (line.includes('"_aws"') ? [JSON.parse(line) as Line] : []));
    const found = measurements(lines);
    for (const [name, dimensions] of found) emitted.set(name, (emitted.get(name) ?? new Set()).add(dimensions));
    return { found: found.toSorted(([a, at], [b, bt]) => a.localeCompare(b) || at.localeCompare(bt)), ok };
  };
  /** @returns the printed metrics, by name */
  const measured = async (
    part: string,
    event: object,
    deployed?: Config,
    timeLeft?: number,
  ): Promise<readonly Measurement[]> => (await invoke(part, event, deployed, timeLeft)).found;

  /** Waits for messages in a queue, and invokes its function with them as the event source would. */
  const handle = async (queue: keyof typeof FUNCTIONS): Promise<readonly Measurement[]> => {
    const QueueUrl = setting(settings, queue);
    const receive = new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: 10,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    });
    const { Messages = [] } = await clients.sqs.send(receive);
    expect(Messages, `messages in ${queue}`).not.toEqual([]);
    const Records = Messages.map(({ Body = '', MessageId }) => recordOf(Body, MessageId));
    const { found, ok } = await invoke(FUNCTIONS[queue], { Records });
    const remove = ({ ReceiptHandle }: Message) =>
      clients.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    if (ok) await Promise.all(Messages.map(remove));
    return found;
  };

  return {
    clients,
    settings,
    /** The printed dimensions of each metric, so far. */
    emitted: emitted as ReadonlyMap<string, ReadonlySet<string>>,
    /** The stack with the dashboard and the alarms. */
    ops: JSON.parse(readFileSync(join(folder, `${stackNames('local').ops}.template.json`), 'utf8')) as Template,
    measured,
    handle,
    send: (queue: Setting, MessageBody: string) =>
      clients.sqs.send(new SendMessageCommand({ QueueUrl: setting(settings, queue), MessageBody })),
    /** @returns the metrics of a call of the API */
    ask: (method: string, path: string, { query = '', body }: { query?: string; body?: object } = {}) =>
      measured('ApiHandler', {
        version: '2.0',
        rawPath: path,
        rawQueryString: query,
        headers: { 'content-type': 'application/json' },
        requestContext: { domainName: 'id.lambda-url.eu-central-1.on.aws', http: { method, path } },
        isBase64Encoded: false,
        ...(body ? { body: JSON.stringify(body) } : {}),
      }),
    stop: () => engines.stop(),
  };
};

export type DeployedBundles = Awaited<ReturnType<typeof deployedBundles>>;

const folderWith = (config: Config): string => {
  const folder = temporaryFolder('configuration');
  writeFileSync(join(folder, CONFIG_ASSET), JSON.stringify(config));
  return folder;
};
