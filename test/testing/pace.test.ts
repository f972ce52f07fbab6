import { expect, it } from 'vitest';
import { Pace } from '../../src/testing/pace.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';

it('pace names test code that never answers, and stops', async () => {
  const pace = new Pace(new Scheduler(0), 20);
  pace.scheduler.after(5, () => void pace.outside('the downstream of ship', () => new Promise(() => {})));
  await expect(pace.run(10)).rejects.toThrow('no answer within 20 ms of real time from the downstream of ship');
});

it('the clock stands still while test code runs, and goes on while it waits for the clock', async () => {
  const pace = new Pace(new Scheduler(0));
  const seen: string[] = [];
  const look = (what: string): unknown => seen.push(`${what} ${pace.scheduler.now}`);
  pace.scheduler.after(5, () =>
    pace.outside('a downstream', async (takes) => {
      look('begins');
      await new Promise((resolve) => setTimeout(resolve, 5));
      look('waits');
      await takes(10);
      look('ends');
    }),
  );
  pace.scheduler.after(6, () => look('meanwhile'));
  expect(pace.isAtWork).toBe(false);
  expect(await pace.run(100)).toBe(false);
  expect(seen).toEqual(['begins 5', 'waits 5', 'meanwhile 6', 'ends 15']);
  expect([pace.scheduler.now, pace.isAtWork]).toEqual([100, false]);
});

it('pace reports a failure once', async () => {
  const pace = new Pace(new Scheduler(0));
  pace.scheduler.after(1, () => pace.fail(new Error('first')));
  await expect(pace.run(10)).rejects.toThrow('first');
  expect(await pace.run(20, () => pace.scheduler.now === 0)).toBe(false);
});
