import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { total } from '../../bench/meter.ts';
import type { ReceivedCall } from '../factories/downstream.ts';
import { eventually, type Flow, startFlow } from './harness.ts';

const TASKS = 10_000;
const TARGETS = 20;
const SIZE = 100;

/** What must be true of any run: no task lost, none in two batches, no batch with two Targets. */
const expectEachTaskInOneBatch = (calls: readonly ReceivedCall[], ids: readonly string[]): void => {
  const batchOf = new Map<string, string>();
  for (const { batchId, target, items } of calls)
    for (const { id, payload } of items) {
      expect(batchOf.get(id) ?? batchId).toBe(batchId);
      batchOf.set(id, batchId);
      expect(target).toBe(`ship/depot=${payload.depot}`);
    }
  expect(new Set(batchOf.keys())).toEqual(new Set(ids));
};

describe('a burst of 10,000 tasks over 20 targets', () => {
  let flow: Flow;
  let ids: string[];

  beforeAll(async () => {
    // Longer than this machine takes to register them all: what is sealed for its age is the end of a Target.
    flow = await startFlow({ batch: { maxSize: SIZE, maxWait: '30s' } });
    ids = await flow.send(
      Array.from({ length: TASKS }, (_, n) => ({ depot: `D${n % TARGETS}`, n, text: 'x'.repeat(450) })),
    );
    await flow.ended(ids, 240_000);
  }, 300_000);
  afterAll(() => flow.stop());

  it('reaches the downstream once each, every batch of one Target', () => {
    expectEachTaskInOneBatch(flow.downstream.calls, ids);
    expect(flow.downstream.calls.flatMap(({ items }) => items)).toHaveLength(TASKS);
  });

  it('fills every batch but the last one or two of each Target', () => {
    const partial = new Map<string, number>();
    for (const { target, items } of flow.downstream.calls)
      if (items.length < SIZE) partial.set(target, (partial.get(target) ?? 0) + 1);
    for (const [target, count] of partial) expect(count, target).toBeLessThanOrEqual(2);
  });

  it('costs at most 5.5 write units a task, as the engine counts them', () => {
    const perTask = total(flow.bill.writeUnits) / TASKS;
    console.log(
      `write units a task: ${perTask.toFixed(3)}, read units: ${(total(flow.bill.readUnits) / TASKS).toFixed(3)}`,
    );
    expect(perTask).toBeGreaterThan(4);
    expect(perTask).toBeLessThanOrEqual(5.5);
  });

  it('elects a handful of leaders with a handful of messages: losers do not come back to ask', () => {
    const elections = flow.bill.invocations.get('Flow-ElectHandler-Function') ?? 0;
    const leaders = flow.events.filter(({ event }) => event === 'led').length;
    // Polling losers would come back for as long as their Target is led: thousands of invocations for a few leaders.
    expect(elections).toBeLessThan(TASKS / 50);
    expect(leaders).toBeLessThan(TARGETS * 10);
  });
});

describe('other shapes of load', () => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow({ batch: { maxSize: 50, maxBytes: 300_000, maxWait: '400ms' } });
  });
  afterAll(() => flow.stop());

  it('a single task goes after maxWait, alone, though that is less than SQS can delay', async () => {
    const [id = ''] = await flow.send([{ depot: 'lonely' }]);
    const [task] = await flow.ended([id]);
    const sealed = flow.events.find((event) => event.event === 'sealed' && event.target === 'ship/depot=lonely');
    expect(sealed).toMatchObject({ because: 'waited', size: 1 });
    expect(sealed?.event === 'sealed' && sealed.waited).toBeGreaterThanOrEqual(400);
    expect(task).toMatchObject({ status: 'succeeded', attempts: 1, batchId: 'ship/depot=lonely#1#1' });
  });

  it('a trickle is gathered: what comes within maxWait goes together', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 12; n += 1) {
      ids.push(...(await flow.send([{ depot: 'trickle', n }])));
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    await flow.ended(ids);
    const calls = flow.downstream.calls.filter(({ target }) => target === 'ship/depot=trickle');
    expectEachTaskInOneBatch(calls, ids);
    expect(calls.length).toBeLessThan(ids.length);
  });

  it('hundreds of Targets each get a leader and a batch', async () => {
    const ids = await flow.send(Array.from({ length: 400 }, (_, n) => ({ depot: `many-${n % 200}`, n })));
    await flow.ended(ids, 60_000);
    const calls = flow.downstream.calls.filter(({ target }) => target.startsWith('ship/depot=many-'));
    expectEachTaskInOneBatch(calls, ids);
    expect(new Set(calls.map(({ target }) => target)).size).toBe(200);
  });

  it('large payloads travel whole, and a batch never exceeds maxBytes', async () => {
    const ids = await flow.send(Array.from({ length: 9 }, (_, n) => ({ depot: 'large', n, text: 'ü'.repeat(50_000) })));
    await flow.ended(ids);
    const calls = flow.downstream.calls.filter(({ target }) => target === 'ship/depot=large');
    expectEachTaskInOneBatch(calls, ids);
    for (const { items, text } of calls) {
      expect(Buffer.byteLength(text)).toBeLessThan(301_000);
      for (const { payload } of items) expect(payload.text).toHaveLength(50_000);
    }
    expect(Math.max(...calls.map(({ items }) => items.length))).toBeLessThanOrEqual(2);
  });

  it('payloads arrive to the letter', async () => {
    const payload = '{ "depot": "letter", "n": 12345678901234567890, "s": "\\u00fc" }';
    const response = await fetch(`${flow.stack.addresses.api}/tasks`, {
      method: 'POST',
      body: `{"operation":"ship","payload":${payload}}`,
    });
    const { ids } = (await response.json()) as { ids: string[] };
    await flow.ended(ids);
    expect(flow.downstream.calls.find(({ target }) => target === 'ship/depot=letter')?.text).toContain(
      `"payload":${payload}`,
    );
    expect(await (await fetch(`${flow.stack.addresses.api}/tasks/${ids[0]}`)).text()).toContain(`"payload":${payload}`);
  });

  it('a leader that sleeps for long is woken when its batch is full', async () => {
    const patient = await startFlow({ batch: { maxSize: 8, maxWait: '10m' } });
    try {
      const first = await patient.send([{ depot: 'nudged', n: 0 }]);
      await eventually(() => patient.events.some(({ event }) => event === 'led'));
      const rest = await patient.send(Array.from({ length: 7 }, (_, n) => ({ depot: 'nudged', n: n + 1 })));
      await patient.ended([...first, ...rest]);
      expect(patient.downstream.calls.map(({ items }) => items.length)).toEqual([8]);
      expect(patient.events.find(({ event }) => event === 'sealed')).toMatchObject({ because: 'full' });
    } finally {
      await patient.stop();
    }
  });

  it('a flush seals what waits, and not what comes later', async () => {
    const patient = await startFlow({ batch: { maxSize: 100, maxWait: '10m' } });
    const flush = () =>
      fetch(`${patient.stack.addresses.api}/targets/flush`, {
        method: 'POST',
        body: '{"target":"ship/depot=flushed"}',
      });
    const leaders = () => patient.events.filter(({ event }) => event === 'led').length;
    try {
      expect((await flush()).status).toBe(404);
      const ids = await patient.send([
        { depot: 'flushed', n: 1 },
        { depot: 'flushed', n: 2 },
      ]);
      await eventually(() => leaders() === 1);
      const answer = await flush();
      expect([answer.status, await answer.json()]).toEqual([202, { target: 'ship/depot=flushed', waiting: 2 }]);
      await patient.ended(ids);
      const [later = ''] = await patient.send([{ depot: 'flushed', n: 3 }]);
      await eventually(() => leaders() === 2);
      expect(patient.events.filter(({ event }) => event === 'sealed')).toMatchObject([{ because: 'flush', size: 2 }]);
      expect((await patient.task(later))?.status).toBe('created');
    } finally {
      await patient.stop();
    }
  });
});
