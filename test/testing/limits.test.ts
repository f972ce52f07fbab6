import { describe, expect, it } from 'vitest';
import { ApiRefused, createTestbed } from '../../src/testing/index.ts';
import { type Parcels, parcels, shipments } from './parcels.ts';

const limited = (
  limits: NonNullable<Parameters<typeof createTestbed>[0]['limits']>,
  ship: NonNullable<Parameters<typeof parcels>[0]>,
) => ({ ...parcels({ limits: Object.keys(limits), ...ship }), limits });

describe('in a testbed with limits', () => {
  it('calls of each key are paced, and all keys at once', async () => {
    const bed = createTestbed<Parcels>(limited({ carrier: { calls: 1, key: ['depot'] } }, {}));
    for (const depot of ['MUC', 'HAM', 'BRE'])
      await bed.sendAll(shipments(50, depot).map((task) => ({ ...task, id: `${depot}-${task.id}` })));
    await bed.settle();
    const starts = Map.groupBy(bed.calls, ({ target }) => target);
    expect(starts.size).toBe(3);
    for (const calls of starts.values()) {
      const at = calls.map((call) => call.at.getTime());
      expect(calls).toHaveLength(5);
      for (const [n, time] of at.entries()) if (n > 0) expect(time - (at[n - 1] ?? 0)).toBeGreaterThanOrEqual(999);
      expect((at.at(-1) ?? 0) - (at[0] ?? 0)).toBeLessThan(6_000);
    }
  });

  it('calls wait for what earlier calls really used', async () => {
    const config = limited(
      { tokens: { weight: 100, per: '1m' } },
      {
        batch: { maxSize: 10, maxWeight: 10, maxWait: '1s' },
        downstream: { kind: 'http', url: 'http://parcels.example/batch', usageHeader: 'X-Usage' },
      },
    );
    const bed = createTestbed<Parcels>(config, {
      downstreams: { ship: () => ({ status: 200, headers: { 'x-usage': '100' } }) },
    });
    const seen = async (): Promise<unknown> => (await bed.fetch('http://groupage/v1/targets?operation=ship')).json();
    await bed.sendAll(shipments(11));
    await bed.advance('500ms');
    expect(await seen()).not.toMatchObject({ targets: [{ waitsForLimit: true }] });
    await bed.advance('20s');
    expect(await seen()).toMatchObject({ targets: [{ waiting: 1, waitsForLimit: true }] });
    expect(bed.calls).toHaveLength(1);
    expect(await bed.limit('tokens')).toMatchObject([
      { weight: { used: 100, allowed: 100 }, waiting: 1, next: [{ target: 'ship/depot=MUC' }] },
    ]);
    await bed.settle();
    const [first, second] = bed.calls.map(({ at }) => at.getTime());
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(59_900);
  });

  it('calls start earlier if those before them used less', async () => {
    const config = limited(
      { tokens: { weight: 90_000, per: '1m' } },
      {
        batch: { maxSize: 30, maxWeight: 30_000, maxWait: '1s' },
        downstream: { kind: 'http', url: 'http://parcels.example/batch', usageHeader: 'X-Usage' },
      },
    );
    const bed = createTestbed<Parcels>(config, {
      downstreams: { ship: () => ({ status: 200, headers: { 'x-usage': '100' } }) },
    });
    await bed.sendAll(shipments(240).map((task) => ({ ...task, weight: 1_000 })));
    await bed.advance('20s');
    expect(bed.calls).toHaveLength(8);
  });

  it.each([
    ['less', 1, 2],
    ['as much', undefined, 1],
  ])('an answer with usage says that a call used %s', async (_, usage, calls) => {
    const config = limited(
      { tokens: { weight: 5, per: '10m' } },
      { batch: { maxSize: 10, maxWeight: 5, maxWait: '1s' } },
    );
    const bed = createTestbed<Parcels>(config, {
      downstreams: {
        ship: ({ items }) => ({
          results: items.map(({ id }) => ({ id, status: 'succeeded' as const })),
          ...(usage === undefined ? {} : { usage }),
        }),
      },
    });
    await bed.sendAll(shipments(5));
    await bed.advance('10s');
    await bed.send({ operation: 'ship', payload: { depot: 'MUC', n: 9 } });
    await bed.advance('5m');
    expect(bed.calls).toHaveLength(calls);
  });

  it('a late function does not lose the only call of an hour', async () => {
    const bed = createTestbed<Parcels>(limited({ carrier: { calls: 1, per: '1h' } }, {}));
    bed.inject({ delay: 'batch', by: '5s' });
    await bed.sendAll(shipments(1));
    await bed.advance('1m');
    expect(bed.calls).toHaveLength(1);
  });

  it('an answer is not lost if its use cannot be written', async () => {
    const config = limited(
      { tokens: { weight: 100, per: '1m' } },
      { batch: { maxSize: 10, maxWeight: 10, maxWait: '1s' } },
    );
    const bed = createTestbed<Parcels>(config, {
      downstreams: {
        ship: ({ items }) => {
          bed.inject({ throttle: 'batch-lock', times: 1 });
          return { usage: 50, results: items.map(({ id }) => ({ id, status: 'succeeded' as const })) };
        },
      },
    });
    await bed.sendAll(shipments(3));
    await bed.settle();
    expect(bed.calls).toHaveLength(1);
    expect(bed.tasks.map(({ status }) => status)).toEqual(Array(3).fill('succeeded'));
    expect(bed.events).toContainEqual(expect.objectContaining({ event: 'limit-not-written' }));
  });

  it('an unknown limit is refused', async () => {
    const bed = createTestbed<Parcels>(parcels());
    await expect(bed.limit('vendor')).rejects.toThrow(ApiRefused);
  });
});
