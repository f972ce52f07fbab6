/**
 * Tables and queues of the template, without functions, for the contract suite. No other consumer receives their
 * messages, and no sweep changes their rows.
 */
import { randomBytes } from 'node:crypto';
import {
  DeleteTableCommand,
  DescribeTableCommand,
  TagResourceCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { DeleteQueueCommand, TagQueueCommand } from '@aws-sdk/client-sqs';
import { UndiciHttpHandler } from '@smithy/undici-http-handler';
import { inject } from 'vitest';
import type { AwsClients } from '../../src/aws/clients.ts';
import type { WorkingQueue } from '../../src/ports/queues.ts';
import { synthesise } from '../../tools/local/assembly.ts';
import { localClients } from '../../tools/local/clients.ts';
import { startEngines } from '../../tools/local/engines.ts';
import { createQueues, createTables } from '../../tools/local/resources.ts';
import { CloudAssembly, type Place } from '../../tools/local/template.ts';
import { aConfig } from '../factories/factories.ts';
import { clientsOf } from './cloud.ts';
import type { Given, GivenEngines, GivenStack } from './given.ts';
import { freshPrefix } from './here.ts';
import { strict } from './strict.ts';

export interface Resources {
  readonly clients: AwsClients;
  readonly tables: Readonly<Record<'task' | 'batchLock' | 'batch' | 'fanOut' | 'list' | 'fleet' | 'audit', string>>;
  readonly queues: Readonly<Record<WorkingQueue | 'rejected', string>>;
  readonly deadLetters: Readonly<Record<WorkingQueue, string>>;
  stop(): Promise<void>;
}

/** @param engine `as it is` keeps an engine's lax checks. @default - the clients refuse what AWS refuses */
export const makeResources = async (engine?: 'as it is'): Promise<Resources> => {
  // Tests that need no backend have no setup of one, and start engines of their own.
  const given: Given = inject('backend') ?? { functions: 'here' };
  const { place, clients, tags, stop } = given.functions === 'here' ? await onEngines(given) : inCloud(given);
  if (engine === undefined) strict(clients);
  const assembly = new CloudAssembly(synthesise(aConfig()), place);
  await createTables(assembly, clients.dynamodb);
  await createQueues(assembly, clients.sqs);
  const tables = assembly.all('AWS::DynamoDB::Table').map(({ name }) => name);
  const queues = assembly.all('AWS::SQS::Queue').map((queue) => assembly.urlOf(queue));
  for (const TableName of tables)
    await waitUntilTableExists({ client: clients.dynamodb, maxWaitTime: 60, minDelay: 1 }, { TableName });
  if (tags && Object.keys(tags).length > 0) await tag(clients, tables, queues, tags);
  const ending = (names: readonly string[], end: string): string => {
    const found = names.find((name) => name.endsWith(end));
    if (!found) throw new Error(`the template has no ${end}: ${names.join(', ')}`);
    return found;
  };
  const of = <Name extends string>(names: readonly Name[], nameOf: (name: Name) => string) =>
    Object.fromEntries(names.map((name) => [name, nameOf(name)])) as Record<Name, string>;
  const capital = (name: string): string => `${name[0]?.toUpperCase()}${name.slice(1)}`;
  const working = ['register', 'elect', 'group', 'batch'] as const;
  return {
    clients,
    tables: {
      ...of(['task', 'batchLock', 'batch', 'fanOut', 'list', 'audit'], (name) =>
        ending(tables, `Tables-${capital(name)}`),
      ),
      fleet: ending(tables, 'Tables-Fleet-Table'),
    },
    queues: of([...working, 'rejected'], (name) => ending(queues, `Flow-${capital(name)}-Queue`)),
    deadLetters: of(working, (name) => ending(queues, `Flow-${capital(name)}-DeadLetters`)),
    stop: async () => {
      const removals = await Promise.allSettled([
        ...tables.map((TableName) => clients.dynamodb.send(new DeleteTableCommand({ TableName }))),
        ...queues.map((QueueUrl) => clients.sqs.send(new DeleteQueueCommand({ QueueUrl }))),
      ]);
      await stop();
      const failures = removals.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
      if (failures.length > 0) throw new AggregateError(failures, 'not everything could be removed');
    },
  };
};

type Tags = Readonly<Record<string, string>>;

interface Ground {
  readonly place: Place;
  readonly clients: AwsClients;
  readonly tags?: Tags;
  stop(): Promise<void>;
}

/** Waits longer than functions do, because engines answer late on a machine with other work to do. */
const requestHandler = new UndiciHttpHandler({
  dispatcher: { connections: 128, connect: { timeout: 60_000 }, headersTimeout: 120_000, bodyTimeout: 120_000 },
});

const onEngines = async ({ engines }: GivenEngines): Promise<Ground> => {
  if (engines)
    return {
      place: { ...engines, prefix: freshPrefix() },
      clients: localClients({ ...engines, requestHandler }),
      stop: async () => {},
    };
  const own = await startEngines({ ports: { dynamodb: 0, sqs: 0 } });
  const endpoints = { dynamodb: own.dynamodb.endpoint, sqs: own.sqs.endpoint };
  return { place: endpoints, clients: localClients({ ...endpoints, requestHandler }), stop: () => own.stop() };
};

const inCloud = ({ cloud, stackName }: GivenStack): Ground => ({
  place: {
    sqs: cloud.endpoint ?? `https://sqs.${cloud.region}.amazonaws.com`,
    region: cloud.region,
    account: cloud.account,
    prefix: `${stackName}-${randomBytes(4).toString('hex')}-`,
  },
  clients: clientsOf(cloud),
  tags: cloud.tags,
  stop: async () => {},
});

const tag = async ({ dynamodb, sqs }: AwsClients, tables: readonly string[], queues: readonly string[], tags: Tags) => {
  const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  for (const TableName of tables) {
    const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName }));
    await dynamodb.send(new TagResourceCommand({ ResourceArn: Table?.TableArn, Tags }));
  }
  for (const QueueUrl of queues) await sqs.send(new TagQueueCommand({ QueueUrl, Tags: tags }));
};
