/** The downstream refuses one task among many: halving finds the task in few calls, and only that task fails. */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itAtLength } from '../at-length.ts';
import { eventually, type Flow, startFlow } from './flow.ts';
import { ask, sendTogether } from './together.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('hundred');
});
afterAll(() => flow?.stop());

const SIZE = 100;
/** The most calls that halving may make for one bad task. */
const FEW = Math.floor(1 + 2 * Math.log2(SIZE));
const some = (depot: string, count: number): object[] => Array.from({ length: count }, (_, n) => ({ depot, n }));

/** Sends one batch, and flushes the Target so that the batch does not wait for `maxWait`. */
const sendBatch = async (from: Flow, depot: string, count: number): Promise<string[]> => {
  const ids = await sendTogether(from, some(depot, count));
  await ask(from, 'POST', '/targets/flush', { target: from.target(depot) });
  return ids;
};

interface Poison {
  /** Positions of the bad tasks in the first call. */
  readonly places: readonly number[];
  readonly status: number;
  /** The call with this number is answered 503. */
  readonly hiccup?: number;
  /** Time until the downstream answers, in milliseconds. */
  readonly takes?: number;
}

/** Refuses every call that contains a bad task. @returns the bad tasks, and how often each other task was done */
const poisoned = ({ places, status, hiccup, takes = 0 }: Poison) => {
  const culprits = new Set<string>();
  const done = new Map<string, number>();
  let calls = 0;
  flow.downstream.behave(async ({ items }) => {
    calls += 1;
    if (calls === 1) for (const place of places) culprits.add(items[place]?.id ?? '');
    await setTimeout(takes);
    if (calls === hiccup) return { status: 503 };
    if (items.some(({ id }) => culprits.has(id))) return { status, body: { error: 'cannot take one of them' } };
    for (const { id } of items) done.set(id, (done.get(id) ?? 0) + 1);
    return { status: 200 };
  });
  return { culprits, done };
};

/** Sends one batch, and checks how each of its tasks ended. @returns its calls and its row */
const run = async (from: Flow, depot: string, count: number, poison: Poison) => {
  const { culprits, done } = poisoned(poison);
  const ids = await sendBatch(from, depot, count);
  const tasks = await from.ended(ids);
  expect(culprits.size).toBe(poison.places.length);
  for (const task of tasks)
    expect(task).toMatchObject(
      culprits.has(String(task.id))
        ? {
            status: 'failed',
            error: { code: 'refused', message: `answered ${poison.status}: {"error":"cannot take one of them"}` },
          }
        : { status: 'succeeded' },
    );
  // Halving sends no task again that is done.
  expect([...done.values()]).toEqual(Array(count - culprits.size).fill(1));
  const calls = from.calls(depot);
  expect(new Set(calls.map(({ batchId }) => batchId)).size).toBe(1);
  await eventually(async () => (await from.batch(tasks[0]?.batchId)).status === 'partly-failed');
  const counts = { succeeded: count - culprits.size, failed: culprits.size };
  const batch = await from.batch(tasks[0]?.batchId);
  expect(batch).toMatchObject({ size: count, counts });
  return { calls, batch };
};

describe('one bad task among a hundred', () => {
  it.each<[string, Poison]>([
    ['first', { places: [0], status: 400 }],
    ['middle', { places: [50], status: 422 }],
    ['last', { places: [99], status: 400 }],
  ])('in the %s place fails alone, with its reason, in few calls', async (place, poison) => {
    const { calls, batch } = await run(flow, place, SIZE, poison);
    expect(calls.length).toBeLessThanOrEqual(FEW);
    expect(batch).toMatchObject({ attempts: 1 });
  });

  it('fails alone although one call of the halving fails with 503', async () => {
    const { calls } = await run(flow, 'hiccup', SIZE, { places: [37], status: 422, hiccup: 4 });
    expect(calls.length).toBeLessThanOrEqual(FEW + 1);
  });

  it('fails together with a second one, and no other task fails', async () => {
    const { calls } = await run(flow, 'two', SIZE, { places: [12, 88], status: 400 });
    expect(calls.length).toBeLessThanOrEqual(2 * FEW);
  });

  it('that is too large for any call fails alone', async () => {
    const { calls } = await run(flow, 'large', SIZE, { places: [71], status: 413 });
    // After 413, both halves may be too large: each has to be called.
    expect(calls.length).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(SIZE)));
  });
});

it('a batch that is refused with 413 is halved until its parts fit, and no task fails', async () => {
  flow.downstream.behave(({ items }) => ({ status: items.length > 30 ? 413 : 200 }));
  const ids = await sendBatch(flow, 'many', SIZE);
  const statuses = (await flow.ended(ids)).map(({ status }) => status);
  expect(statuses).toEqual(Array(SIZE).fill('succeeded'));
  expect(flow.calls('many').map(({ items }) => items.length)).toEqual([100, 50, 25, 25, 50, 25, 25]);
});

itAtLength('halving continues in the next invocation if the function runs out of time', async () => {
  const unhurried = flow.of('unhurried');
  const { calls, batch } = await run(unhurried, 'slow', 4, { places: [0], status: 400, takes: 2_600 });
  expect(batch.attempt).toBeGreaterThanOrEqual(2);
  // The next invocation continues the halving, and does not begin anew.
  expect(calls.filter(({ items }) => items.length === 4)).toHaveLength(1);
  expect(calls.length).toBeLessThanOrEqual(2 * 4);
});
