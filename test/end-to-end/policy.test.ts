/** An operation that uses every setting at once: each of them holds. */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ReceivedCall } from '../factories/downstream.ts';
import { expectEachTaskInOneBatch } from './each-once.ts';
import { type Flow, startFlow } from './flow.ts';
import { countAtOnce, sendTogether } from './together.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('all');
});
afterAll(() => flow?.stop());

/** The configured rate per second, and by how many seconds a delayed call may come after its reserved moment. */
const [RATE, LATE] = [3, 2];
const MAX_WEIGHT = 6;
const DEPOTS = ['A', 'B', 'C', 'D'];

const message = (depot: string, n: number, more: object = {}) => ({
  operation: 'all',
  id: `${depot}-${n}`,
  payload: { depot, n },
  weight: 2,
  ...more,
});
/** Ten tasks: seven usual ones, an urgent one that is sent last, and two of one coalesce key. */
const tasksOf = (depot: string): object[] => [
  message(depot, 0, { coalesceKey: 'position', version: 1 }),
  ...Array.from({ length: 7 }, (_, n) => message(depot, n + 1)),
  message(depot, 8, { coalesceKey: 'position', version: 2 }),
  message(depot, 9, { priority: 9 }),
];

it('rate limit, caps, weight, priority, keys, quiet period and retries hold together', async () => {
  const atOnce = countAtOnce();
  let made = 0;
  flow.downstream.behave(
    atOnce.count(async () => {
      made += 1;
      const status = made % 3 === 0 ? 503 : 200;
      await setTimeout(150);
      return { status };
    }),
  );
  const all = DEPOTS.map(tasksOf);
  const ids = await sendTogether(flow, all.flat());
  const tasks = await flow.ended(ids);

  expect(tasks.map(({ status }) => status)).toEqual(ids.map(() => 'succeeded'));
  const superseded = tasks.filter((task) => 'supersededBy' in task);
  // The higher version wins, in any order of sending, delivery and registration.
  expect(superseded.map(({ id, supersededBy }) => [id, supersededBy]).toSorted()).toEqual(
    DEPOTS.map((depot) => [`${depot}-0`, `${depot}-8`]),
  );
  expectEachTaskInOneBatch(
    flow.calls(),
    ids.filter((id) => !superseded.some((task) => task.id === id)),
  );
  expect(atOnce).toMatchObject({ ofTarget: 1, all: expect.toSatisfy((most) => most <= 3) });
  for (const { items } of flow.calls()) expect(2 * items.length).toBeLessThanOrEqual(MAX_WEIGHT);
  for (const depot of DEPOTS) expect(flow.calls(depot)[0]?.items.map(({ id }) => id)).toContain(`${depot}-9`);
  expectRate(flow.calls());
});

/** Checks that the calls do not exceed the rate limit over their whole time. */
const expectRate = (calls: readonly ReceivedCall[]): void => {
  // At least three batches for each depot, and the repeated calls.
  expect(calls.length).toBeGreaterThan(DEPOTS.length * 3);
  const seconds = ((calls.at(-1)?.at ?? 0) - (calls[0]?.at ?? 0)) / 1_000;
  expect(calls.length).toBeLessThanOrEqual(1 + RATE * (seconds + LATE));
};
