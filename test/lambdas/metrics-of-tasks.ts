/** Tests of the metrics of tasks, batches, calls and events. They run in metrics.test.ts, which checks all metrics. */
import { setTimeout } from 'node:timers/promises';
import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { printElect } from '../../src/domain/batches/messages.ts';
import { printCallback } from '../../src/domain/callbacks/callback.ts';
import { eventOf } from '../../src/domain/callbacks/event.ts';
import type { BucketId } from '../../src/domain/limits/bucket-id.ts';
import { entryOf } from '../../src/domain/limits/queue.ts';
import { printRedrive } from '../../src/domain/register/redrive-message.ts';
import { aStored, aTask, batchId, candidate, id, NOW, operationName, target, token } from '../factories/factories.ts';
import { answer, bundles, downstream, sealed, stores } from './metrics-bundles.ts';
import { type Measurement, of, recordOf } from './metrics-kit.ts';

export const testMetricsOfTasks = (): void => {
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

  it('count a retried batch, and one that fails for good', async () => {
    const where = target('ship/depot=BRE');
    const put = await sealed(where, 1, [aTask({ id: id('put-off'), target: where })]);
    const refused = await sealed(where, 2, [aTask({ id: id('refused'), target: where })]);
    const called = (errors: readonly [string, string, number][]) => [
      ['DownstreamCalls', of('operation=ship'), 1],
      ...errors,
      ['DownstreamLatency', of('operation=ship'), 'ms'],
    ];
    answer(429);
    expect(await bundles.measured('BatchHandler', { Records: [recordOf(put)] })).toEqual([
      ['BatchesRetried', of('operation=ship'), 1],
      ...called([['DownstreamErrors', of('operation=ship'), 1]]),
    ]);
    answer(422);
    expect(await bundles.measured('BatchHandler', { Records: [recordOf(refused)] })).toEqual([
      ['BatchesFailed', of('operation=ship'), 1],
      ...called([['DownstreamErrors', of('operation=ship'), 1]]),
      ['TasksFailed', of('operation=ship'), 1],
    ]);
    answer(200);
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

  it('count the weight of a call under a limit, and how long a call waited for its limit', async () => {
    const where = target('paced/depot=MUC');
    const operation = operationName('paced');
    const some = (name: string) => aTask({ id: id(name), target: where, operation });
    answer(200);
    const first = await sealed(where, 1, [some('weighed')]);
    expect(await bundles.measured('BatchHandler', { Records: [recordOf(first)] })).toContainEqual([
      'WeightUsed',
      of('operation=paced'),
      50,
    ]);
    await sealed(where, 2, [some('waits')]);
    const { buckets } = stores();
    const bucket = 'limit:vendor' as BucketId;
    const seen = await buckets.read(bucket);
    const batch = { id: batchId(`${where}#1#2`), attempt: 0 };
    const entry = entryOf('again', seen.segment, NOW, token('row'));
    await buckets.enqueue(bucket, { entry, operation, target: where, since: NOW, batch, weight: 50 });
    await buckets.write(bucket, seen.turn, { ...seen, granter: { id: token('chain'), at: buckets.now() } });
    const next = printElect({ kind: 'grant', bucket, grant: token('chain'), turn: seen.turn });
    expect(await bundles.measured('ElectHandler', { Records: [recordOf(next)] })).toEqual([
      ['LimitWait', of('limit=vendor'), 'ms'],
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
    // The producers may not redrive, but this stage only warns.
    const broken = ['RulesBroken', of(), 2];
    expect(await bundles.measured('RegisterHandler', { Records })).toEqual([
      broken,
      ['TasksRedriven', of('operation=ship'), 2],
    ]);
    expect(await bundles.measured('RegisterHandler', { Records })).toEqual([broken]);
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
    answer(503);
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
    answer(200);
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
};
