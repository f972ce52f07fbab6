import { describe, expect, it, vi } from 'vitest';
import { createTestbed, TestbedMisused, UnsendableTask, UnusableConfig } from '../../src/testing/index.ts';
import { type Parcel, type Parcels, parcelBed, parcels, shipments } from './parcels.ts';

const caught = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (cause) {
    return cause;
  }
};

describe('in a testbed', () => {
  it('a batch is sealed at maxWait, and not before', async () => {
    const bed = parcelBed();
    await bed.sendAll(shipments(2));
    await bed.advance(999);
    expect(bed.batches).toEqual([]);
    expect(bed.tasks).toMatchObject([{ status: 'created' }, { status: 'created' }]);
    await bed.advance(1);
    expect(bed.batches).toMatchObject([
      { target: 'ship/depot=MUC', size: 2, sealedBy: 'waited', status: 'succeeded', members: ['p0', 'p1'] },
    ]);
    expect(bed.now).toEqual(new Date('2026-01-01T00:00:01.000Z'));
  });

  it('tasks of one Target fill batches, and Targets do not mix', async () => {
    const bed = parcelBed();
    await bed.sendAll(shipments(25));
    await bed.send({ operation: 'ship', payload: { depot: 'HAM', n: 0 } });
    await bed.settle();
    expect(bed.batches.map(({ target, size }) => `${target} ${size}`).sort()).toEqual([
      'ship/depot=HAM 1',
      'ship/depot=MUC 10',
      'ship/depot=MUC 10',
      'ship/depot=MUC 5',
    ]);
    expect(bed.tasks).toHaveLength(26);
  });

  it("a downstream gets the wire format, and its results become the tasks' results", async () => {
    const bed = parcelBed({
      downstreams: {
        ship: ({ items }) => ({
          results: items.map(({ id, payload }) =>
            payload.n === 1
              ? { id, status: 'failed', error: { code: 'no-such-depot', message: 'none in MUC' } }
              : { id, status: 'succeeded', result: { label: `L${payload.n}` } },
          ),
        }),
      },
    });
    await bed.sendAll(shipments(2));
    await bed.settle();
    expect(bed.calls).toMatchObject([
      {
        batchId: 'ship/depot=MUC#1#1',
        operation: 'ship',
        target: 'ship/depot=MUC',
        attempt: 1,
        items: [
          { id: 'p0', payload: { depot: 'MUC', n: 0 } },
          { id: 'p1', payload: { depot: 'MUC', n: 1 } },
        ],
        idempotencyKey: expect.stringMatching(/^ship\/depot=MUC#1#1\./),
        answer: 'results',
        took: 0,
        at: new Date('2026-01-01T00:00:01.000Z'),
      },
    ]);
    expect(bed.task('p0')).toMatchObject({ status: 'succeeded', result: { label: 'L0' }, attempts: 1 });
    expect(bed.task('p1')).toMatchObject({
      status: 'failed',
      error: { code: 'no-such-depot', message: 'none in MUC', retriable: false },
      payload: { depot: 'MUC', n: 1 },
    });
    expect(bed.task('p2')).toBeUndefined();
  });

  it('an operation without a downstream function succeeds', async () => {
    const bed = parcelBed();
    const id = await bed.send({ operation: 'ship', payload: { depot: 'MUC', n: 1 } });
    await bed.settle();
    expect(bed.tasks).toMatchObject([{ id, status: 'succeeded' }]);
    expect(bed.calls).toMatchObject([{ answer: 'all-succeeded' }]);
  });

  it('a destination gets each CloudEvent once, and may refuse it', async () => {
    const taken: string[] = [];
    let isDown = true;
    const bed = parcelBed({
      destinations: {
        ops: ({ subject }) => {
          if (isDown) throw new Error('down');
          taken.push(subject);
        },
      },
    });
    await bed.sendAll(shipments(1));
    await bed.advance('2s');
    expect(bed.callbacks).toEqual([]);
    expect(bed.events).toContainEqual({ event: 'not-delivered', destination: 'ops', cause: 'down' });
    isDown = false;
    await bed.settle();
    expect(taken).toEqual(['p0']);
    expect(bed.callbacks).toMatchObject([
      {
        to: 'ops',
        event: {
          specversion: '1.0',
          id: expect.stringMatching(/^p0\.\d+$/),
          source: '/groupage/testbed/ship',
          type: 'groupage.task.succeeded',
          data: { id: 'p0', status: 'succeeded' },
        },
      },
    ]);
  });

  it('a rejected message lies in the rejected queue with every reason', async () => {
    const bed = parcelBed();
    bed.sendMessage('{');
    bed.sendMessage(JSON.stringify({ operation: 'ship', payload: { n: 1 }, priority: 12 }));
    await bed.send({ operation: 'shop' as 'ship', payload: { depot: 'MUC', n: 1 }, id: 'odd' });
    await bed.sendAll([
      { operation: 'ship', id: 'twice', payload: { depot: 'MUC', n: 1 } },
      { operation: 'ship', id: 'twice', payload: { depot: 'MUC', n: 2 } },
    ]);
    await bed.settle();
    expect(bed.rejected.map(({ reasons }) => reasons.map(({ path }) => path))).toEqual([
      [''],
      ['priority', 'payload.depot'],
      ['operation'],
      ['id'],
    ]);
    expect(bed.rejected[3]?.reasons[0]?.reason).toContain('was registered before with another');
    expect(bed.tasks.map(({ id }) => id)).toEqual(['twice']);
  });

  it('a task that the client would refuse is not sent', async () => {
    const bed = parcelBed();
    await expect(bed.send({ operation: 'ship', id: '?', payload: { depot: 'MUC', n: 1 } })).rejects.toThrow(
      UnsendableTask,
    );
    await bed.settle();
    expect(bed.tasks).toEqual([]);
  });

  it("priority, coalescing, expiry and a task's own destination take effect", async () => {
    const bed = createTestbed<Parcels>(parcels({ batch: { maxSize: 2, maxWait: '1m' }, callbacks: {} }));
    const send = (id: string, wishes: object) =>
      bed.send({ operation: 'ship', id, payload: { depot: id.slice(0, 1), n: 0 }, ...wishes });
    await send('a-old', { coalesceKey: 'k', callback: 'ops' });
    await bed.advance('1s');
    await send('a-new', { coalesceKey: 'k' });
    await send('b-late', { expiresIn: '5s' });
    await bed.settle();
    expect(bed.task('a-old')).toMatchObject({ status: 'succeeded', supersededBy: 'a-new' });
    expect(bed.task('b-late')).toMatchObject({ status: 'failed', error: { code: 'expired' } });
    expect(bed.calls.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(['a-new']);
    expect(bed.callbacks.map(({ event }) => event.subject)).toEqual(['a-old']);
  });

  it('code under test can use the testbed as its client', async () => {
    const bed = parcelBed();
    const sent: number[] = [];
    const ids = await bed.sendAll(
      shipments(3).map(({ id: _, ...task }) => task),
      { onProgress: (count) => sent.push(count) },
    );
    await bed.settle();
    expect(bed.tasks.map(({ id }) => id)).toEqual(ids);
    expect(sent).toEqual([1, 2, 3]);
  });

  it('the same seed gives the same run, another seed another one', async () => {
    const traceOf = async (seed: number) => {
      const downstreams = { ship: () => ({ status: 503 }) };
      const retry = { maxAttempts: 4, minDelay: '1m', maxDelay: '1h' } as const;
      const bed = parcelBed({ seed, downstreams }, { retry, circuit: null });
      for (let n = 0; n < 15; n += 1) await bed.send({ operation: 'ship', payload: { depot: 'MUC', n } });
      await bed.settle();
      return JSON.stringify([bed.tasks, bed.batches, bed.calls, bed.callbacks, bed.events]);
    };
    const first = await traceOf(1);
    expect(await traceOf(1)).toBe(first);
    expect(await traceOf(2)).not.toBe(first);
  });

  it('a thousand tasks become ten batches of a hundred', async () => {
    const bed = parcelBed({}, { batch: { maxSize: 100, maxWait: '1s' } });
    await bed.sendAll(shipments(1_000));
    await bed.settle();
    expect(bed.batches.map(({ size, sealedBy }) => `${size} ${sealedBy}`)).toEqual(Array(10).fill('100 full'));
    expect(bed.calls).toHaveLength(10);
    expect(new Set(bed.callbacks.map(({ event }) => event.id)).size).toBe(1_000);
  });

  it('the clock starts at the given time', async () => {
    const bed = parcelBed({ start: new Date('2030-05-01T12:00:00Z') });
    await bed.sendAll(shipments(1));
    await bed.advance('1h');
    expect(bed.now).toEqual(new Date('2030-05-01T13:00:00Z'));
    expect(bed.task('p0')?.createdAt).toBe('2030-05-01T12:00:00.000Z');
  });
});

describe('a testbed', () => {
  it('refuses an invalid configuration, and names each problem with its path', () => {
    const config = { operations: { ship: { target: ['depot'], batch: { maxSize: 0 }, downstream: { kind: 'smtp' } } } };
    const cause = caught(() => createTestbed(config as never)) as UnusableConfig;
    expect(cause).toBeInstanceOf(UnusableConfig);
    expect(cause.problems.map(({ path }) => path).sort()).toEqual([
      'operations.ship.batch.maxSize',
      'operations.ship.downstream.kind',
    ]);
    expect(cause.message).toContain('operations.ship.batch.maxSize');
  });

  it.each<[string, object]>([
    ['there is no operation "shop"; use one of: ship', { downstreams: { shop: () => {} } }],
    ['downstreams.ship must be a function', { downstreams: { ship: { status: 503 } } }],
    ['there is no destination "opps"; use one of: ops', { destinations: { opps: () => {} } }],
    ['seed must be a whole number', { seed: 0.5 }],
    ['start must be a valid Date', { start: '2026-01-01' }],
    ['there is no option "downstream"', { downstream: {} }],
    ['there is no kind of chaos "crashes"', { chaos: { crashes: 1 } }],
    ['chaos.crash must be a probability from 0 to 1', { chaos: { crash: 2 } }],
  ])('refuses a wrong option: %s', (message, options) => {
    expect(() => parcelBed(options)).toThrow(TestbedMisused);
    expect(() => parcelBed(options)).toThrow(message);
  });

  it.each([['1 s'], ['soon'], [-1], [0.5], [Number.NaN]])('refuses an invalid duration: %s', async (span) => {
    await expect(parcelBed().advance(span as number)).rejects.toThrow('is not a duration');
  });

  it('refuses a second advance() during the first', async () => {
    const bed = parcelBed();
    await bed.sendAll(shipments(1));
    const first = bed.advance('1s');
    await expect(bed.advance('1s')).rejects.toThrow('time is advancing already');
    await first;
    expect(bed.tasks).toMatchObject([{ status: 'succeeded' }]);
  });

  it('works under fake timers', async () => {
    vi.useFakeTimers();
    try {
      const bed = parcelBed({ downstreams: { ship: ({ takes }) => takes('1s') } });
      const fanOut = await bed.fanOuts.openFanOut();
      await bed.sendAll(shipments(1));
      await bed.settle();
      expect(bed.tasks).toMatchObject([{ status: 'succeeded' }]);
      expect(await bed.fanOuts.get(fanOut.id)).toMatchObject({ createdAt: '2026-01-01T00:00:00.000Z' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('gives a type error for a payload of another operation', () => {
    const bed = parcelBed();
    const typed = (): Promise<string>[] => [
      // @ts-expect-error there is no such operation
      bed.send({ operation: 'shop', payload: { depot: 'MUC', n: 1 } }),
      // @ts-expect-error its payload has a number
      bed.send({ operation: 'ship', payload: { depot: 'MUC', n: '1' } as { depot: string; n: string } }),
    ];
    const parcel: Parcel = { depot: 'MUC', n: 1 };
    expect([typeof typed, parcel.n]).toEqual(['function', 1]);
  });
});
