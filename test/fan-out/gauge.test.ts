import { expect, it } from 'vitest';
import { measured } from '../../src/domain/events/measure.ts';
import type { FanOutId } from '../../src/domain/fan-out-ids.ts';
import { seal } from '../../src/steps/fan-outs/complete.ts';
import { gaugeFanOuts } from '../../src/steps/fan-outs/gauge.ts';
import { NOW } from '../factories/factories.ts';
import { fanOutKit } from './kit.ts';

it('the sweep measures how many fan-outs are open, and for how long', async () => {
  const kit = fanOutKit();
  await gaugeFanOuts(kit);
  expect(kit.events, 'there are none').toEqual([]);
  await kit.open();
  await kit.open({ id: 'older' as FanOutId, createdAt: NOW - 5_000 });
  await kit.open({ id: 'ended' as FanOutId, createdAt: NOW - 9_000 });
  await seal(kit, 'ended' as FanOutId);
  kit.events.length = 0;
  kit.now += 1_000;
  await gaugeFanOuts(kit);
  const counted = { event: 'fan-outs-counted', open: 2, oldest: 6_000, isAtLeast: false } as const;
  expect(kit.events).toEqual([counted]);
  expect(measured(counted)).toEqual([{ of: {}, values: { FanOutsOpen: 2, OldestFanOut: 6_000 } }]);
  for (let n = 0; n < 100; n += 1) await kit.open({ id: `f${n}` as FanOutId });
  await gaugeFanOuts(kit);
  expect(kit.events.at(-1)).toMatchObject({ open: 100, isAtLeast: true });
});
