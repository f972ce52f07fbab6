/** What counts as a call in progress, in virtual time. */
import { describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import { createTestbed, type DownstreamFunction } from '../../src/testing/index.ts';

const bedOf = (
  operation: Omit<ConfigInput['operations'][string], 'target' | 'downstream' | 'limits'>,
  label?: DownstreamFunction,
) =>
  createTestbed(
    {
      limits: { api: { concurrency: { calls: 4 } } },
      operations: {
        label: {
          ...operation,
          target: ['depot'],
          limits: ['api'],
          downstream: { kind: 'http', url: 'http://labels.example/', timeout: '20s', deadline: '5h' },
        },
      },
    },
    label ? { downstreams: { label } } : {},
  );

const inProgress = async (bed: ReturnType<typeof bedOf>): Promise<number | undefined> =>
  (await bed.limit('api'))[0]?.inProgress?.used;

const tasks = (count: number, depots = 1) =>
  Array.from({ length: count }, (_, n) => ({
    operation: 'label' as const,
    id: `t${n}`,
    payload: { depot: String(n % depots) },
  }));

describe('calls in progress', () => {
  it('are one while a job runs, also if the rest of its batch is retried', async () => {
    // Too large a call is halved. The first half becomes a job, and the other one fails twice.
    let failures = 2;
    const bed = bedOf(
      { batch: { maxSize: 4, maxWait: '1s' }, retry: { immediate: 0, minDelay: '1m' } },
      ({ items }) => {
        if (items.length > 2) return { status: 413 };
        if (items.some(({ id }) => id === 't0')) return { pending: true };
        return failures-- > 0 ? { status: 503 } : { status: 200 };
      },
    );
    await bed.sendAll(tasks(4));
    await bed.advance('20s');
    expect(bed.batches).toMatchObject([{ pending: 2 }]);
    expect(await inProgress(bed)).toBe(1);
    await bed.advance('30m');
    expect(['t2', 't3'].map((id) => bed.task(id)?.status)).toEqual(['succeeded', 'succeeded']);
    expect(await inProgress(bed)).toBe(1);
    await bed.complete(bed.task('t0')?.batchId ?? '');
    await bed.advance('10s');
    expect(await inProgress(bed)).toBe(0);
  });

  it('are none after the job has reported, while the rest of its batch waits', async () => {
    const bed = bedOf(
      { batch: { maxSize: 4, maxWait: '1s' }, retry: { immediate: 0, minDelay: '1h', maxDelay: '2h' } },
      ({ items }) => {
        if (items.length > 2) return { status: 413 };
        return items.some(({ id }) => id === 't0') ? { pending: true } : { status: 503 };
      },
    );
    await bed.sendAll(tasks(4));
    await bed.advance('20s');
    expect(await inProgress(bed)).toBe(1);
    const items = ['t0', 't1'].map((id) => ({ id, status: 'succeeded' as const }));
    await bed.complete(bed.task('t0')?.batchId ?? '', { results: items });
    await bed.advance('10s');
    expect(bed.task('t3')?.status).not.toBe('succeeded');
    expect(await inProgress(bed)).toBe(0);
  });

  // A sealed batch has its moment already when the pause begins.
  it.each([1, 20, 50, 100, 200, 400])('are none while their operation is paused, after %i ms', async (before) => {
    const bed = bedOf({ batch: { maxSize: 1, maxWait: '1s' } });
    await bed.sendAll(tasks(8, 8));
    await bed.advance(before);
    await bed.pause('label', 'upkeep');
    await bed.advance('10s');
    expect((await inProgress(bed)) ?? 0).toBe(0);
    await bed.resume('label');
    await bed.settle();
    expect(bed.tasks.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 'succeeded'));
  });
});

it('one call at a time, of 100 ms, is about five calls in four seconds', async () => {
  const bed = createTestbed(
    {
      limits: { api: { concurrency: { calls: 1 } } },
      operations: {
        label: {
          target: ['depot'],
          limits: ['api'],
          batch: { maxSize: 1 },
          downstream: { kind: 'http', url: 'http://labels.example/' },
        },
      },
    },
    { downstreams: { label: async (call) => call.takes('100ms') } },
  );
  await bed.sendAll(tasks(60, 60));
  await bed.advance('41s');
  expect(bed.calls.length).toBeGreaterThanOrEqual(45);
  expect(bed.calls.length).toBeLessThanOrEqual(55);
});

describe('in a queue', () => {
  it('a Target whose tasks were cancelled takes no call from others', async () => {
    const bed = createTestbed({
      limits: { api: { calls: 1, per: '10s' } },
      operations: {
        label: {
          target: ['depot'],
          limits: ['api'],
          batch: { maxSize: 1 },
          downstream: { kind: 'http', url: 'http://labels.example/' },
        },
      },
    });
    await bed.sendAll(tasks(40, 40));
    await bed.advance('5s');
    const waiting = bed.tasks.filter(({ status }) => status === 'created').map(({ id }) => id);
    expect(waiting.length).toBeGreaterThan(28);
    for (const id of waiting.slice(15, -5)) await bed.cancel(id);
    await bed.advance('5m');
    expect(bed.calls.length).toBeGreaterThanOrEqual(40 - waiting.slice(15, -5).length - 1);
  });
});
