import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Behaviour, ReceivedCall } from '../factories/downstream.ts';
import { eventually, type Flow, startFlow } from './flow.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('failing');
});
afterAll(() => flow?.stop());

/** Sets the downstream's behaviour for a Target, call by call; the last one applies to all further calls. */
const treat = (depot: string, ...behaviours: readonly Behaviour[]): void => treatTarget(flow.target(depot), behaviours);
const treatTarget = (target: string, behaviours: readonly Behaviour[]): void => {
  treatments.set(target, behaviours);
  flow.downstream.behave((call, response) => {
    const steps = treatments.get(call.target) ?? [];
    const made = flow.downstream.calls.filter(({ target }) => target === call.target).length;
    return (steps[Math.min(made, steps.length) - 1] ?? (() => ({ status: 200 })))(call, response);
  });
};
const treatments = new Map<string, readonly Behaviour[]>();
const callsOf = (depot: string): ReceivedCall[] => flow.calls(depot);
const status =
  (code: number, headers: Record<string, string> = {}): Behaviour =>
  () => ({ status: code, headers });
const ok: Behaviour = () => ({ status: 200 });

describe('a downstream that', () => {
  it('answers 503 once is called again at once, with the same idempotency key', async () => {
    treat('moment', status(503), ok);
    const [task] = await flow.ended(await flow.send([{ depot: 'moment' }]));
    expect(task).toMatchObject({ status: 'succeeded', attempts: 1 });
    const [first, second, ...more] = callsOf('moment');
    expect(more).toEqual([]);
    expect(second?.idempotencyKey).toBe(first?.idempotencyKey);
  });

  it('answers 5xx for longer is called again later, until it succeeds', async () => {
    treat('longer', status(500), status(502), status(504), ok);
    const [task] = await flow.ended(await flow.send([{ depot: 'longer' }]));
    expect(task).toMatchObject({ status: 'succeeded', attempts: 2 });
    expect(callsOf('longer').map(({ attempt }) => attempt)).toEqual([1, 1, 2, 2]);
  });

  it('always answers 503 fails its tasks with the last reason', async () => {
    treat('ever', status(503));
    const ids = await flow.send([
      { depot: 'ever', n: 1 },
      { depot: 'ever', n: 2 },
    ]);
    const tasks = await flow.ended(ids);
    const error = { code: 'attempts-exhausted', message: 'gave up after 3 attempts: answered 503', retriable: true };
    for (const task of tasks) expect(task).toMatchObject({ status: 'failed', attempts: 3, error });
    // The first attempt calls the whole batch, and repeats that call at once. The others call one task each (H8), whose
    // call is repeated too.
    for (const calls of Map.groupBy(callsOf('ever'), ({ batchId }) => batchId).values())
      expect(calls.map(({ items }) => items.length)).toEqual(
        calls[0]?.items.length === 2 ? [2, 2, 1, 1, 1, 1] : [1, 1, 1, 1, 1, 1],
      );
    const page = (await flow.get(`/tasks?target=${flow.target('ever')}&status=failed`)) as { tasks: { id: string }[] };
    expect(page.tasks.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  it('answers 429 is called again after retry-after, and no attempt is counted', async () => {
    treat('throttled', status(429, { 'retry-after': '2' }), ok);
    const [task] = await flow.ended(await flow.send([{ depot: 'throttled' }]));
    expect(task).toMatchObject({ status: 'succeeded', attempts: 1 });
    const [first, second] = callsOf('throttled');
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
  });

  it('answers 422 is not called again, and its answer is the reason', async () => {
    treat('refused', () => ({ status: 422, body: { error: 'no such depot' } }));
    const [task] = await flow.ended(await flow.send([{ depot: 'refused' }]));
    const error = { code: 'refused', message: expect.stringContaining('no such depot'), retriable: false };
    expect(task).toMatchObject({ status: 'failed', attempts: 1, error });
    expect(callsOf('refused')).toHaveLength(1);
  });

  it('hangs is called again after the timeout', async () => {
    const hanging = flow.of('hanging');
    const hang: Behaviour = () => undefined;
    treatTarget(hanging.target('hangs'), [hang, hang, ok]);
    const [task] = await hanging.ended(await hanging.send([{ depot: 'hangs' }]));
    expect(task).toMatchObject({ status: 'succeeded' });
    // The first attempt makes two calls. On a busy machine a later answer may time out too.
    expect(task?.attempts).toBeGreaterThanOrEqual(2);
  });

  it('closes the connection, even in the middle of its answer, is called again', async () => {
    const hangUp: Behaviour = (_, response) => {
      response.destroy();
      return undefined;
    };
    const reset: Behaviour = (_, response) => {
      response.socket?.resetAndDestroy();
      return undefined;
    };
    const half: Behaviour = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
      response.write('{"results":[');
      setTimeout(() => response.destroy(), 50);
      return undefined;
    };
    treat('breaks', hangUp, reset, half, ok);
    const [task] = await flow.ended(await flow.send([{ depot: 'breaks' }]));
    expect(task).toMatchObject({ status: 'succeeded', attempts: 2 });
  });

  it("answers HTML, half a JSON or other tasks' results is called again", async () => {
    treat(
      'confused',
      () => ({ status: 200, body: '<html>Please log in</html>', headers: { 'content-type': 'text/html' } }),
      () => ({ status: 200, body: { results: [{ id: 'another-batch', status: 'succeeded' }] } }),
      ({ items }) => ({ status: 200, body: `{"results":[{"id":"${items[0]?.id}","status":"succeeded"}` }),
      ok,
    );
    const [task] = await flow.ended(await flow.send([{ depot: 'confused' }]));
    expect(task).toMatchObject({ status: 'succeeded', attempts: 2 });
  });
});

describe('a downstream that answers for tasks of another batch', () => {
  it('changes nothing in that batch', async () => {
    const own: Behaviour = ({ items }) => ({
      status: 200,
      body: { results: items.map(({ id }) => ({ id, status: 'succeeded', result: 'its own' })) },
    });
    let tellALie = (): void => {};
    const lieIsTold = new Promise<void>((resolve) => {
      tellALie = resolve;
    });
    treat('honest', async (call, response) => {
      await lieIsTold;
      return own(call, response);
    });
    const honest = await flow.send([{ depot: 'honest' }]);
    const lies = { results: honest.map((id) => ({ id, status: 'succeeded', result: "another's" })) };
    treat(
      'liar',
      () => {
        // By then the batch handler has read the answer.
        setTimeout(tellALie, 200);
        return { status: 200, body: lies };
      },
      own,
    );
    const tasks = await flow.ended([...honest, ...(await flow.send([{ depot: 'liar' }]))]);
    expect(tasks.map(({ status, result }) => [status, result])).toEqual([
      ['succeeded', 'its own'],
      ['succeeded', 'its own'],
    ]);
  });
});

describe('a downstream that answers item by item', () => {
  it('has only its open tasks called again', async () => {
    const answer =
      (pick: (n: number) => object): Behaviour =>
      ({ items }) => ({
        status: 200,
        body: {
          results: items
            .flatMap(({ id, payload }) => [{ id, ...pick(payload.n as number) }])
            .filter((each) => 'status' in each),
        },
      });
    const fours = flow.of('four');
    treatTarget(fours.target('mixed'), [
      answer(
        (n) =>
          [
            { status: 'succeeded', result: { n } },
            { status: 'failed', error: { code: 'lost', message: 'parcel lost' } },
            { status: 'retry' },
            {},
          ][n] ?? {},
      ),
      answer((n) => ({ status: 'succeeded', result: n * 10 })),
    ]);
    const ids = await fours.send([0, 1, 2, 3].map((n) => ({ depot: 'mixed', n })));
    const tasks = await flow.ended(ids);
    expect(tasks.map(({ status, result, error }) => ({ status, result, error }))).toEqual([
      { status: 'succeeded', result: { n: 0 }, error: undefined },
      { status: 'failed', result: undefined, error: { code: 'lost', message: 'parcel lost', retriable: false } },
      { status: 'succeeded', result: 20, error: undefined },
      { status: 'succeeded', result: 30, error: undefined },
    ]);
    const [first, second] = fours.calls('mixed');
    expect(second?.items.map(({ id }) => id).toSorted()).toEqual(ids.slice(2).toSorted());
    expect(second?.idempotencyKey).not.toBe(first?.idempotencyKey);
    // The batch row is finished after its tasks.
    await eventually(async () => (await flow.batch(tasks[0]?.batchId)).finishedAt !== undefined);
    const batch = await flow.batch(tasks[0]?.batchId);
    expect(batch).toMatchObject({ status: 'partly-failed', counts: { succeeded: 3, failed: 1 } });
    expect((batch.members as string[]).toSorted()).toEqual(ids.toSorted());
  });
});
