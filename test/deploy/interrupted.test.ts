import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { untilInterrupted } from '../../tools/deploy/cdk.ts';

it('a signal ends work and the work within it, and its repetition does not end what follows', async () => {
  const outer = await untilInterrupted(async (signal) => {
    const inner = await untilInterrupted(async (within) => {
      process.emit('SIGINT');
      return within.aborted;
    });
    return [signal.aborted, inner];
  });
  expect(outer).toEqual([true, true]);
  const next = await untilInterrupted(async (signal) => {
    await setTimeout(50);
    // npm and the terminal may both send the signal.
    process.emit('SIGINT');
    return signal.aborted;
  });
  expect(next).toBe(false);
});
