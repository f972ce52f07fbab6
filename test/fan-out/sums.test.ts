/** When the failed items of a fan-out that tolerates many are summed (T10). */
import { expect, it } from 'vitest';
import { type FanOut, isSumDue } from '../../src/domain/fan-outs/fan-out.ts';
import type { FanOuts } from '../../src/ports/fan-outs.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { sumIfDue } from '../../src/steps/fan-outs/sums.ts';
import { NOW } from '../factories/factories.ts';
import { FAN_OUT, fanOutKit } from './kit.ts';

const sealed = (groups: number, fields: Partial<FanOut> = {}): FanOut => ({
  ...{ id: FAN_OUT, createdAt: NOW, status: 'sealed', failFast: { share: 0.1 }, groups, total: 450 * groups },
  ...{ touchedAt: NOW, version: 1, fails: [], ...fields },
});

it.each([
  [10, 4_000],
  [4_000, 4_000],
  [450_000, 450_000],
])('with %i groups, sums begin at least %i ms apart', (groups, pause) => {
  const summed = sealed(groups, { summedAt: NOW });
  expect(isSumDue(sealed(groups), NOW), 'it was never summed').toBe(true);
  expect(isSumDue(summed, NOW + pause - 1)).toBe(false);
  expect(isSumDue(summed, NOW + pause)).toBe(true);
  expect(isSumDue(sealed(groups, { summedAt: NOW, ended: { at: NOW, because: 'all-done', failed: 0 } }), 2 * NOW)).toBe(
    false,
  );
});

it('a process sums once in each pause, however far its clock is from those of others', async () => {
  const kit = fanOutKit();
  await kit.open({ failFast: { share: 0.1 } });
  await kit.add(1_500);
  await seal(kit, FAN_OUT);
  let begun = 0;
  const count = (store: FanOuts): FanOuts => ({
    ...store,
    beginSum: async (...args) => {
      const isMine = await store.beginSum(...args);
      if (isMine) begun += 1;
      return isMine;
    },
  });
  // Two processes, half a minute apart. Each sees an ack every 100 ms.
  const processes = [0, 30_000].map((skew) => ({
    ...kit,
    fanOuts: count(kit.fanOuts),
    machine: { ...kit.machine, now: () => kit.now + skew },
  }));
  const from = begun;
  for (let n = 0; n < 200; n += 1) {
    for (const each of processes) await sumIfDue(each, await kit.read());
    kit.now += 100;
  }
  // In 20 s each process may begin five sums.
  expect(begun - from).toBeGreaterThanOrEqual(5);
  expect(begun - from).toBeLessThanOrEqual(10);
});
