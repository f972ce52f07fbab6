/** Results that are too large together for one answer: the batch is halved, and each of its tasks ends. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Flow, startFlow } from './flow.ts';
import { ask, sendTogether } from './together.ts';

let flow: Flow;
beforeAll(async () => {
  flow = await startFlow('hundred');
});
afterAll(() => flow?.stop());

/** Sends one batch of `count` tasks, and waits until each has ended. */
const endedBatch = async (depot: string, count: number): Promise<Record<string, unknown>[]> => {
  const ids = await sendTogether(
    flow,
    Array.from({ length: count }, (_, n) => ({ depot, n })),
  );
  await ask(flow, 'POST', '/targets/flush', { target: flow.target(depot) });
  return flow.ended(ids, 60_000);
};

/**
 * The downstream answers with a result of this many bytes for each task. @param bytesOf takes the task's position in
 * the first call
 */
const answersWith = (bytesOf: (place: number) => number): void => {
  const places = new Map<string, number>();
  flow.downstream.behave(({ items }) => {
    if (places.size === 0) for (const [place, { id }] of items.entries()) places.set(id, place);
    const results = items.map(({ id }) => ({
      id,
      status: 'succeeded',
      result: 'x'.repeat(bytesOf(places.get(id) ?? 0)),
    }));
    return { status: 200, body: { results } };
  });
};

const sizes = (depot: string): number[] => flow.calls(depot).map(({ items }) => items.length);

describe('a batch whose answer is larger than 6 MB', () => {
  it('is halved in the same attempt and loses no result', async () => {
    answersWith(() => 100_000);
    const tasks = await endedBatch('large', 100);
    for (const task of tasks) expect(task).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(tasks.map(({ result }) => String(result).length)).toEqual(Array(100).fill(100_000));
    expect(sizes('large')).toEqual([100, 50, 50]);
    const { circuit, failures } = await flow.get('/operations/hundred');
    expect([circuit, failures]).toEqual(['closed', 0]);
  });

  it('fails only the task whose own result is too large', async () => {
    answersWith((place) => (place === 3 ? 7_000_000 : 10));
    const tasks = await endedBatch('one', 8);
    const large = flow.calls('one')[0]?.items[3]?.id;
    for (const { id, status } of tasks) expect(status).toBe(id === large ? 'failed' : 'succeeded');
    expect(tasks.find(({ id }) => id === large)).toMatchObject({
      attempts: 1,
      error: { code: 'answer-too-large', message: expect.stringContaining('more than 6000000 bytes'), retriable: true },
    });
    expect(sizes('one')).toEqual([8, 4, 2, 2, 1, 1, 4]);
  });
});
