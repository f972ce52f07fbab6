import { expect, it } from 'vitest';
import { once } from '../../lambdas/lazy.ts';

it('once() loads at the first call, and once for calls at the same time', async () => {
  let loads = 0;
  const load = once(async () => {
    loads += 1;
    return { of: loads };
  });
  expect(loads).toBe(0);
  const [one, two] = await Promise.all([load(), load()]);
  expect(one).toEqual({ of: 1 });
  expect(two).toBe(one);
  expect(await load()).toBe(one);
});

it('once() loads again after a failure', async () => {
  const outcomes = [() => Promise.reject(new Error('no more files')), () => Promise.resolve('loaded')];
  const load = once(() => outcomes.shift()?.() ?? Promise.reject(new Error('loaded too often')));
  await expect(load()).rejects.toThrow('no more files');
  expect(await load()).toBe('loaded');
  expect(await load()).toBe('loaded');
});
