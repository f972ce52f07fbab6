/** The whole of Groupage on this machine: engines, resources, functions, API. */

import { UndiciHttpHandler } from '@smithy/undici-http-handler';
import type { Hono } from 'hono';
import type { Host } from '../../lambdas/compose.ts';
import type { AwsClients, RequestHandler } from '../../src/aws/clients.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { type Environment, optionalSetting, type Setting, setting } from '../../src/domain/deployed/environment.ts';
import { MESSAGES_AT_ONCE, SECOND } from '../../src/domain/timings.ts';
import type { WorkerSettings, WorkingQueueName } from '../doctor/settings.ts';
import { type LocalServer, serveLocally } from '../http/server.ts';
import { synthesise } from './assembly.ts';
import { localClients } from './clients.ts';
import { type EngineOptions, startEngines } from './engines.ts';
import { poll } from './event-sources.ts';
import { type LocalFunction, loadFunctions, schedule } from './functions.ts';
import type { Addresses } from './local-folder.ts';
import type { Polling } from './pollers.ts';
import { type Recovered, recover } from './recover.ts';
import { createQueues, createTables } from './resources.ts';
import { createNamedQueues, localServices } from './services.ts';
import { CloudAssembly, type Found, nameInArn, UnknownInTemplate } from './template.ts';

/** Engines that run, and what begins the names of one stack's resources there. */
export interface OnEngines {
  readonly dynamodb: string;
  readonly sqs: string;
  readonly prefix?: string;
  /** Resolves when the engine of the tables is not being started again. */
  readonly dynamodbSettled?: () => Promise<unknown>;
}

export interface RunOptions {
  readonly config: Config;
  readonly apiPort: number;
  readonly code?: 'sources' | 'bundles';
  readonly host: Omit<Host, 'clients'>;
  /** Wraps the clients of a function, or of the {@link EVENT_SOURCES}, which are its own then, e.g. to count what it uses. */
  readonly clients?: (clients: AwsClients, functionName: string) => AwsClients;
  readonly onInvoke?: (functionName: string, invocation: Promise<unknown>) => void;
  /** What is served at the API's port around the API. @default - the API alone */
  readonly console?: (api: Hono) => Hono;
  readonly onError: (error: Error) => void;
}

/** The name of whoever polls queues in Lambda's place, among the functions. */
export const EVENT_SOURCES = 'event sources';

export interface StackOptions extends RunOptions, EngineOptions {}

/** Tables, queues, functions and API on engines. */
export interface RunningStack {
  readonly addresses: Addresses;
  /** What the template tells the functions, all of it together. */
  readonly settings: Environment;
  readonly clients: AwsClients;
  readonly recovered: Recovered;
  readonly functions: ReadonlyMap<string, LocalFunction>;
  /** Takes no more messages, finishes those in hand. */
  stop(): Promise<void>;
}

/** A running stack with engines of its own, which end with it. */
export interface LocalStack extends RunningStack {
  /** Resolves, to a sentence, when an engine has ended by itself for good: nothing works then. */
  readonly broken: Promise<string>;
}

/** Starts the engines, and the stack on them. */
export const startStack = async (options: StackOptions): Promise<LocalStack> => {
  const engines = await startEngines(options);
  try {
    const { dynamodb, sqs } = engines;
    const on = { dynamodb: dynamodb.endpoint, sqs: sqs.endpoint, dynamodbSettled: dynamodb.settled };
    const stack = await runStack(on, options);
    return {
      ...stack,
      addresses: { ...stack.addresses, dynamodb: engines.door.endpoint },
      broken: Promise.race([dynamodb.died, sqs.died]),
      stop: async () => {
        await stack.stop();
        await engines.stop();
      },
    };
  } catch (cause) {
    await engines.stop();
    throw cause;
  }
};

/** Runs the stack on engines that somebody else starts and ends. */
export const runStack = async (on: OnEngines, options: RunOptions): Promise<RunningStack> => {
  const { config, onError } = options;
  const assembly = new CloudAssembly(synthesise(config, options.code), on);
  const clients = localClients({ ...on, requestHandler: quickHandler() });
  await Promise.all([createTables(assembly, clients.dynamodb), createQueues(assembly, clients.sqs)]);
  await createNamedQueues(config, clients.sqs);
  // Wrapping changes a client: each function that is looked at gets new ones, the others share a pair.
  const clientsOf = (name: string): AwsClients =>
    options.clients?.(localClients({ ...on, requestHandler: quickHandler() }), name) ?? clients;
  const services = localServices(process.env);
  const functions = await loadFunctions(
    assembly,
    (name) => ({ services, ...options.host, clients: clientsOf(name) }),
    options.onInvoke ?? (() => {}),
  );
  const settings = settingsOf(functions);
  const recovered = await recover(clients, settings, config);
  const server = await serveApi(functions, options);
  const running: Polling[] = [
    schedule(assembly, functions, onError),
    poll(assembly, functions, pollingClients(on, options).sqs, onError),
  ];
  const stop = async (): Promise<void> => {
    for (const part of [server, ...running]) await part.stop();
  };
  const addresses = addressesOf(server, on, settings, options.console !== undefined);
  return {
    addresses: { ...addresses, workers: workersOf(assembly, settings) },
    settings,
    clients,
    recovered,
    functions,
    stop,
  };
};

/** Those of whoever stands for Lambda's event sources. */
const pollingClients = (on: OnEngines, { clients: wrapped = (each) => each }: RunOptions): AwsClients =>
  wrapped(localClients({ ...on, patient: true, requestHandler: patientHandler() }), EVENT_SOURCES);

/** Every setting of any function: together they name all tables and queues. */
const settingsOf = (functions: ReadonlyMap<string, LocalFunction>): Environment =>
  Object.assign({}, ...[...functions.values()].map(({ environment }) => environment)) as Environment;

const serveApi = (
  functions: ReadonlyMap<string, LocalFunction>,
  { apiPort, console }: RunOptions,
): Promise<LocalServer> => {
  const api = [...functions.values()].find(({ app }) => app !== undefined)?.app;
  if (!api) throw new UnknownInTemplate('no function that serves the API');
  return serveLocally(console?.(api) ?? api, apiPort);
};

const addressesOf = (
  server: LocalServer,
  { dynamodb, sqs }: { dynamodb: string; sqs: string },
  settings: Environment,
  hasConsole: boolean,
): Omit<Addresses, 'workers'> => {
  const named = <Name extends string>(names: readonly Name[], settingOf: (name: Name) => Setting) =>
    Object.fromEntries(names.map((name) => [name, setting(settings, settingOf(name))])) as Record<Name, string>;
  const callback = optionalSetting(settings, 'callbackQueue');
  const givenUp = optionalSetting(settings, 'givenUpQueue');
  return {
    ...(hasConsole ? { console: `${server.endpoint}/` } : {}),
    api: `${server.endpoint}/v1`,
    dynamodb,
    sqs,
    queues: {
      ...named(['register', 'elect', 'group', 'batch', 'rejected'], (name) => `${name}Queue`),
      ...(callback === undefined ? {} : { callback }),
      ...(givenUp === undefined ? {} : { 'given-up': givenUp }),
    },
    tables: named(['task', 'batchLock', 'batch', 'fanOut', 'list', 'fleet'], (name) => `${name}Table`),
  };
};

/** As a deployed one is asked for, see `tools/doctor`. */
const workersOf = (assembly: CloudAssembly, settings: Environment): Addresses['workers'] =>
  Object.fromEntries(
    (Object.keys(MESSAGES_AT_ONCE) as WorkingQueueName[]).flatMap((queue) => {
      const name = optionalSetting(settings, `${queue}Queue`)?.split('/').at(-1);
      const source = assembly
        .all('AWS::Lambda::EventSourceMapping')
        .find(({ properties }) => nameInArn(properties.EventSourceArn) === name);
      return source ? [[queue, workerOf(assembly, source)]] : [];
    }),
  );

const workerOf = (assembly: CloudAssembly, { properties }: Found): WorkerSettings => {
  const { FunctionName, BatchSize, FunctionResponseTypes, Enabled, ScalingConfig } = properties;
  const fn = assembly.all('AWS::Lambda::Function').find(({ name }) => name === FunctionName);
  const { MaximumConcurrency } = (ScalingConfig ?? {}) as { readonly MaximumConcurrency?: number };
  return {
    timeout: Number(fn?.properties.Timeout) * SECOND,
    batchSize: Number(BatchSize),
    reportsFailures: JSON.stringify(FunctionResponseTypes ?? []).includes('ReportBatchItemFailures'),
    isOn: Enabled !== false,
    ...(MaximumConcurrency === undefined ? {} : { maxConcurrency: MaximumConcurrency }),
  };
};

/** Connections to an engine. */
const CONNECTIONS = 128;

/**
 * Makes the requests of the functions: undici takes a third of the processor time of Node.js' own client, and a burst keeps
 * their thread busy throughout.
 *
 * A try may take longer than in an account (`AWS_TRY`): an engine on a busy machine is slow, and to ask it again makes it no faster.
 * A function's requests end with its time all the same.
 */
const quickHandler = (): RequestHandler =>
  new UndiciHttpHandler({
    dispatcher: { connections: CONNECTIONS, connect: { timeout: 2_000 }, headersTimeout: 4_000, bodyTimeout: 4_000 },
  });

/** For long polls, each of which has its connection for as long as it waits. */
const patientHandler = (): RequestHandler => new UndiciHttpHandler({ dispatcher: { connections: 1_024 } });
