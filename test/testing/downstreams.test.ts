import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import {
  createTestbed,
  type DownstreamFunction,
  type Mishap,
  type Testbed,
  TestbedMisused,
} from '../../src/testing/index.ts';
import { type Parcel, type Parcels, parcelBed, parcels, shipments } from './parcels.ts';

type Downstream = DownstreamFunction<Parcel>;
type Target = ConfigInput['operations'][string]['downstream'];

const AT_ONCE = { retry: { immediate: 0, minDelay: '1s', maxDelay: '1s', maxAttempts: 2 }, circuit: null } as const;

/** One task after a call with the given answer. */
const answeredBy = async (ship: Downstream, downstream?: Target) => {
  const bed = parcelBed({ downstreams: { ship } }, { ...AT_ONCE, ...(downstream ? { downstream } : {}) });
  await bed.sendAll(shipments(1));
  await bed.settle();
  return { bed, task: bed.task('p0'), answers: bed.calls.map(({ answer }) => answer) };
};

describe("a testbed's HTTP API", () => {
  it.each<[string, Downstream, string]>([
    ['nothing', () => {}, 'all-succeeded'],
    ['null', () => null, 'all-succeeded'],
    ['an empty answer', () => ({ status: 204 }), 'all-succeeded'],
    ['a Response', () => new Response('{"results":[{"id":"p0","status":"succeeded"}]}'), 'results'],
    [
      'headers in any case',
      () => ({
        status: 200,
        headers: { 'Content-Type': 'application/json' },
        body: '{"results":[{"id":"p0","status":"succeeded"}]}',
      }),
      'results',
    ],
    ['a promise', async () => ({ results: [{ id: 'p0', status: 'succeeded' as const }] }), 'results'],
  ])('succeeds with %s', async (_, ship, answer) => {
    const { task, answers } = await answeredBy(ship);
    expect(task).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(answers).toEqual([answer]);
  });

  it.each<[string, Downstream, string]>([
    ['a 503', () => ({ status: 503, body: 'busy' }), 'answered 503: busy'],
    [
      'results that are not a list',
      () => ({ results: 'none' }) as never,
      'answered 200 with results that are not a list',
    ],
    ['a body that is not JSON', () => ({ status: 200, body: '<html>' }), 'a body that is not JSON'],
    ['a list', () => [1] as never, 'answered 200 with JSON that is not an object'],
    ["another task's result", () => ({ results: [{ id: 'p9', status: 'succeeded' }] }), 'left out of the results'],
    [
      'an unknown status',
      () => ({ results: [{ id: 'p0', status: 'done' as never }] }),
      'gave an unknown status (legal are "succeeded", "failed", "retry" and "throttled"): "done"',
    ],
    ['a 401', () => ({ status: 401 }), "answered 401 (check the operation's downstream url and access)"],
    [
      'an exception',
      () => {
        throw new Error('ECONNREFUSED');
      },
      'no answer: ECONNREFUSED',
    ],
    ['no answer in time', async ({ takes }) => takes('11s'), 'no answer within 10000 ms'],
    ['a retry', () => ({ results: [{ id: 'p0', status: 'retry', error: 'later' }] }), 'asked to retry: later'],
  ])('is called again after %s', async (_, ship, reason) => {
    const { bed, task } = await answeredBy(ship);
    expect(bed.calls).toHaveLength(2);
    expect(task).toMatchObject({ status: 'failed', error: { code: 'attempts-exhausted' } });
    expect(task?.error?.message).toContain(reason);
  });

  it('may answer with a value that is no object, as in production', async () => {
    const { answers } = await answeredBy(() => 5 as never);
    expect(answers[0]).toBe('answered 200 with JSON that is not an object (expected {"results":[…]}): 5');
  });

  it('gets half the tasks after a refusal until the bad one is alone', async () => {
    const ship: Downstream = ({ items }) =>
      items.some(({ payload }) => payload.n === 3) ? { status: 400 } : undefined;
    const bed = parcelBed({ downstreams: { ship } });
    await bed.sendAll(shipments(8));
    await bed.settle();
    expect(bed.tasks.filter(({ status }) => status === 'failed').map(({ id }) => id)).toEqual(['p3']);
    expect(bed.task('p3')?.error).toMatchObject({ code: 'refused' });
  });

  it('gets half the tasks after an answer over 6 MB', async () => {
    const result = 'x'.repeat(1_000_000);
    const ship: Downstream = ({ items }) => ({
      results: items.map(({ id }) => ({ id, status: 'succeeded' as const, result })),
    });
    for (const answers of [
      ship,
      (call: Parameters<Downstream>[0]) => new Response(JSON.stringify(ship(call as never))),
    ]) {
      const bed = parcelBed({ downstreams: { ship: answers as Downstream } });
      await bed.sendAll(shipments(8));
      await bed.settle();
      expect(bed.calls.map(({ items, answer }) => `${items.length} ${answer}`)).toEqual([
        '8 answered 200 with more than 6000000 bytes',
        '4 results',
        '4 results',
      ]);
      expect(bed.tasks.map(({ status }) => status)).toEqual(Array(8).fill('succeeded'));
    }
  });

  it.each<[string, Downstream]>([
    ['an invalid status', () => ({ status: 42 })],
    ['Response.error()', () => Response.error()],
    ['a 204 with a body', () => ({ status: 204, body: { results: [] } })],
  ])('that answers with %s fails the test', async (_, ship) => {
    await expect(answeredBy(ship)).rejects.toThrow(TestbedMisused);
  });

  it('is not called before its retry-after has passed', async () => {
    const ship: Downstream = ({ attempt }) =>
      attempt === 1 ? { status: 429, headers: { 'retry-after': '600' } } : undefined;
    const { bed, task } = await answeredBy(ship);
    expect(task?.status).toBe('succeeded');
    const [first, second] = bed.calls.map(({ at }) => at.getTime());
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(600_000);
  });

  it('takes the time that takes() says', async () => {
    const { bed } = await answeredBy(async ({ takes }) => {
      await takes('2s');
      await takes(500);
    });
    expect(bed.calls).toMatchObject([{ took: 2_500 }]);
    expect(bed.task('p0')?.finishedAt).toBe('2026-01-01T00:00:03.500Z');
  });

  it('may await real time, during which virtual time stands still', async () => {
    const { task } = await answeredBy(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { results: [{ id: 'p0', status: 'succeeded' as const, result: 1 }] };
    });
    expect(task).toMatchObject({ result: 1, finishedAt: '2026-01-01T00:00:01.000Z' });
  });

  it('may report later', async () => {
    const bed = parcelBed({ downstreams: { ship: () => ({ pending: true }) } });
    await bed.sendAll(shipments(2));
    await expect(bed.settle()).rejects.toThrow('the report of its job');
    const [{ id = '', pending } = {}] = bed.batches;
    expect(pending).toBe(2);
    await expect(bed.complete(id, { results: [{ id: 'p7', status: 'succeeded' }] })).rejects.toThrow(
      'results[0].id must be the id of a task in this batch',
    );
    await bed.complete(id, {
      results: [
        { id: 'p0', status: 'succeeded', result: 'done' },
        { id: 'p1', status: 'failed', error: 'broken' },
      ],
    });
    await bed.settle();
    expect(bed.tasks).toMatchObject([
      { status: 'succeeded', result: 'done' },
      { status: 'failed', error: { message: 'broken' } },
    ]);
  });

  it('is called again after its deadline if its job does not report', async () => {
    const ship: Downstream = ({ attempt }) => (attempt === 1 ? { pending: true } : undefined);
    const downstream = { kind: 'http', url: 'http://parcels.example/batch', deadline: '5m' } as const;
    const bed = parcelBed({ downstreams: { ship } }, { downstream });
    await bed.sendAll(shipments(1));
    await bed.advance('5m');
    expect(bed.calls).toHaveLength(1);
    await bed.advance('2s');
    expect(bed.calls).toHaveLength(2);
    await bed.settle();
  });
});

describe('in a testbed', () => {
  it('a function answers by its return value or by its error', async () => {
    const lambda = { kind: 'lambda', function: 'parcels' } as const;
    const done = await answeredBy(() => ({ results: [{ id: 'p0', status: 'succeeded', result: 7 }] }), lambda);
    expect(done.task).toMatchObject({ status: 'succeeded', result: 7 });
    expect((await answeredBy(() => {}, lambda)).answers).toEqual(['all-succeeded']);
    const failed = await answeredBy(() => {
      throw new TypeError('no depot');
    }, lambda);
    expect(failed.answers).toEqual(Array(2).fill('the function failed (Unhandled): TypeError: no depot'));
    const late = await answeredBy(({ takes }) => takes('1h'), lambda);
    expect(late.answers[0]).toBe('no answer from the function parcels within 10000 ms');
  });

  it('a function that returns over 6 MiB is called again with half the tasks', async () => {
    const result = 'x'.repeat(1_000_000);
    const downstream = { kind: 'lambda', function: 'parcels' } as const;
    const ship: Downstream = ({ items }) => ({
      results: items.map(({ id }) => ({ id, status: 'succeeded' as const, result })),
    });
    const bed = parcelBed({ downstreams: { ship } }, { downstream });
    await bed.sendAll(shipments(8));
    await bed.settle();
    expect(bed.calls.map(({ items }) => items.length)).toEqual([8, 4, 4]);
    expect(bed.calls[0]?.answer).toContain('Function.ResponseSizeTooLarge: Response payload size exceeded');
    expect(bed.tasks.map(({ status }) => status)).toEqual(Array(8).fill('succeeded'));
  });

  it('a function cannot answer with a status', async () => {
    const lambda = { kind: 'lambda', function: 'parcels' } as const;
    await expect(answeredBy(() => ({ status: 503 }), lambda)).rejects.toThrow('only an HTTP downstream');
  });

  it('a queue succeeds once it has the message', async () => {
    const queue = { kind: 'queue', name: 'parcels' } as const;
    expect((await answeredBy(() => {}, queue)).answers).toEqual(['all-succeeded']);
  });

  it('an execution reports its output hours later, or its error', async () => {
    const machine = { kind: 'step-functions', stateMachine: 'parcels', deadline: '1d' } as const;
    const done = await answeredBy(async ({ items, takes }) => {
      await takes('2h');
      return { results: items.map(({ id }) => ({ id, status: 'succeeded' as const, result: 'there' })) };
    }, machine);
    expect(done.answers).toEqual(['pending']);
    expect(done.task).toMatchObject({ result: 'there', finishedAt: '2026-01-01T02:00:01.000Z' });
    const failed = await answeredBy(() => {
      throw new Error('States.Timeout');
    }, machine);
    expect(failed.task?.error?.message).toContain('its execution ended FAILED: Error: States.Timeout');
  });

  it.each<Mishap<'ship'>>([
    { crash: 'batch', after: 'downstream-called' },
    { downstream: 'ship', answers: 'reply-lost' },
  ])('a running execution is not started again: %o', async (mishap) => {
    let executions = 0;
    const bed = parcelBed(
      {
        downstreams: {
          ship: async ({ takes }) => {
            executions += 1;
            await takes('2h');
          },
        },
      },
      { downstream: { kind: 'step-functions', stateMachine: 'parcels', deadline: '1d' } },
    );
    bed.inject(mishap);
    await bed.sendAll(shipments(1));
    await bed.settle();
    expect([executions, bed.calls.length]).toEqual([1, 2]);
    expect(bed.task('p0')).toMatchObject({ status: 'succeeded', finishedAt: '2026-01-01T02:00:01.000Z' });
  });

  it.each([
    [150_000, 150_000],
    [0, 260_000],
  ])('an execution too large for its event (%i in, %i out) fails the test', async (input, output) => {
    const result = 'x'.repeat(output);
    const bed = parcelBed(
      {
        downstreams: {
          ship: ({ items }) => ({ results: items.map(({ id }) => ({ id, status: 'succeeded', result })) }),
        },
      },
      { downstream: { kind: 'step-functions', stateMachine: 'parcels' } },
    );
    await bed.send({ operation: 'ship', payload: { depot: 'MUC', n: 1, text: 'x'.repeat(input) } as Parcel });
    await expect(bed.settle()).rejects.toThrow('is too large to be in its event');
  });

  it('an execution over 256 KiB fails, and is not repeated', async () => {
    const ship: Downstream = ({ items }) => ({
      results: items.map(({ id }) => ({ id, status: 'succeeded' as const, result: 'x'.repeat(270_000) })),
    });
    const { bed, task } = await answeredBy(ship, { kind: 'step-functions', stateMachine: 'parcels' });
    expect(bed.calls).toHaveLength(1);
    expect(task).toMatchObject({ status: 'failed', error: { code: 'results-left-out', retriable: true } });
  });

  it('a failed execution is followed by another, which gets its attempt number', async () => {
    const machine = { kind: 'step-functions', stateMachine: 'parcels' } as const;
    const attempts: number[] = [];
    const { task } = await answeredBy(({ attempt }) => {
      attempts.push(attempt);
      if (attempt === 1) throw new Error('States.Timeout');
    }, machine);
    expect([attempts, task?.status]).toEqual([[1, 2], 'succeeded']);
  });

  it('requests are merged, and inputs with a result are not sent again', async () => {
    const config = parcels({
      merge: { keys: 'inputs[].id' },
      concurrency: { perTarget: 1 },
      batch: { maxSize: 10, maxWait: '1s' },
    });
    const bed = createTestbed(config);
    const ask = (...ids: number[]) =>
      bed.send({ operation: 'ship', payload: { depot: 'MUC', inputs: ids.map((id) => ({ id })) } });
    await Promise.all([ask(1, 2), ask(2, 3)]);
    await bed.settle();
    await ask(3, 4);
    await bed.settle();
    expect(bed.calls.map(({ inputs }) => inputs)).toEqual([[{ id: 1 }, { id: 2 }, { id: 3 }], [{ id: 4 }]]);
    expect(bed.tasks.every(({ status }) => status === 'succeeded')).toBe(true);
  });
});

describe("a testbed's downstream function", () => {
  it.each<[string, Downstream]>([
    ['of node:assert', ({ items }) => assert.equal(items.length, 2)],
    ['of vitest', ({ items }) => expect(items).toHaveLength(2)],
    ['of another realm', runInNewContext("() => { throw Object.assign(new Error(), { name: 'AssertionError' }) }")],
  ])('with a failed assertion %s fails the test', async (_, ship) => {
    await expect(answeredBy(ship)).rejects.toMatchObject({ name: 'AssertionError' });
  });

  it('that answers with a value outside JSON fails the test', async () => {
    await expect(answeredBy(() => ({ results: [{ id: 'p0', status: 'succeeded', result: 1n }] }))).rejects.toThrow(
      'a downstream answered with a value that JSON cannot express',
    );
  });

  it('that waits for an invalid time fails the test', async () => {
    await expect(answeredBy(({ takes }) => takes('soon' as never))).rejects.toThrow(TestbedMisused);
  });

  it('that advances the time fails the test', async () => {
    const bed: Testbed<Parcels> = createTestbed<Parcels>(parcels(), { downstreams: { ship: () => bed.advance('1s') } });
    await bed.sendAll(shipments(1));
    await expect(bed.settle()).rejects.toThrow('use call.takes()');
  });

  it('may read the testbed, and send more tasks', async () => {
    const bed: Testbed<Parcels> = createTestbed<Parcels>(parcels(), {
      downstreams: {
        ship: async ({ items }) => {
          expect(bed.task(items[0]?.id ?? '')?.status).toBe('in-progress');
          if (bed.tasks.length === 1) await bed.send({ operation: 'ship', payload: { depot: 'HAM', n: 2 } });
        },
      },
    });
    await bed.sendAll(shipments(1));
    await bed.settle();
    expect(bed.tasks.map(({ target, status }) => `${target} ${status}`)).toEqual([
      'ship/depot=MUC succeeded',
      'ship/depot=HAM succeeded',
    ]);
  });
});
