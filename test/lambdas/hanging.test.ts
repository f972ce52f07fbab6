/** Requests without an answer: an engine accepts them, and sends nothing. */
import { setTimeout } from 'node:timers/promises';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inInvocation } from '../../src/aws/call-time.ts';
import type { AwsClients } from '../../src/aws/clients.ts';
import { setting } from '../../src/domain/deployed/environment.ts';
import { TO_REPORT } from '../../src/domain/timings.ts';
import { synthesise } from '../../tools/local/assembly.ts';
import { localClients } from '../../tools/local/clients.ts';
import { type Engines, startEngines } from '../../tools/local/engines.ts';
import { functionOf, type HandlerModule, type LocalFunction, loadFunctions } from '../../tools/local/functions.ts';
import { createQueues, createTables } from '../../tools/local/resources.ts';
import { CloudAssembly } from '../../tools/local/template.ts';
import { errorLog } from '../factories/error-log.ts';
import { aConfig, aPolicy, operationName } from '../factories/factories.ts';
import { startHanging } from '../factories/hanging-engine.ts';

const config = aConfig({ operation: operationName('ship'), keys: ['depot'], batch: aPolicy({ maxWait: 0 }) });
/** Ten depots for each test, and the one whose requests hang. */
const depotsOf = (test: string) => ({
  depots: Array.from({ length: 10 }, (_, n) => `${test}${n}`),
  stuck: `${test}7`,
});
const target = (depot: string): string => `ship/depot=${depot}`;

let engines: Engines;
let clients: AwsClients;
let functions: ReadonlyMap<string, LocalFunction>;

beforeAll(async () => {
  engines = await startEngines({ ports: { dynamodb: 0, sqs: 0 } });
  const at = { dynamodb: engines.dynamodb.endpoint, sqs: engines.sqs.endpoint };
  clients = localClients(at);
  const assembly = new CloudAssembly(synthesise(config), at);
  await Promise.all([createTables(assembly, clients.dynamodb), createQueues(assembly, clients.sqs)]);
  functions = await loadFunctions(
    assembly,
    () => ({ clients, log: errorLog([]) }),
    () => {},
  );
});
afterAll(() => engines.stop());

const named = (part: string): LocalFunction => {
  const found = [...functions.values()].find(({ name }) => name.includes(part));
  if (!found) throw new Error(`no function ${part}`);
  return found;
};

const eventOf = (bodies: readonly string[]) => ({
  Records: bodies.map((body, n) => ({
    messageId: `m${n}`,
    body,
    eventSourceARN: 'arn:aws:sqs:us-east-1:0:Queue',
    attributes: { ApproximateReceiveCount: '1' },
    messageAttributes: {},
  })),
});

interface Asked {
  readonly part: string;
  readonly module: object;
  readonly bodies: readonly string[];
  readonly stuck: string;
  /** The function's timeout, in milliseconds. */
  readonly timeout: number;
  /** The time for a hanging request, in milliseconds. @default - the usual one */
  readonly call?: number;
}

/** Requests on one depot run as if the function had little time left. */
const hurried = (client: AwsClients['dynamodb'], stuck: string, call: number): AwsClients['dynamodb'] => {
  const send = client.send.bind(client) as (...args: unknown[]) => Promise<unknown>;
  const timeLeft = (): number => call + TO_REPORT;
  return Object.assign(client, {
    send: (...args: unknown[]) =>
      JSON.stringify(args).includes(target(stuck)) ? inInvocation({ timeLeft }, () => send(...args)) : send(...args),
  });
};

/** Invokes a function whose requests on one depot hang, until it answers or its timeout ends it. */
const invoke = async ({ part, module, bodies, stuck, timeout, call }: Asked) => {
  const hanging = await startHanging(engines.dynamodb.endpoint, (body) => body.includes(target(stuck)));
  const causes: string[] = [];
  const { dynamodb, ...rest } = localClients({ dynamodb: hanging.endpoint, sqs: engines.sqs.endpoint });
  const host = {
    clients: { ...rest, dynamodb: call === undefined ? dynamodb : hurried(dynamodb, stuck, call) },
    log: errorLog(causes),
  };
  const fn = functionOf((module as HandlerModule).compose, { ...named(part), timeout }, host, () => {});
  const platform = setTimeout(timeout, 'the platform ended it', { ref: false });
  const answer = await Promise.race([fn.invoke(eventOf(bodies)), platform]);
  await hanging.stop();
  return { answer, causes, asked: hanging.left.length };
};

/** Only the message of that depot comes back. */
const expectOne = ({ answer, causes, asked }: Awaited<ReturnType<typeof invoke>>, index: number): void => {
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: `m${index}` }] });
  expect(causes).toEqual([expect.stringContaining('TimeIsUp: no answer from DynamoDB within')]);
  expect(asked).toBeGreaterThan(0);
};

const taskOf = (depot: string): string => JSON.stringify({ id: `t-${depot}`, operation: 'ship', payload: { depot } });
const electOf = (depot: string): string => JSON.stringify({ target: target(depot) });

const rowOf = async (
  table: 'taskTable' | 'batchLockTable',
  Key: object,
): Promise<Record<string, unknown> | undefined> => {
  const TableName = setting(named('GroupHandler').environment, table);
  const { Item } = await clients.dynamodb.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
  return Item;
};
const statuses = (depots: readonly string[]) =>
  Promise.all(depots.map(async (depot) => (await rowOf('taskTable', { Id: `t-${depot}` }))?.Status));
const leaders = (depots: readonly string[]) =>
  Promise.all(
    depots.map(async (depot) => (await rowOf('batchLockTable', { Target: target(depot), Entry: 'lock' }))?.LockHolder),
  );

it.concurrent('the elect function leads nine Targets if the tenth hangs, whose message comes back', async () => {
  const { depots, stuck } = depotsOf('elect');
  await named('RegisterHandler').invoke(eventOf(depots.map(taskOf)));
  const module = await import('../../lambdas/elect-leader.ts');
  expectOne(await invoke({ part: 'ElectHandler', module, bodies: depots.map(electOf), stuck, timeout: 4_000 }), 7);
  expect((await leaders(depots)).map((holder) => holder !== undefined)).toEqual(depots.map((each) => each !== stuck));
});

/** The messages that the elect function sent to the group queue. */
const guardsOf = async (depots: readonly string[]): Promise<string[]> => {
  await named('RegisterHandler').invoke(eventOf(depots.map(taskOf)));
  await named('ElectHandler').invoke(eventOf(depots.map(electOf)));
  const QueueUrl = setting(named('GroupHandler').environment, 'groupQueue');
  const guards = new Map<string, string>();
  while (guards.size < depots.length) {
    const { Messages = [] } = await clients.sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
    for (const { Body = '' } of Messages)
      for (const depot of depots) if (Body.includes(target(depot))) guards.set(depot, Body);
  }
  return depots.map((depot) => guards.get(depot) as string);
};

it.concurrent('the group function seals nine batches if the tenth hangs, whose guard comes back', async () => {
  const { depots, stuck } = depotsOf('group');
  const bodies = await guardsOf(depots);
  const module = await import('../../lambdas/group.ts');
  expectOne(await invoke({ part: 'GroupHandler', module, bodies, stuck, timeout: 20_000, call: 300 }), 7);
  expect(await statuses(depots)).toEqual(depots.map((depot) => (depot === stuck ? 'created' : 'batched')));
});

it.concurrent('the register function stores nine tasks if the tenth hangs, whose message comes back', async () => {
  const { depots, stuck } = depotsOf('register');
  const module = await import('../../lambdas/register.ts');
  const bodies = depots.map(taskOf);
  expectOne(await invoke({ part: 'RegisterHandler', module, bodies, stuck, timeout: 20_000, call: 300 }), 7);
  const TableName = setting(named('GroupHandler').environment, 'batchLockTable');
  const rows = await Promise.all(
    depots.map(async (depot) => {
      const Target = target(depot);
      const { Count } = await clients.dynamodb.send(
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'Target = :t AND begins_with(Entry, :wait)',
          ExpressionAttributeValues: { ':t': Target, ':wait': 'wait#' },
          ConsistentRead: true,
        }),
      );
      return Count;
    }),
  );
  expect(rows).toEqual(depots.map((depot) => (depot === stuck ? 0 : 1)));
});
