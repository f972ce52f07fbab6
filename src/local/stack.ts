/** The whole of Groupage on this machine: engines, resources, functions, API. */
import type { Host } from '../../lambdas/compose.ts';
import type { AwsClients } from '../aws/clients.ts';
import type { Config } from '../config/resolved.ts';
import { type Environment, type Setting, setting } from '../environment.ts';
import { synthesise } from './assembly.ts';
import { type EngineOptions, localClients, startEngines } from './engines.ts';
import { type LocalFunction, loadFunctions, type Polling, poll, schedule } from './functions.ts';
import { type LocalServer, serveLocally } from './http-server.ts';
import { type Recovered, recover } from './recover.ts';
import { createQueues, createTables } from './resources.ts';
import { CloudAssembly, UnknownInTemplate } from './template.ts';

/** Where everything is; `.groupage/local.json` holds it. */
export interface Addresses {
  readonly api: string;
  readonly dynamodb: string;
  readonly sqs: string;
  readonly queues: Readonly<Record<'register' | 'elect' | 'group' | 'batch' | 'rejected', string>>;
  readonly tables: Readonly<Record<'task' | 'batchLock' | 'batch', string>>;
}

export interface StackOptions extends EngineOptions {
  readonly config: Config;
  readonly apiPort: number;
  readonly code?: 'sources' | 'bundles';
  readonly host: Omit<Host, 'clients'>;
  /** Wraps the clients of the functions, e.g. to count what they use. */
  readonly clients?: (clients: AwsClients) => AwsClients;
  readonly onInvoke?: (functionName: string) => void;
  readonly onError: (error: Error) => void;
}

export interface LocalStack {
  readonly addresses: Addresses;
  readonly clients: AwsClients;
  readonly recovered: Recovered;
  /** Resolves, to why, when an engine ends by itself: nothing works then. */
  readonly broken: Promise<string>;
  /** Takes no more messages, finishes those in hand, ends the engines. */
  stop(): Promise<void>;
}

export const startStack = async (options: StackOptions): Promise<LocalStack> => {
  const { config, onError } = options;
  const folder = synthesise(config, options.code);
  const engines = await startEngines(options);
  const endpoints = { dynamodb: engines.dynamodb.endpoint, sqs: engines.sqs.endpoint };
  const running: { stop(): Promise<void> }[] = [engines];
  const stop = async (): Promise<void> => {
    for (const part of running.splice(0).reverse()) await part.stop();
  };
  try {
    const assembly = new CloudAssembly(folder, endpoints.sqs);
    const clients = localClients(endpoints);
    await Promise.all([createTables(assembly, clients.dynamodb), createQueues(assembly, clients.sqs)]);
    const functions = await loadFunctions(
      assembly,
      { ...options.host, clients: options.clients?.(clients) ?? clients },
      options.onInvoke ?? (() => {}),
    );
    const settings = settingsOf(functions);
    const recovered = await recover(clients, settings, config);
    const server = await serveApi(functions, options.apiPort);
    const work: Polling[] = [
      poll(assembly, functions, localClients({ ...endpoints, patient: true }).sqs, onError),
      schedule(assembly, functions, onError),
    ];
    running.push(...work, server);
    const broken = engines.dynamodb.died.then((why) => `${engines.dynamodb.name} ended (${why})`);
    return { addresses: addressesOf(server, endpoints, settings), clients, recovered, broken, stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
};

/** Every setting of any function: together they name all tables and queues. */
const settingsOf = (functions: ReadonlyMap<string, LocalFunction>): Environment =>
  Object.assign({}, ...[...functions.values()].map(({ environment }) => environment)) as Environment;

const serveApi = (functions: ReadonlyMap<string, LocalFunction>, port: number): Promise<LocalServer> => {
  const api = [...functions.values()].find(({ app }) => app !== undefined)?.app;
  if (!api) throw new UnknownInTemplate('no function that serves the API');
  return serveLocally(api, port);
};

const addressesOf = (
  server: LocalServer,
  { dynamodb, sqs }: { dynamodb: string; sqs: string },
  settings: Environment,
): Addresses => {
  const named = <Name extends string>(names: readonly Name[], settingOf: (name: Name) => Setting) =>
    Object.fromEntries(names.map((name) => [name, setting(settings, settingOf(name))])) as Record<Name, string>;
  return {
    api: `${server.endpoint}/v1`,
    dynamodb,
    sqs,
    queues: named(['register', 'elect', 'group', 'batch', 'rejected'], (name) => `${name}Queue`),
    tables: named(['task', 'batchLock', 'batch'], (name) => `${name}Table`),
  };
};
