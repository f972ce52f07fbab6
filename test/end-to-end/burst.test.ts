import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectEachTaskInOneBatch } from './each-once.ts';
import { type Flow, startFlow } from './flow.ts';

const TASKS = 1_000;
const TARGETS = 10;
const SIZE = 50;
/** The `maxWait` of the operation, in milliseconds. */
const MAX_WAIT = 5_000;

describe('a burst of 1,000 tasks over 10 Targets', () => {
  let flow: Flow;
  let ids: string[];
  let took: number;

  beforeAll(async () => {
    flow = await startFlow('burst');
    const from = performance.now();
    ids = await flow.send(
      Array.from({ length: TASKS }, (_, n) => ({ depot: `D${n % TARGETS}`, n, text: 'x'.repeat(450) })),
    );
    await flow.settled(ids, 400_000);
    took = performance.now() - from;
  }, 450_000);
  afterAll(() => flow?.stop());

  it('reaches the downstream, each task once', () => {
    expectEachTaskInOneBatch(flow.calls(), ids);
    expect(flow.calls().flatMap(({ items }) => items)).toHaveLength(TASKS);
  });

  it('is grouped into as few batches as possible', () => {
    // Each Target has two full batches. The rest goes in batches that were sealed after `maxWait`.
    expect(flow.calls().length).toBeGreaterThanOrEqual(TASKS / SIZE);
    expect(flow.calls().length).toBeLessThanOrEqual(TASKS / SIZE + TARGETS * Math.ceil(took / MAX_WAIT));
  });
});
