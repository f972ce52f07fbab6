import { expect, it } from 'vitest';
import { TimeIsUp, within } from '../src/ports/machine.ts';

it('within() gives the result of work that ends in time', async () => {
  await expect(within(60_000, async () => 7)).resolves.toBe(7);
  await expect(
    within(60_000, async () => {
      throw new RangeError('broken');
    }),
  ).rejects.toThrow(RangeError);
});

it('within() gives up on slow work, and ignores its later outcome', async () => {
  const work = Promise.withResolvers<void>();
  await expect(within(5, () => work.promise)).rejects.toThrow(TimeIsUp);
  await expect(within(-5, () => new Promise(() => {}))).rejects.toThrow('no answer within -5 ms');
  work.reject(new Error('this is ignored'));
  await new Promise((resolve) => setTimeout(resolve));
});
