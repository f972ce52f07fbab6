/** Calls under several limits, and moments that are not used, in virtual time: no Target may be left to its guard. */
import { describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import { createTestbed, type DownstreamFunction } from '../../src/testing/index.ts';

type Operation = ConfigInput['operations'][string];

const bedOf = (
  limits: NonNullable<ConfigInput['limits']>,
  operation: Omit<Operation, 'target' | 'downstream' | 'limits'>,
  label?: DownstreamFunction,
) =>
  createTestbed(
    {
      limits,
      operations: {
        label: {
          ...operation,
          target: ['depot'],
          limits: Object.keys(limits),
          downstream: { kind: 'http', url: 'http://labels.example/', timeout: '20s' },
        },
      },
    },
    label ? { downstreams: { label } } : {},
  );

/** Guards of Targets that waited are delivered a quarter of an hour later, so the testbed is not at rest before. */
const endWithin = async (bed: ReturnType<typeof bedOf>, span: '30s' | '45s' | '60s' | '2m' | '11m'): Promise<void> => {
  await bed.advance(span);
  expect(bed.tasks.filter(({ status }) => status !== 'succeeded' && status !== 'failed')).toEqual([]);
};

const task = (id: number | string, depot: number | string) => ({
  operation: 'label' as const,
  id: `t${id}`,
  payload: { depot: String(depot) },
});
const all = (count: number, depots: number) => Array.from({ length: count }, (_, n) => task(n, n % depots));

describe('under several limits', () => {
  it.each([
    ['a rate and calls in progress', { a: { calls: 2 }, b: { concurrency: { calls: 4 } } }, 60, 10, '45s'],
    ['the same, with many Targets', { a: { calls: 2 }, b: { concurrency: { calls: 3 } } }, 40, 40, '45s'],
    ['two rates', { a: { calls: 1, per: '2s' }, b: { calls: 1, per: '3s' } }, 20, 10, '2m'],
  ] as const)('no Target is left waiting: %s', async (_, limits, count, depots, within) => {
    const bed = bedOf(limits, { batch: { maxSize: 1, maxWait: '1s' } }, async (call) => {
      await call.takes('500ms');
    });
    await bed.sendAll(all(count, depots));
    await endWithin(bed, within);
    expect(bed.calls).toHaveLength(count);
    // Few calls put more than one row, and none goes round in circles.
    expect(bed.events.filter(({ event }) => event === 'granted').length).toBeLessThan(3 * count);
  });

  it('batches that were throttled are called again', async () => {
    let isThrottled = true;
    const bed = bedOf(
      { a: { calls: 1, per: '2s' }, b: { calls: 1, per: '3s' } },
      { circuit: null, batch: { maxWait: '1s' }, retry: { immediate: 0, minDelay: '100ms', maxDelay: '1s' } },
      () => ({ status: isThrottled ? 429 : 200 }),
    );
    await bed.sendAll(all(6, 6));
    await bed.advance('60s');
    expect(bed.calls.length).toBeGreaterThan(15);
    isThrottled = false;
    await endWithin(bed, '60s');
  });
});

describe('a moment that is not used', () => {
  const PACED = { a: { calls: 1, per: '5s', concurrency: { calls: 3 } } } as const;

  it('because its oldest task was cancelled does not delay the others', async () => {
    const bed = bedOf(PACED, { batch: { maxWait: '20s' } });
    await bed.send(task('first', 'A'));
    await bed.advance('1s');
    await bed.send(task('old', 'B'));
    await bed.advance('18s');
    await bed.send(task('new', 'B'));
    await bed.advance('3s');
    await bed.cancel('told');
    await bed.advance('5s');
    expect(await bed.limit('a')).toMatchObject([{ inProgress: { used: 0 } }]);
    await endWithin(bed, '30s');
    expect(bed.task('tnew')?.status).toBe('succeeded');
  });

  it('because a newer task replaced the waiting one delays none', async () => {
    const bed = bedOf({ a: { calls: 1, per: '10s', concurrency: { calls: 3 } } }, { batch: { maxWait: '10s' } });
    await bed.sendAll(all(5, 5));
    await bed.advance('1s');
    await bed.send({ ...task('old', 'X'), coalesceKey: 'k' });
    await bed.advance('57s');
    await bed.send({ ...task('new', 'X'), coalesceKey: 'k' });
    await endWithin(bed, '30s');
    expect(bed.task('tnew')?.status).toBe('succeeded');
  });
});

it('a job under a divided limit keeps to the number of calls in a span', async () => {
  const bed = bedOf(
    { a: { calls: 5, per: '10m', concurrency: { calls: 1_000 } } },
    { batch: { maxSize: 1, maxWait: '0s' } },
  );
  await bed.sendAll(all(40, 40));
  await bed.advance('9m');
  expect(bed.calls.length).toBeLessThanOrEqual(5);
});

it('a wrong report of use delays calls for ten spans at most', async () => {
  const used = [1e12];
  const bed = bedOf(
    { a: { weight: 10, per: '1m' } },
    { batch: { maxSize: 1, maxWeight: 1, maxWait: '0s' } },
    ({ items }) => ({
      results: items.map(({ id }) => ({ id, status: 'succeeded' as const })),
      usage: used.shift() ?? 1,
    }),
  );
  await bed.sendAll(all(2, 2));
  await endWithin(bed, '11m');
  expect(bed.calls).toHaveLength(2);
});
