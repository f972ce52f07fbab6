import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seeded } from '../../../src/virtual/random.ts';
import type { Advice } from '../../../tools/console/server/shapes.ts';
import { untilNext } from '../../../tools/simulate/load.ts';
import { eventually } from '../../end-to-end/flow.ts';
import { startTestDownstream, type TestDownstream } from '../../factories/downstream.ts';
import { type ConsoleStack, startConsoleStack } from '../page/stack.ts';

/** Average time between two tasks, in ms. Each of four Targets has a task every second on average. */
const PAUSE = 250;
const TASKS = 80;

describe('advice of a local stack', () => {
  let downstream: TestDownstream;
  let console: ConsoleStack;
  beforeAll(async () => {
    downstream = await startTestDownstream(({ items }) => ({
      status: 200,
      body: { results: items.map(({ id }) => ({ id, status: 'succeeded' })) },
    }));
    const batch = { maxSize: 50, maxWait: '500ms' } as const;
    const to = { kind: 'http', url: downstream.url } as const;
    console = await startConsoleStack({
      operations: { ship: { target: ['depot'], batch, downstream: to }, book: { target: [], downstream: to } },
    });
  });
  afterAll(async () => {
    await console?.stop();
    await downstream?.stop();
  });
  const adviceFor = async (operation: string): Promise<{ status: number; body: Advice & { detail?: string } }> => {
    const response = await fetch(`${console.site}console/advice?operation=${operation}`);
    return { status: response.status, body: (await response.json()) as Advice };
  };

  it('is missing for too few figures, and 404 if unknown', async () => {
    expect(await adviceFor('book')).toMatchObject({ status: 200, body: { kind: 'too-few-figures' } });
    const unknown = await adviceFor('shop');
    expect(unknown.status).toBe(404);
    expect(unknown.body.detail).toContain('there is no operation "shop"');
  });

  it('names a longer wait that saves calls, from the measured load', async () => {
    const random = seeded(7);
    for (let task = 0; task < TASKS; task += 1) {
      await console.ask('/tasks', { operation: 'ship', payload: { depot: random.pick(['MUC', 'FRA', 'HAM', 'BER']) } });
      await setTimeout(untilNext(random, 1_000 / PAUSE));
    }
    await eventually(async () => (await adviceFor('ship')).body.kind !== 'too-few-figures');
    const { body } = await adviceFor('ship');
    expect(body).toMatchObject({ kind: 'change', change: { setting: 'batch.maxWait', from: '500ms' } });
    expect(body.measured).toMatch(/^In \d+ s, \d+ tasks were registered .* \d% of batch\.maxSize \(50\)\.$/);
    expect(body.text).toMatch(/ tasks: \d\d% fewer calls .* In return a task would wait /);
    expect(body.basis).toMatch(/^Simulated with the measured rate, spread evenly over about [2-5] Targets/);
  }, 120_000);
});
