/** The local stack: engines, resources, functions and API on this machine. */

import { UndiciHttpHandler } from '@smithy/undici-http-handler';
import type { Hono } from 'hono';
import type { Host } from '../../lambdas/host.ts';
import type { AwsClients, RequestHandler } from '../../src/aws/clients.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import { type Environment, optionalSetting, type Setting, setting } from '../../src/domain/deployed/environment.ts';
import { MESSAGES_AT_ONCE, SECOND } from '../../src/domain/timings.ts';
import type { WorkerSettings, WorkingQueueName } from '../doctor/settings.ts';
import { type LocalServer, serveLocally } from '../http/server.ts';
import { localClients } from './clients.ts';
import { type EngineOptions, startEngines } from './engines.ts';
import { poll } from './event-sources.ts';
import { isClone } from './function-code.ts';
import { type LocalFunction, loadFunctions, schedule } from './functions.ts';
import type { Addresses } from './local-folder.ts';
import { forLocalUser } from './local-user.ts';
import type { Polling } from './pollers.ts';
import { preparedAssembly } from './prepared.ts';
import { type Recovered, recover } from './recover.ts';
import { createQueues, createTables } from './resources.ts';
import { createNamedQueues, localServices } from './services.ts';
import { CloudAssembly, type Found, nameInArn, UnknownInTemplate } from './template.ts';

/** Running engines, and the prefix of one stack's resource names. */
export interface OnEngines {
  readonly dynamodb: string;
  readonly sqs: string;
  readonly prefix?: string;
  /** Resolves when the engine of the tables is not restarting. */
  readonly dynamodbSettled?: () => Promise<unknown>;
}

export interface RunOptions {
  readonly config: Config;
  readonly apiPort: number;
  readonly code?: 'sources' | 'bundles';
  readonly host: Omit<Host, 'clients'>;
  /** Wraps the clients of a function or of the {@link EVENT_SOURCES}, e.g. to count requests. Each then gets clients of its own. */
  readonly clients?: (clients: AwsClients, functionName: string) => AwsClients;
  readonly onInvoke?: (functionName: string, invocation: Promise<unknown>) => void;
  /** Wraps the API to serve more at its port. @default - only the API */
  readonly console?: (api: Hono) => Hono;
  readonly onError: (error: Error) => void;
}

/** The name of the local event sources, next to the names of functions. */
export const EVENT_SOURCES = 'event sources';

export interface StackOptions extends RunOptions, EngineOptions {}

/** Tables, queues, functions and API on running engines. */
export interface RunningStack {
  readonly addresses: Addresses;
  /** All environment variables of the functions, merged. */
  readonly settings: Environment;
  readonly clients: AwsClients;
  readonly recovered: Recovered;
  readonly functions: ReadonlyMap<string, LocalFunction>;
  /** Stops receiving messages, and finishes those in flight. */
  stop(): Promise<void>;
}

/** A running stack with its own engines, which end with it. */
export interface LocalStack extends RunningStack {
  /** Resolves to a message if an engine crashed and is not restarted. The stack cannot work then. */
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

/** Runs the stack on engines that the caller starts and ends. */
export const runStack = async (on: OnEngines, options: RunOptions): Promise<RunningStack> => {
  const { config, onError } = options;
  const assembly = new CloudAssembly(await assemblyOf(config, options.code), on);
  const clients = localClients({ ...on, requestHandler: quickHandler() });
  await Promise.all([createTables(assembly, clients.dynamodb), createQueues(assembly, clients.sqs)]);
  await createNamedQueues(config, clients.sqs);
  // Wrapping changes a client, so each wrapped function gets new clients. The others share one pair.
  const clientsOf = (name: string): AwsClients =>
    options.clients?.(localClients({ ...on, requestHandler: quickHandler() }), name) ?? clients;
  const services = localServices(process.env);
  const functions = await loadFunctions(
    assembly,
    (name) => ({ services, ...options.host, clients: clientsOf(name) }),
    options.onInvoke ?? (() => {}),
    config.producers,
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

/**
 * The folder of the cloud assembly. The CDK is loaded only in a clone: the package has templates instead, and its users
 * need no CDK.
 */
const assemblyOf = async (config: Config, code: RunOptions['code']): Promise<string> => {
  if (!isClone) return preparedAssembly(config);
  // A variable keeps the module out of the package.
  const module = './assembly.ts';
  const { synthesise } = (await import(module)) as { synthesise(of: Config, code: RunOptions['code']): string };
  return synthesise(config, code);
};

/** Clients of the local event sources. */
const pollingClients = (on: OnEngines, { clients: wrapped = (each) => each }: RunOptions): AwsClients =>
  wrapped(localClients({ ...on, patient: true, requestHandler: patientHandler() }), EVENT_SOURCES);

/** Merges the settings of all functions: together they name all tables and queues. */
const settingsOf = (functions: ReadonlyMap<string, LocalFunction>): Environment =>
  Object.assign({}, ...[...functions.values()].map(({ environment }) => environment)) as Environment;

const serveApi = (
  functions: ReadonlyMap<string, LocalFunction>,
  { apiPort, console }: RunOptions,
): Promise<LocalServer> => {
  const app = [...functions.values()].find(({ app }) => app !== undefined)?.app;
  if (!app) throw new UnknownInTemplate('no function that serves the API');
  const api = forLocalUser(app);
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
    tables: named(['task', 'batchLock', 'batch', 'fanOut', 'list', 'fleet', 'audit'], (name) => `${name}Table`),
  };
};

/** Settings of functions, as `tools/doctor` reads them from a deployed stack. */
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

/** Maximum number of connections to an engine. */
const CONNECTIONS = 128;

/**
 * HTTP client of the functions. undici takes a third of the processor time of the client in Node.js, and the main thread is
 * busy during a burst.
 *
 * An attempt may take longer than in AWS (`AWS_TRY`): an engine on a busy machine is slow, and a retry does not make it faster.
 * The timeout of the function still ends its requests.
 */
const quickHandler = (): RequestHandler =>
  new UndiciHttpHandler({
    dispatcher: { connections: CONNECTIONS, connect: { timeout: 2_000 }, headersTimeout: 4_000, bodyTimeout: 4_000 },
  });

/** HTTP client for long polls, each of which occupies a connection while it waits. */
const patientHandler = (): RequestHandler => new UndiciHttpHandler({ dispatcher: { connections: 1_024 } });
