import { expect, it } from 'vitest';
import { once } from '../../lambdas/when-asked.ts';

it('is loaded when it is first asked for, and once, however many ask at a time', async () => {
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
