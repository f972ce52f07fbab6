/**
 * Small versions of the runs in docs/evidence/scale.md. Virtual time is the same on every machine, so rates are
 * counts.
 */
import { describe, expect, it } from 'vitest';
import { tryDuplicates } from '../../bench/scale/duplicates.ts';
import { tryHot } from '../../bench/scale/hot-target.ts';
import { tryAll, trySample } from '../../bench/scale/million-targets.ts';
import { tryOutage } from '../../bench/scale/outage.ts';
import { tryResume } from '../../bench/scale/resume.ts';
import { tryShards } from '../../bench/scale/shards.ts';
import { only } from '../../bench/scale/trial.ts';

describe('one hot Target', () => {
  it('takes what its key allows, and n shards take n times that', async () => {
    const one = await tryShards(1, 5);
    const four = await tryShards(4, 5);
    expect(one.taken).toBeGreaterThan(400);
    expect(one.throttled).toBeGreaterThan(0);
    expect(four.taken / one.taken).toBeGreaterThan(3.6);
  });

  it('delays other operations under overload, and loses no task', async () => {
    const late = async (shards: number): Promise<number> => {
      const { operations, twice } = await tryHot({ shards, rate: 2_000, seconds: 4 });
      expect(twice).toBe(0);
      for (const { tasks, succeeded } of operations) expect(succeeded).toBe(tasks);
      return operations.find(({ operation }) => operation === 'quiet')?.late.p99 ?? 0;
    };
    expect(await late(1)).toBeGreaterThan(10 * (await late(6)));
  });
});

describe('a million Targets', () => {
  it('have batches of one with a short maxWait, and of several with a long one', async () => {
    const [seconds, hours] = [
      await trySample({ maxWait: '1s' }, 5_000, 600),
      await trySample({ maxWait: '1h' }, 5_000, 3 * 3_600),
    ];
    expect(only(seconds).sizes.mean).toBeLessThan(1.1);
    expect(only(hours).sizes.mean).toBeGreaterThan(4);
    for (const { succeeded, tasks } of [only(seconds), only(hours)]) expect(succeeded).toBe(tasks);
  });

  it('share the key of their index, and the row of their operation', async () => {
    const { partitions, tasks } = await tryAll(1, 1);
    // A write for each new Target (two in a thousand came before), and two reads for each batch.
    const [written, wasRead] = [partitions.hottest(), partitions.hottest('wasRead')];
    expect([written.partition, wasRead.partition]).toEqual(['index:ship-1', 'op:ship-1']);
    expect(written.units / tasks).toBeCloseTo(1, 2);
    expect(wasRead.units / tasks).toBeCloseTo(2, 1);
  });
});

describe('a downstream after a long outage', () => {
  const OUTAGE = { hours: 0.5, after: 0.2 };

  it('gets its backlog in full batches at the rate limit', async () => {
    const tried = await tryOutage('both', OUTAGE);
    const { succeeded, failed, tasks } = only(tried);
    expect([succeeded, failed, tried.twice]).toEqual([tasks, 0, 0]);
    // Each of the 20 Targets has tested the downstream with a small batch during the outage (O4).
    expect(tried.backlog.tasks / tried.backlog.calls).toBeGreaterThan(45);
    // A call a second, and the calls for tasks that arrived meanwhile.
    expect(tried.drained).toBeLessThan(2 * tried.backlog.calls * 1_000);
  });

  it('gets its backlog without a failed task despite throttling', async () => {
    const tried = await tryOutage('untold', OUTAGE);
    const { succeeded, tasks, throttled, failed } = only(tried);
    expect([succeeded, failed, tried.twice]).toEqual([tasks, 0, 0]);
    expect(throttled).toBeGreaterThan(tried.backlog.calls);
    // The limit excludes a backlog that repeatedly waits for half a minute.
    expect(tried.drained).toBeLessThan(10 * tried.backlog.calls * 1_000);
  });

  it('is not called while its quota is used up (open circuit)', async () => {
    const { succeeded, tasks, throttled } = only(await tryOutage('spent', OUTAGE));
    expect(succeeded).toBe(tasks);
    // Two calls a minute and Target until the circuit opens, then one or a few for each pause.
    expect(throttled).toBeLessThan(500);
  });

  it('without a circuit gets no task of the outage', async () => {
    const { failed, succeeded, tasks } = only(await tryOutage('bare', OUTAGE));
    expect(failed + succeeded).toBe(tasks);
    expect(failed).toBeGreaterThan(0.9 * 2 * 1_800);
  });
});

it('messages delivered ten times cost more, and no task is in two calls', async () => {
  const [once, tenTimes] = [await tryDuplicates(1, 20), await tryDuplicates(10, 20)];
  expect([once.twice, tenTimes.twice]).toEqual([0, 0]);
  expect(only(tenTimes)).toMatchObject({ tasks: 2_000, succeeded: 2_000, batches: only(once).batches });
  expect(tenTimes.usage.writeUnits).toBeGreaterThan(1.5 * once.usage.writeUnits);
});

describe('20,000 Targets after a pause', () => {
  it('are called within two minutes, with few writes to one key', async () => {
    const { took, partitions, operations } = await tryResume(20_000);
    expect(operations.map(({ succeeded }) => succeeded)).toEqual([20_000]);
    expect(took).toBeLessThan(120_000);
    const { partition, units } = partitions.busiest();
    expect([partition, partitions.throttled]).toEqual(['op:ship', 0]);
    expect(units).toBeLessThan(300);
  }, 180_000);
});
