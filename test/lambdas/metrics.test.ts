/** Every metric, read from the output of the deployed bundles while they do the counted work. */
import { setTimeout } from 'node:timers/promises';
import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stackNames } from '../../lib/stage.ts';
import { dynamoDBBatches } from '../../src/aws/dynamodb-batches.ts';
import { dynamoDBFanOuts } from '../../src/aws/dynamodb-fan-outs.ts';
import { dynamoDBLocks } from '../../src/aws/dynamodb-locks.ts';
import { dynamoDBTasks } from '../../src/aws/dynamodb-tasks.ts';
import { dynamoDBWaiting } from '../../src/aws/dynamodb-waiting.ts';
import { printBatch, printElect } from '../../src/domain/batches/messages.ts';
import { printCallback } from '../../src/domain/callbacks/callback.ts';
import { eventOf } from '../../src/domain/callbacks/event.ts';
import { setting } from '../../src/domain/deployed/environment.ts';
import { METRICS, type MetricName, NAMESPACE, STACK_DIMENSION } from '../../src/domain/events/metrics.ts';
import { type FanOutId, fanOutId } from '../../src/domain/fan-out-ids.ts';
import type { Target } from '../../src/domain/ids.ts';
import { printRedrive } from '../../src/domain/register/redrive-message.ts';
import type { NewTask } from '../../src/domain/tasks/task.ts';
import { type AwsService, startAwsService } from '../factories/aws-service.ts';
import { startTestDownstream, type TestDownstream } from '../factories/downstream.ts';
import {
  aConfig,
  aDownstream,
  anItem,
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
import { metricsOfAlarms, metricsOfDashboards, type NamedMetric } from '../infrastructure/rules/dashboard.ts';
import { type DeployedBundles, deployedBundles, type Measurement, of, recordOf } from './metrics-kit.ts';

describe('the metrics', () => {
  let bundles: DeployedBundles;
  let downstream: TestDownstream;
  let parameters: AwsService;
  /** The status that the downstream answers. */
  let status = 200;
  /** The operations and destinations of the tests below. */
  const configured = () => {
    const reached = { downstream: aDownstream({ url: downstream.url, timeout: 20_000 }) };
    const merging = { operation: operationName('merge'), merge: { keys: 'inputs[]' } };
    const fragile = { operation: operationName('fragile'), circuit: { failures: 1, coolDown: 1_000 } };
    return {
      ...aConfig(reached, { ...merging, ...reached }, { ...fragile, ...reached }),
      destinations: {
        ops: { kind: 'queue', name: 'ops' },
        gone: { kind: 'queue', name: 'gone' },
        down: { kind: 'http', url: 'http://127.0.0.1:9/', headers: {}, secret: { ssm: '/signing' }, timeout: 1_000 },
      } as const,
    };
  };
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

  const stores = () => {
    const { clients, settings } = bundles;
    return {
      tasks: dynamoDBTasks(clients.dynamodb, setting(settings, 'taskTable')),
      waiting: dynamoDBWaiting(clients.dynamodb, setting(settings, 'batchLockTable')),
      locks: dynamoDBLocks(clients.dynamodb, setting(settings, 'batchLockTable'), () => 3_600_000),
      batches: dynamoDBBatches(clients.dynamodb, setting(settings, 'batchTable')),
      fanOuts: dynamoDBFanOuts(clients.dynamodb, setting(settings, 'fanOutTable')),
    };
  };
  /** The message of a sealed batch of these tasks. */
  const sealed = async (where: Target, round: number, all: readonly NewTask[]): Promise<string> => {
    const { tasks, batches } = stores();
    const batch = batchId(`${where}#1#${round}`);
    const candidates = all.map((task) => candidate(task.id));
    await tasks.insert(all);
    await tasks.claim(candidates, batch);
    const forming = { id: batch, target: where, sealedBy: 'full' as const, candidates, oldestAt: NOW, createdAt: NOW };
    await batches.seal(await batches.form(forming), [], NOW, 3_600_000);
    return printBatch({ kind: 'due', batchId: batch });
  };

  it('count tasks from their registration to their results', async () => {
    const task = (fields: object) => JSON.stringify({ operation: 'ship', payload: { depot: 'HAM' }, ...fields });
    for (const fields of [{ coalesceKey: 'k' }, { coalesceKey: 'k' }, { expiresIn: '1s' }, { payload: {} }])
      await bundles.send('registerQueue', task(fields));
    await bundles.send('registerQueue', 'nothing that can be read');
    expect(await bundles.handle('registerQueue')).toEqual([
      ['TasksRegistered', of('operation=ship'), 3],
      ['TasksRejected', of('operation=-'), 1],
      ['TasksRejected', of('operation=ship'), 1],
    ]);
    expect(await bundles.handle('electQueue')).toEqual([['LeadersElected', of('operation=ship'), 1]]);
    expect(await bundles.handle('groupQueue')).toEqual([
      ['BatchesSealed', of('operation=ship', 'reason=waited'), 1],
      ['FillRatio', of('operation=ship'), 10],
      ['TasksExpired', of('operation=ship'), 1],
      ['TasksFailed', of('operation=ship'), 1],
      ['TasksSucceeded', of('operation=ship'), 1],
      ['Wait', of('operation=ship'), 'ms'],
    ]);
    expect(await bundles.handle('batchQueue')).toEqual([
      ['BatchesSucceeded', of('operation=ship'), 1],
      ['DownstreamCalls', of('operation=ship'), 1],
      ['DownstreamLatency', of('operation=ship'), 'ms'],
      ['TasksSucceeded', of('operation=ship'), 1],
    ]);
  });

  it("count the sweep's repairs: dead letters by queue, locks by operation", async () => {
    const { locks, waiting } = stores();
    for (const n of [1, 2])
      await bundles.send('electDeadLetters', printElect({ kind: 'elect', target: target(`ship/depot=${n}`) }));
    await bundles.send('groupDeadLetters', 'by hand');
    const task = { id: id('waits'), run: 1, createdAt: NOW, bytes: 10, target: target('ship/depot=stranded') };
    await waiting.put([task]);
    await locks.skipFence(task.target, 1, 0, NOW);
    for (const depot of ['expired', 'leaderless'] as const) {
      const where = target(`ship/depot=${depot}`);
      const mine = { fence: 1, token: token('gone') };
      await locks.acquire(where, { ...mine, seen: { fence: 0 }, now: NOW, until: NOW });
      const open = { batch: batchId(`${where}#1#1`), round: 1, by: token('gone'), until: NOW };
      if (depot === 'leaderless') await locks.openBatch(where, mine, open);
    }

    expect(await bundles.measured('SweepHandler', { source: 'aws.events' })).toEqual([
      ['DeadLettersRevived', of('queue=elect'), 1],
      ['DeadLettersRevived', of('queue=elect'), 1],
      ['DeadLettersUnreadable', of('queue=group'), 1],
      ['ExpiredLocksRepaired', of('operation=ship'), 1],
      ['LeaderlessBatchesRepaired', of('operation=ship'), 1],
      ...['fragile', 'merge', 'ship'].map((operation) => ['OldestWaiting', of(`operation=${operation}`), 'ms']),
      ...Array.from({ length: 3 }, () => ['Repairs', of(), 1]),
      ['StrandedRepaired', of('operation=ship'), 1],
    ]);
  });

  it('count a retried batch, and one that fails for good', async () => {
    const where = target('ship/depot=BRE');
    const put = await sealed(where, 1, [aTask({ id: id('put-off'), target: where })]);
    const refused = await sealed(where, 2, [aTask({ id: id('refused'), target: where })]);
    const called = (errors: readonly [string, string, number][]) => [
      ['DownstreamCalls', of('operation=ship'), 1],
      ...errors,
      ['DownstreamLatency', of('operation=ship'), 'ms'],
    ];
    status = 429;
    expect(await bundles.measured('BatchHandler', { Records: [recordOf(put)] })).toEqual([
      ['BatchesRetried', of('operation=ship'), 1],
      ...called([['DownstreamErrors', of('operation=ship'), 1]]),
    ]);
    status = 422;
    expect(await bundles.measured('BatchHandler', { Records: [recordOf(refused)] })).toEqual([
      ['BatchesFailed', of('operation=ship'), 1],
      ...called([['DownstreamErrors', of('operation=ship'), 1]]),
      ['TasksFailed', of('operation=ship'), 1],
    ]);
    status = 200;
  });

  it('count a leader that takes over after a lease ended', async () => {
    const { locks, waiting } = stores();
    const where = target('ship/depot=taken-over');
    await waiting.put([{ id: id('taken-over'), run: 1, createdAt: NOW, bytes: 10, target: where }]);
    await locks.acquire(where, { fence: 1, token: token('gone'), seen: { fence: 0 }, now: NOW, until: NOW });
    expect(
      await bundles.measured('ElectHandler', { Records: [recordOf(printElect({ kind: 'elect', target: where }))] }),
    ).toEqual([
      ['LeadersElected', of('operation=ship'), 1],
      ['LockTakeovers', of('operation=ship'), 1],
    ]);
  });

  it('count ended fan-outs, unsent events and unknown items', async () => {
    const { fanOuts } = stores();
    const [left, gone] = [fanOutId('left') as FanOutId, fanOutId('gone') as FanOutId];
    for (const each of [left, gone]) await fanOuts.open({ id: each, createdAt: NOW, callback: 'ops' }, NOW);
    await fanOuts.seal(left, NOW);
    // The destinations were removed from the configuration since.
    const nobody = { ...configured(), destinations: {} };
    const swept = await bundles.measured('SweepHandler', { source: 'aws.events' }, nobody);
    // The repairs of the earlier test repeat, since no function took their messages.
    expect(swept.filter(([name, dimensions]) => dimensions === of() && name !== 'Repairs')).toEqual([
      ['EventsUntold', of(), 1],
      ['EventsUntold', of(), 1],
      ['FanOutsCompleted', of(), 1],
      ['FanOutsExpired', of(), 1],
      ['FanOutsRepaired', of(), 1],
    ]);
    const where = target('ship/depot=items');
    const item = aTask({ id: id('item'), target: where, fanOutItem: anItem('unknown:0:0'), callback: 'ops' });
    const Records = [recordOf(await sealed(where, 1, [item]))];
    const ended = await bundles.measured('BatchHandler', { Records }, nobody);
    expect(ended.filter(([, dimensions]) => dimensions === of())).toEqual([
      ['EventsUntold', of(), 1],
      ['ItemsUnknown', of(), 1],
    ]);
  });

  it('count repairs by the API, and nothing for a GET', async () => {
    const { batches } = stores();
    const where = target('ship/depot=overdue');
    const forming = {
      id: batchId(`${where}#1#1`),
      target: where,
      sealedBy: 'full' as const,
      candidates: [candidate('a')],
    };
    await batches.seal(await batches.form({ ...forming, oldestAt: NOW, createdAt: NOW }), [], NOW, 3_600_000);
    await bundles.send('batchDeadLetters', '{"b":"unknown"}');
    const query = `target=${encodeURIComponent(where)}`;
    expect(await bundles.ask('GET', '/v1/doctor/batches', { query })).toEqual([]);
    expect(await bundles.ask('POST', '/v1/doctor/batches', { query })).toEqual([
      ['OverdueBatchesRepaired', of('operation=ship'), 1],
      ['Repairs', of(), 1],
    ]);
    expect(await bundles.ask('POST', '/v1/dead-letters/batch/redrive')).toEqual([
      ['DeadLettersRevived', of('queue=batch'), 1],
    ]);
  });

  it('count redriven tasks once each', async () => {
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
    const Records = ids.map((each, n) => recordOf(printRedrive({ id: each, run: 1 }), `m-${n}`));
    expect(await bundles.measured('RegisterHandler', { Records })).toEqual([
      ['TasksRedriven', of('operation=ship'), 2],
    ]);
    expect(await bundles.measured('RegisterHandler', { Records })).toEqual([]);
  });

  it('count merged requests, jobs, and skipped inputs', async () => {
    const where = target('merge/depot=MUC');
    const calls = downstream.calls.length;
    const handled = async (round: number, requests: readonly string[][]) => {
      const all = requests.map((inputs, n) =>
        aTask({
          id: id(`request-${round}-${n}`),
          operation: operationName('merge'),
          target: where,
          payload: JSON.stringify({ inputs }),
        }),
      );
      return bundles.measured('BatchHandler', { Records: [recordOf(await sealed(where, round, all))] });
    };
    const merged = [['a', 'b'], ['b', 'c'], []];
    const ofMerge = of('operation=merge');
    expect(await handled(1, merged)).toEqual([
      ['BatchesSucceeded', ofMerge, 1],
      ['DownstreamCalls', ofMerge, 1],
      ['DownstreamLatency', ofMerge, 'ms'],
      ['InputsMerged', ofMerge, 3],
      ['JobsStarted', ofMerge, 1],
      ['RequestsMerged', ofMerge, 3],
      ['TasksSucceeded', ofMerge, 3],
    ]);
    expect(await handled(2, [['a', 'c']])).toEqual([
      ['BatchesSucceeded', ofMerge, 1],
      ['InputsMerged', ofMerge, 2],
      ['InputsSkipped', ofMerge, 2],
      ['RequestsMerged', ofMerge, 1],
      ['TasksSucceeded', ofMerge, 1],
    ]);
    expect(downstream.calls.length - calls).toBe(1);
  });

  it('count a circuit that opens, and one that closes', async () => {
    const where = target('fragile/depot=MUC');
    const handled = async (n: number) => {
      const task = aTask({ id: id(`fragile-${n}`), operation: operationName('fragile'), target: where });
      return bundles.measured('BatchHandler', { Records: [recordOf(await sealed(where, n, [task]))] });
    };
    const ofFragile = of('operation=fragile');
    status = 503;
    expect(await handled(1)).toEqual([
      ['BatchesRetried', ofFragile, 1],
      ['CircuitOpened', ofFragile, 1],
      // Two calls: at once, and the immediate retry.
      ['DownstreamCalls', ofFragile, 1],
      ['DownstreamCalls', ofFragile, 1],
      ['DownstreamErrors', ofFragile, 1],
      ['DownstreamErrors', ofFragile, 1],
      ['DownstreamLatency', ofFragile, 'ms'],
      ['DownstreamLatency', ofFragile, 'ms'],
    ]);
    status = 200;
    await setTimeout(1_500);
    expect(await handled(2)).toEqual([
      ['BatchesSucceeded', ofFragile, 1],
      ['CircuitClosed', ofFragile, 1],
      ['DownstreamCalls', ofFragile, 1],
      ['DownstreamLatency', ofFragile, 'ms'],
      ['TasksSucceeded', ofFragile, 1],
    ]);
  });

  it('count delivered and failed events by destination', async () => {
    await bundles.clients.sqs.send(new CreateQueueCommand({ QueueName: 'ops' }));
    const ended = { status: 'succeeded', attempts: 1, finishedAt: NOW } as const;
    const event = eventOf(aStored(ended), ended);
    const delivered = async (to: string) =>
      bundles.measured('CallbackHandler', { Records: [recordOf(printCallback({ to, event }))] });
    expect(await delivered('ops')).toEqual([['CallbacksDelivered', of('destination=ops'), 1]]);
    const failed = (to: string, times = 1): Measurement[] => [
      ...Array.from({ length: times }, (): Measurement => ['CallbacksFailed', of(`destination=${to}`), 1]),
      ['OldestUndelivered', of(`destination=${to}`), 'ms'],
    ];
    expect(await delivered('gone')).toEqual(failed('gone'));
    const five = Array.from({ length: 5 }, (_, n) => recordOf(printCallback({ to: 'down', event }), `m${n}`));
    const [lastFailure, ...others] = failed('down', 5).toReversed();
    expect(await bundles.measured('CallbackHandler', { Records: five })).toEqual([
      ...others,
      ['DestinationsDown', of('destination=down'), 1],
      lastFailure,
    ]);
  });

  it('count repairs of forgotten Targets and of stuck slots', async () => {
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
    expect(await bundles.ask('POST', '/v1/doctor/targets', { query: 'operation=fragile' })).toEqual([
      ['ForgottenRepaired', of('operation=fragile'), 1],
      ['Repairs', of(), 1],
      ['Repairs', of(), 1],
      ['StuckSlotsRepaired', of('operation=fragile'), 1],
    ]);
  });

  it('count each part of a sweep that had no time left', async () => {
    const cut = await bundles.measured('SweepHandler', { source: 'aws.events' }, undefined, 4_000);
    expect(cut).toEqual(Array.from({ length: 2 }, () => ['SweepsCut', of(), 1]));
  });

  it('are all emitted by these tests', () =>
    expect([...bundles.emitted.keys()].toSorted()).toEqual(Object.keys(METRICS).toSorted()));

  it('are those of the dashboard and the alarms, with the same dimensions', () => {
    const named = [...metricsOfDashboards(bundles.ops), ...metricsOfAlarms(bundles.ops)].filter(
      ({ namespace }) => namespace === NAMESPACE,
    );
    expect(named.length).toBeGreaterThan(100);
    for (const { where, name, dimensions, unit } of named) {
      const emitted = [...(bundles.emitted.get(name) ?? [])].map((each) =>
        each.split(' ').map((pair) => pair.split('=')[0]),
      );
      expect(emitted, `${name} of ${where}`).toContainEqual([STACK_DIMENSION, ...METRICS[name as MetricName].by]);
      expect(Object.keys(dimensions).toSorted(), `${name} of ${where}`).toEqual(emitted[0]?.toSorted());
      expect(unit ?? METRICS[name as MetricName].unit).toBe(METRICS[name as MetricName].unit);
    }
    // Of this stack and of these operations, with the same values.
    const all = new Set([...bundles.emitted].flatMap(([name, sets]) => [...sets].map((each) => `${name} ${each}`)));
    const asEmitted = ({ name, dimensions }: NamedMetric) =>
      `${name} ${of(...METRICS[name as MetricName].by.map((each) => `${each}=${dimensions[each]}`))}`;
    const found = new Set(named.filter((each) => all.has(asEmitted(each))).map(({ name }) => name));
    expect([...new Set(named.map(({ name }) => name))].filter((name) => !found.has(name))).toEqual([]);
    for (const { dimensions } of named) expect(dimensions[STACK_DIMENSION]).toBe(stackNames('local').flow);
  });

  it('never have a Target as dimension', () => {
    for (const sets of bundles.emitted.values())
      for (const dimensions of sets) expect(dimensions).not.toMatch(/depot|ship\//);
  });
});
