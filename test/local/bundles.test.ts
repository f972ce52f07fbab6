import { expect, it } from 'vitest';
import { startLocalFlow } from './flow.ts';

it('the bundles that a deployment uploads run the whole flow', async () => {
  const flow = await startLocalFlow({}, { code: 'bundles' });
  try {
    const ids = await flow.send([
      { depot: 'MUC', n: 1 },
      { depot: 'MUC', n: 2 },
    ]);
    const tasks = await flow.ended(ids);
    expect(tasks.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    expect(flow.downstream.calls.map(({ items }) => items.map(({ id }) => id))).toEqual([ids]);
  } finally {
    await flow.stop();
  }
});
