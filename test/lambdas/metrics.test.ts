/** Every repair is a metric: read from what the deployed bundles print, on tables and queues where nobody else works. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CreateQueueCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AwsClients } from '../../src/aws/clients.ts';
import { dynamoDBBatches } from '../../src/aws/dynamodb-batches.ts';
import { dynamoDBLocks } from '../../src/aws/dynamodb-locks.ts';
import { dynamoDBTasks } from '../../src/aws/dynamodb-tasks.ts';
import { dynamoDBWaiting } from '../../src/aws/dynamodb-waiting.ts';
import { printBatch, printElect } from '../../src/batching/messages.ts';
import { printRedrive } from '../../src/batching/redrive.ts';
import { printCallback } from '../../src/callbacks/callback.ts';
import { eventOf } from '../../src/callbacks/event.ts';
import { ENVIRONMENT, type Environment, type Setting, setting } from '../../src/environment.ts';
import { synthesise } from '../../src/local/assembly.ts';
import { type Engines, localClients, startEngines } from '../../src/local/engines.ts';
import { createQueues, createTables } from '../../src/local/resources.ts';
import { CloudAssembly } from '../../src/local/template.ts';
import { METRICS, NAMESPACE, STACK_DIMENSION } from '../../src/metrics.ts';
import { startTestDownstream, type TestDownstream } from '../factories/downstream.ts';
import {
  aConfig,
  aDownstream,
  aStored,
  aTask,
  batchId,
  candidate,
  id,
  NOW,
  operationName,
  target,
  token,
} from '../factories/factories.ts';

const NODE = join(import.meta.dirname, '../../node_modules/node/bin/node');
const STACK = 'Groupage-test-Flow';
/** Runs a handler of a bundle once. */
const RUN = `
const [file, event] = process.argv.slice(1);
const { handler } = await import(file);
const context = { functionName: 'test', awsRequestId: 'r', getRemainingTimeInMillis: () => 50_000 };
const answer = await handler(JSON.parse(event), context);
if (answer?.statusCode >= 400 || answer?.batchItemFailures?.length > 0) throw new Error(JSON.stringify(answer));
`;

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

/** What a line says: a metric, its dimensions in order, its value. */
const measurements = (lines: readonly Line[]): [name: string, dimensions: string, value: unknown][] =>
  lines.flatMap((line) =>
    line._aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) => {
      expect(Namespace).toBe(NAMESPACE);
      return Metrics.flatMap(({ Name, Unit }) => {
        expect(Unit).toBe('Count');
        return Dimensions.map((names): [string, string, unknown] => [
          Name,
          names.map((each) => `${each}=${line[each]}`).join(' '),
          line[Name],
        ]);
      });
    }),
  );

/** What it printed, also where it failed: then its messages come back. */
const run = async (args: readonly string[], env: Record<string, string>): Promise<string> => {
  try {
    return (await promisify(execFile)(NODE, args, { env })).stdout;
  } catch (cause) {
    if (cause instanceof Error && 'stdout' in cause && cause.message.includes('batchItemFailures'))
      return String(cause.stdout);
    throw cause;
  }
};

describe('the metrics', () => {
  let engines: Engines;
  let clients: AwsClients;
  let assembly: CloudAssembly;
  let settings: Environment;
  let downstream: TestDownstream;
  const emitted = new Set<string>();
  /** What the downstream answers. */
  let status = 200;
  beforeAll(async () => {
    engines = await startEngines({ ports: { dynamodb: 0, sqs: 0 } });
    const on = { dynamodb: engines.dynamodb.endpoint, sqs: engines.sqs.endpoint };
    clients = localClients(on);
    downstream = await startTestDownstream(async () => ({ status }));
    const merging = { operation: operationName('merge'), merge: { keys: 'inputs[]' } };
    const reached = { downstream: aDownstream({ url: downstream.url, timeout: 20_000 }) };
    const fragile = { operation: operationName('fragile'), circuit: { failures: 1, coolDown: 1_000 } };
    const config = {
      ...aConfig({}, { ...merging, ...reached }, { ...fragile, ...reached }),
      destinations: { ops: { kind: 'queue', name: 'ops' }, gone: { kind: 'queue', name: 'gone' } } as const,
    };
    assembly = new CloudAssembly(synthesise(config, 'bundles'), on);
    await Promise.all([createTables(assembly, clients.dynamodb), createQueues(assembly, clients.sqs)]);
    const environments = assembly.all('AWS::Lambda::Function').map(({ properties }) => properties.Environment);
    settings = Object.assign({}, ...environments.map((each) => (each as { Variables: object }).Variables));
  });
  afterAll(async () => {
    await downstream?.stop();
    await engines?.stop();
  });

  /** Invokes a function as Lambda does, in a process of its own. @returns the metrics that it printed */
  const measured = async (part: string, event: object) => {
    const fn = assembly.all('AWS::Lambda::Function').find(({ name }) => name.includes(part));
    if (!fn) throw new Error(`the template has no function ${part}`);
    const folder = assembly.codeOf(fn);
    const { Variables } = fn.properties.Environment as { Variables: Record<string, string> };
    const args = ['--input-type=module', '-e', RUN, join(folder, 'index.mjs'), JSON.stringify(event)];
    const stdout = await run(args, {
      ...Variables,
      [ENVIRONMENT.stack]: STACK,
      LAMBDA_TASK_ROOT: folder,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: engines.dynamodb.endpoint,
      AWS_ENDPOINT_URL_SQS: engines.sqs.endpoint,
    });
    const lines = stdout.split('\n').flatMap((line) => (line.includes('"_aws"') ? [JSON.parse(line) as Line] : []));
    const found = measurements(lines);
    for (const [name] of found) emitted.add(name);
    return found.toSorted(([a], [b]) => a.localeCompare(b));
  };
  const stores = () => ({
    tasks: dynamoDBTasks(clients.dynamodb, setting(settings, 'taskTable')),
    waiting: dynamoDBWaiting(clients.dynamodb, setting(settings, 'batchLockTable')),
    locks: dynamoDBLocks(clients.dynamodb, setting(settings, 'batchLockTable'), () => 3_600_000),
    batches: dynamoDBBatches(clients.dynamodb, setting(settings, 'batchTable')),
  });
  const send = (queue: Setting, MessageBody: string) =>
    clients.sqs.send(new SendMessageCommand({ QueueUrl: setting(settings, queue), MessageBody }));
  const ask = (method: string, rawPath: string, rawQueryString = '') =>
    measured('ApiHandler', {
      version: '2.0',
      rawPath,
      rawQueryString,
      headers: {},
      requestContext: { http: { method, path: rawPath } },
      isBase64Encoded: false,
    });
  const recordOf = (body: string) => ({
    messageId: 'm',
    body,
    attributes: { ApproximateReceiveCount: '1' },
    messageAttributes: {},
    eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:queue',
  });
  const of = (dimension: string): string => `${STACK_DIMENSION}=${STACK} ${dimension}`;

  it('tell what the sweep repaired: dead letters by their queue, locks by their operation', async () => {
    const { locks, waiting } = stores();
    for (const n of [1, 2]) await send('electDeadLetters', printElect({ target: target(`ship/depot=${n}`) }));
    await send('groupDeadLetters', 'by hand');
    const task = { id: id('waits'), run: 1, createdAt: NOW, bytes: 10, target: target('ship/depot=stranded') };
    await waiting.put([task]);
    await locks.burn(task.target, 1, 0, NOW);
    for (const depot of ['expired', 'leaderless'] as const) {
      const where = target(`ship/depot=${depot}`);
      const mine = { fence: 1, token: token('gone') };
      await locks.acquire(where, { ...mine, seen: { fence: 0 }, now: NOW, until: NOW });
      const open = { batch: batchId(`${where}#1#1`), round: 1, by: token('gone'), until: NOW };
      if (depot === 'leaderless') await locks.openBatch(where, mine, open);
    }

    expect(await measured('SweepHandler', { source: 'aws.events' })).toEqual([
      ['DeadLettersRevived', of('queue=elect'), 1],
      ['DeadLettersRevived', of('queue=elect'), 1],
      ['DeadLettersUnreadable', of('queue=group'), 1],
      ['ExpiredLocksRepaired', of('operation=ship'), 1],
      ['LeaderlessBatchesRepaired', of('operation=ship'), 1],
      ['StrandedRepaired', of('operation=ship'), 1],
    ]);
  });

  it('tell what was repaired when somebody asked for it, and of a look nothing', async () => {
    const { batches } = stores();
    const where = target('ship/depot=overdue');
    const forming = {
      id: batchId(`${where}#1#1`),
      target: where,
      sealedBy: 'full' as const,
      candidates: [candidate('a')],
    };
    await batches.seal(await batches.form({ ...forming, oldestAt: NOW, createdAt: NOW }), [], NOW, 3_600_000);
    await send('batchDeadLetters', '{"b":"unknown"}');
    const query = `target=${encodeURIComponent(where)}`;
    expect(await ask('GET', '/v1/doctor/batches', query)).toEqual([]);
    expect(await ask('POST', '/v1/doctor/batches', query)).toEqual([
      ['OverdueBatchesRepaired', of('operation=ship'), 1],
    ]);
    expect(await ask('POST', '/v1/dead-letters/batch/redrive')).toEqual([['DeadLettersRevived', of('queue=batch'), 1]]);
  });

  it('tell how many tasks were redriven, once each', async () => {
    const { tasks } = stores();
    const ids = [id('failed-1'), id('failed-2')];
    await tasks.insert(ids.map((each) => aTask({ id: each })));
    const batch = batchId('ship/depot=MUC#1#1');
    await tasks.claim(
      ids.map((each) => candidate(each)),
      batch,
    );
    const outcome = { status: 'failed', error: { code: 'bad', message: 'no', retriable: false } } as const;
    const by = { id: batch, target: target('ship/depot=MUC'), attempts: 1, at: NOW, keep: 3_600_000 };
    await tasks.finish(
      ids.map((each) => ({ id: each, outcome })),
      by,
    );
    const Records = ids.map((each, n) => ({ messageId: `m-${n}`, body: printRedrive({ id: each, run: 1 }) }));
    expect(await measured('RegisterHandler', { Records })).toEqual([['TasksRedriven', of('operation=ship'), 2]]);
    expect(await measured('RegisterHandler', { Records })).toEqual([]);
  });

  it('tell how many requests were merged, into how many jobs, and what was left out of them', async () => {
    const { tasks, batches } = stores();
    const where = target('merge/depot=MUC');
    const handled = async (round: number, requests: readonly string[][]) => {
      const batch = batchId(`${where}#1#${round}`);
      const all = requests.map((inputs, n) =>
        aTask({
          id: id(`request-${round}-${n}`),
          operation: operationName('merge'),
          target: where,
          payload: JSON.stringify({ inputs }),
        }),
      );
      await tasks.insert(all);
      const candidates = all.map((task) => candidate(task.id));
      await tasks.claim(candidates, batch);
      const forming = {
        id: batch,
        target: where,
        sealedBy: 'full' as const,
        candidates,
        oldestAt: NOW,
        createdAt: NOW,
      };
      await batches.seal(await batches.form(forming), [], NOW, 3_600_000);
      const record = { messageId: 'm', attributes: { ApproximateReceiveCount: '1' }, messageAttributes: {} };
      return measured('BatchHandler', { Records: [{ ...record, body: printBatch({ batchId: batch }) }] });
    };
    const merged = [['a', 'b'], ['b', 'c'], []];
    const ofMerge = of('operation=merge');
    expect(await handled(1, merged)).toEqual([
      ['InputsMerged', ofMerge, 3],
      ['JobsStarted', ofMerge, 1],
      ['RequestsMerged', ofMerge, 3],
    ]);
    expect(await handled(2, [['a', 'c']])).toEqual([
      ['InputsMerged', ofMerge, 2],
      ['InputsSkipped', ofMerge, 2],
      ['RequestsMerged', ofMerge, 1],
    ]);
    expect(downstream.calls).toHaveLength(1);
  });

  /** A batch of one task, handled by the bundle. */
  const handledAlone = async (operation: string, n: number) => {
    const { tasks, batches } = stores();
    const where = target(`${operation}/depot=MUC`);
    const [task, batch] = [id(`${operation}-${n}`), batchId(`${where}#1#${n}`)];
    await tasks.insert([aTask({ id: task, operation: operationName(operation), target: where })]);
    await tasks.claim([candidate(task)], batch);
    const forming = { id: batch, target: where, sealedBy: 'full' as const, candidates: [candidate(task)] };
    await batches.seal(await batches.form({ ...forming, oldestAt: NOW, createdAt: NOW }), [], NOW, 3_600_000);
    return measured('BatchHandler', { Records: [recordOf(printBatch({ batchId: batch }))] });
  };

  it('tell when a circuit opens, and when a downstream takes calls again', async () => {
    status = 503;
    expect(await handledAlone('fragile', 1)).toEqual([['CircuitOpened', of('operation=fragile'), 1]]);
    status = 200;
    await setTimeout(1_500);
    expect(await handledAlone('fragile', 2)).toEqual([['CircuitClosed', of('operation=fragile'), 1]]);
  });

  it('tell of events that came to their destination, and of those that did not', async () => {
    await clients.sqs.send(new CreateQueueCommand({ QueueName: 'ops' }));
    const ended = { status: 'succeeded', attempts: 1, finishedAt: NOW } as const;
    const event = eventOf(aStored(ended), ended);
    const delivered = async (to: string) =>
      measured('CallbackHandler', { Records: [recordOf(printCallback({ to, event }))] });
    expect(await delivered('ops')).toEqual([['CallbacksDelivered', of('destination=ops'), 1]]);
    expect(await delivered('gone')).toEqual([['CallbacksFailed', of('destination=gone'), 1]]);
  });

  it('tell of Targets that nobody would have told of room, and of places that nobody would have given back', async () => {
    const { locks } = stores();
    const mine = { fence: 1, token: token('gone') };
    for (const depot of ['forgotten', 'stuck']) {
      const where = target(`fragile/depot=${depot}`);
      await locks.acquire(where, { ...mine, seen: { fence: 0 }, now: NOW, until: NOW });
      if (depot === 'forgotten') await locks.block(where, mine, { round: 0, at: NOW });
      else {
        const batch = batchId(`${where}#1#1`);
        await locks.openBatch(where, mine, { batch, round: 1, by: token('gone'), until: NOW, perTarget: 1 });
        await locks.closeBatch(where, batch);
        await locks.release(where, mine);
      }
    }
    expect(await ask('POST', '/v1/doctor/targets', 'operation=fragile')).toEqual([
      ['ForgottenRepaired', of('operation=fragile'), 1],
      ['StuckSlotsRepaired', of('operation=fragile'), 1],
    ]);
  });

  it('are all that there are', () => expect([...emitted].toSorted()).toEqual(Object.keys(METRICS).toSorted()));
});
