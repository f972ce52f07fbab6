import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectEachTaskInOneBatch } from './each-once.ts';
import { type Flow, startFlow } from './flow.ts';

const TASKS = 1_000;
const TARGETS = 10;
const SIZE = 50;

describe('a burst of 1,000 tasks over 10 targets', () => {
  let flow: Flow;
  let ids: string[];

  beforeAll(async () => {
    flow = await startFlow('burst');
    ids = await flow.send(
      Array.from({ length: TASKS }, (_, n) => ({ depot: `D${n % TARGETS}`, n, text: 'x'.repeat(450) })),
    );
    await flow.settled(ids, 150_000);
  }, 180_000);
  afterAll(() => flow?.stop());

  it('reaches the downstream once each, every batch of one Target', () => {
    expectEachTaskInOneBatch(flow.calls(), ids);
    expect(flow.calls().flatMap(({ items }) => items)).toHaveLength(TASKS);
  });

  it('goes in as few batches as it can', () => {
    // Two are full for each Target; a third may hold what was late.
    expect(flow.calls().length).toBeGreaterThanOrEqual(TASKS / SIZE);
    expect(flow.calls().length).toBeLessThanOrEqual(TASKS / SIZE + TARGETS);
  });
});
