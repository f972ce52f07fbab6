/** Calls under a limit, with first attempts that fail: their batches wait for the limit a second time. */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LimitBucket } from '../../src/api/limits/responses.ts';
import { expectEachTaskInOneBatch } from './each-once.ts';
import { eventually, type Flow, startFlow } from './flow.ts';
import { countAtOnce } from './together.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('metered');
});
afterAll(() => flow?.stop());

const bucket = async (): Promise<LimitBucket | undefined> => {
  const { buckets = [] } = (await flow.get('/limits/vendor')) as { buckets?: LimitBucket[] };
  return buckets[0];
};

it('wait visibly, first and again, and at most two are in progress', async () => {
  const atOnce = countAtOnce();
  let isThrottled = true;
  flow.downstream.behave(
    atOnce.count(async () => {
      await setTimeout(100);
      return { status: isThrottled ? 429 : 200 };
    }),
  );
  const depots = ['A', 'B', 'C', 'D', 'E', 'F'];
  const ids = await flow.send(depots.flatMap((depot) => Array.from({ length: 4 }, (_, n) => ({ depot, n }))));
  const seen = await eventually(async () => {
    const found = await bucket();
    return found && found.waiting > 1 && found.next.length > 1 ? found : undefined;
  });
  expect(seen).toMatchObject({ calls: { allowed: 2 }, weight: { allowed: 60 }, inProgress: { allowed: 2 } });
  expect(seen.next[0]?.target).toMatch(/^metered\/depot=/);
  await eventually(async () => {
    for (const id of ids) {
      const { waitsFor } = ((await flow.task(id)) ?? {}) as { waitsFor?: { limit?: string } };
      if (waitsFor?.limit === 'vendor') return true;
    }
    return false;
  });
  // A batch waits again, for another attempt.
  await eventually(async () => (await bucket())?.next.some(({ batchId }) => batchId !== undefined));
  isThrottled = false;
  const tasks = await flow.ended(ids);
  expect(tasks.map(({ status }) => status)).toEqual(ids.map(() => 'succeeded'));
  expectEachTaskInOneBatch(flow.calls(), ids);
  expect(atOnce.all).toBeLessThanOrEqual(2);
  expect(await bucket()).toMatchObject({ waiting: 0, inProgress: { used: 0 } });
});
