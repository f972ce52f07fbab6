/** Runs the template's functions in this process, each with its environment from the template. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Context } from 'aws-lambda';
import type { Hono } from 'hono';
import { type Host, invocationOf } from '../../lambdas/host.ts';
import { inInvocation } from '../../src/aws/call-time.ts';
import { ENVIRONMENT, type Environment } from '../../src/domain/deployed/environment.ts';
import { everyProducer, type Producers } from '../../src/domain/producers/rules.ts';
import { LOCAL_SENDER } from '../../src/domain/producers/sender.ts';
import { LOCAL_REGION } from './clients.ts';
import { type Polling, Sleepers } from './pollers.ts';
import { type CloudAssembly, type Found, LOCAL_ACCOUNT, nameInArn, UnknownInTemplate } from './template.ts';

type Handler = (event: unknown, context: Context) => Promise<unknown>;

/** Exports of a module in `lambdas/`, besides its handler. */
export interface HandlerModule {
  readonly compose: (environment: Environment, host: Host) => Handler;
  readonly composeApp?: (environment: Environment, host: Host) => Hono;
}

export interface LocalFunction {
  readonly name: string;
  readonly environment: Environment;
  readonly sleepers: Sleepers;
  /** Timeout in ms. */
  readonly timeout: number;
  invoke(event: unknown): Promise<unknown>;
  readonly app?: Hono;
}

/**
 * Loads all functions of the assembly.
 *
 * @param hostOf host by function name.
 * @param onInvoke called at the start of each invocation.
 * @param producers the configured names of producers.
 */
export const loadFunctions = async (
  assembly: CloudAssembly,
  hostOf: (name: string) => Host,
  onInvoke: (name: string, invocation: Promise<unknown>) => void,
  producers: Producers = {},
): Promise<Map<string, LocalFunction>> => {
  const functions = await Promise.all(
    assembly.all('AWS::Lambda::Function').map((fn) => loadFunction(assembly, fn, hostOf(fn.name), onInvoke, producers)),
  );
  return new Map(functions.map((fn) => [fn.name, fn]));
};

const loadFunction = async (
  assembly: CloudAssembly,
  fn: Found,
  host: Host,
  onInvoke: (name: string, invocation: Promise<unknown>) => void,
  producers: Producers,
): Promise<LocalFunction> => {
  const folder = assembly.codeOf(fn);
  const { Variables = {} } = (fn.properties.Environment ?? {}) as { Variables?: Record<string, string> };
  const environment = {
    ...Variables,
    ...localSenders(producers),
    LAMBDA_TASK_ROOT: folder,
    AWS_REGION: LOCAL_REGION,
  };
  const module = (await import(pathToFileURL(join(folder, 'index.mjs')).href)) as HandlerModule;
  const timeout = Number(fn.properties.Timeout ?? 3) * 1_000;
  return {
    ...functionOf(module.compose, { name: fn.name, environment, timeout }, host, onInvoke),
    ...(module.composeApp ? { app: module.composeApp(environment, host) } : {}),
  };
};

/**
 * A local SQS tells no senders apart, so each local sender counts as a function of Groupage, and as every configured
 * producer.
 */
const localSenders = (producers: Producers): Environment => ({
  [ENVIRONMENT.ownRoles]: LOCAL_ACCOUNT,
  [ENVIRONMENT.producers]: JSON.stringify(everyProducer(producers, LOCAL_SENDER.id, LOCAL_ACCOUNT)),
});

/** Creates a local function from its code. */
export const functionOf = (
  compose: HandlerModule['compose'],
  { name, environment, timeout }: Pick<LocalFunction, 'name' | 'environment' | 'timeout'>,
  host: Host,
  onInvoke: (name: string, invocation: Promise<unknown>) => void,
): LocalFunction => {
  const sleepers = new Sleepers();
  const handler = compose(environment, { ...host, sleep: sleepers.sleep });
  const invoke: LocalFunction['invoke'] = (event) => {
    const context = contextOf(name, timeout);
    const invocation = inInvocation(invocationOf(context), () => handler(event, context));
    onInvoke(name, invocation);
    return invocation;
  };
  return { name, environment, timeout, sleepers, invoke };
};

const contextOf = (functionName: string, timeout: number): Context => {
  const deadline = Date.now() + timeout;
  return {
    functionName,
    awsRequestId: crypto.randomUUID(),
    getRemainingTimeInMillis: () => deadline - Date.now(),
  } as Context;
};

/** Invokes the functions that have a schedule in the template, until stopped. */
export const schedule = (
  assembly: CloudAssembly,
  functions: ReadonlyMap<string, LocalFunction>,
  onError: (error: Error) => void,
): Polling => {
  const rules = assembly.all('AWS::Events::Rule');
  // No local service sends events about executions: a state machine of an emulator must report its results itself.
  const schedules = rules.filter(({ properties }) => properties.EventPattern === undefined);
  const timers = schedules.map(({ properties }) => {
    const [, minutes] = /^rate\((\d+) minutes?\)$/.exec(String(properties.ScheduleExpression)) ?? [];
    const [target] = (properties.Targets ?? []) as { Arn: string }[];
    const fn = functions.get(nameInArn(target?.Arn));
    if (!minutes || !fn) throw new UnknownInTemplate(`the schedule ${properties.ScheduleExpression}`);
    return setInterval(() => fn.invoke({ source: 'aws.events' }).catch(onError), Number(minutes) * 60_000);
  });
  return { stop: async () => timers.forEach(clearInterval) };
};
