/** For the tests of the metrics: the deployed bundles, their tables, and a downstream whose answers a test sets. */
import { afterAll, beforeAll } from 'vitest';
import { writeAll } from '../../src/aws/dynamodb.ts';
import { dynamoDBBatches } from '../../src/aws/dynamodb-batches.ts';
import { dynamoDBBuckets } from '../../src/aws/dynamodb-buckets.ts';
import { dynamoDBFanOuts } from '../../src/aws/dynamodb-fan-outs.ts';
import { dynamoDBLists } from '../../src/aws/dynamodb-lists.ts';
import { dynamoDBLocks } from '../../src/aws/dynamodb-locks.ts';
import { dynamoDBTasks } from '../../src/aws/dynamodb-tasks.ts';
import { dynamoDBWaiting } from '../../src/aws/dynamodb-waiting.ts';
import { printBatch } from '../../src/domain/batches/messages.ts';
import { setting } from '../../src/domain/deployed/environment.ts';
import type { LimitName, Target } from '../../src/domain/ids.ts';
import type { NewTask } from '../../src/domain/tasks/task.ts';
import type { Item } from '../../src/rows/item.ts';
import { type AwsService, startAwsService } from '../factories/aws-service.ts';
import { startTestDownstream, type TestDownstream } from '../factories/downstream.ts';
import { aConfig, aDownstream, aPolicy, batchId, candidate, NOW, operationName } from '../factories/factories.ts';
import { type DeployedBundles, deployedBundles } from './metrics-kit.ts';

export let bundles: DeployedBundles;
export let downstream: TestDownstream;
let parameters: AwsService;
/** The status that the downstream answers. */
let status = 200;
/** Sets that status. */
export const answer = (next: number): void => {
  status = next;
};
/** The operations and destinations of the tests. */
export const configured = () => {
  const reached = { downstream: aDownstream({ url: downstream.url, timeout: 20_000 }) };
  const merging = { operation: operationName('merge'), merge: { keys: 'inputs[]' } };
  const fragile = { operation: operationName('fragile'), circuit: { failures: 1, coolDown: 1_000 } };
  const paced = {
    operation: operationName('paced'),
    limits: ['vendor' as LimitName],
    batch: aPolicy({ maxWeight: 50 }),
  };
  return {
    ...aConfig(reached, { ...merging, ...reached }, { ...fragile, ...reached }, { ...paced, ...reached }),
    limits: {
      vendor: {
        ...{ calls: null, weight: 1_000, per: 60_000, burst: 1, key: null },
        concurrency: { calls: null, weight: null },
      },
    },
    producerRules: 'warn' as const,
    destinations: {
      ops: { kind: 'queue', name: 'ops' },
      gone: { kind: 'queue', name: 'gone' },
      down: {
        kind: 'http',
        url: 'http://127.0.0.1:9/',
        headers: {},
        secret: { ssm: '/signing' },
        legacySignature: true,
        timeout: 1_000,
      },
    } as const,
  };
};

/** Starts the bundles, a downstream and a parameter store before the tests, and stops them afterwards. */
export const useBundles = (): void => {
  beforeAll(async () => {
    downstream = await startTestDownstream(async () => ({ status }));
    parameters = await startAwsService(() => ({ body: { Parameter: { Value: 'the signing key' } } }));
    bundles = await deployedBundles(configured(), { AWS_ENDPOINT_URL_SSM: parameters.options.endpoint });
  });
  afterAll(async () => {
    await downstream?.stop();
    await parameters?.stop();
    await bundles?.stop();
  });
};

/** The stores on the tables of the bundles. */
export const stores = () => {
  const { clients, settings } = bundles;
  return {
    tasks: dynamoDBTasks(clients.dynamodb, setting(settings, 'taskTable')),
    waiting: dynamoDBWaiting(clients.dynamodb, setting(settings, 'batchLockTable')),
    buckets: dynamoDBBuckets(clients.dynamodb, setting(settings, 'batchLockTable'), clients.clock),
    locks: dynamoDBLocks(clients.dynamodb, setting(settings, 'batchLockTable'), () => 3_600_000),
    batches: dynamoDBBatches(clients.dynamodb, setting(settings, 'batchTable')),
    fanOuts: dynamoDBFanOuts(clients.dynamodb, setting(settings, 'fanOutTable')),
    lists: dynamoDBLists(clients.dynamodb, setting(settings, 'fanOutTable'), setting(settings, 'listTable')),
  };
};
/** Puts rows into the List table of the bundles. */
export const writeListRows = (rows: readonly Item[]): Promise<void> =>
  writeAll(
    bundles.clients.dynamodb,
    setting(bundles.settings, 'listTable'),
    rows.map((put) => ({ put })),
  );
/** The message of a sealed batch of these tasks. */
export const sealed = async (where: Target, round: number, all: readonly NewTask[]): Promise<string> => {
  const { tasks, batches } = stores();
  const batch = batchId(`${where}#1#${round}`);
  const candidates = all.map((task) => candidate(task.id));
  await tasks.insert(all);
  await tasks.claim(candidates, batch);
  const forming = { id: batch, target: where, sealedBy: 'full' as const, candidates, oldestAt: NOW, createdAt: NOW };
  await batches.seal(await batches.form(forming), [], NOW, 3_600_000);
  return printBatch({ kind: 'due', batchId: batch });
};
