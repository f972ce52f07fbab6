import { expect, it } from 'vitest';
import { eventually } from '../end-to-end/flow.ts';
import { startLocalFlow } from './flow.ts';

/** More than the five pollers of the beginning have in hand, with five batches each. */
const CALLS = 40;

it('a queue is polled on while invocations take their time, so that nobody waits for whoever sleeps', async () => {
  const flow = await startLocalFlow({ batch: { maxSize: 1 }, timeout: '200s', circuit: null });
  const { promise: allAreThere, resolve } = Promise.withResolvers<void>();
  try {
    flow.downstream.behave(async () => {
      await allAreThere;
      return { status: 200 };
    });
    const ids = await flow.send(Array.from({ length: CALLS }, (_, n) => ({ depot: `D${n}` })));
    await eventually(() => flow.downstream.calls.length === CALLS, 120_000);
    resolve();
    await flow.settled(ids, 120_000);
    expect(flow.downstream.calls).toHaveLength(CALLS);
  } finally {
    resolve();
    await flow.stop();
  }
});
