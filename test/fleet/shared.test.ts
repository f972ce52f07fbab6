import { expect, it } from 'vitest';
import { monotonic, Shared } from '../../src/fleet/shared.ts';

it('work of an earlier life has no deadline ahead, whatever the next life has (P7)', () => {
  const [heartbeats, work] = [new Shared(), (buffer: SharedArrayBuffer) => new Shared(buffer)];
  const seen = work(heartbeats.buffer);
  heartbeats.nextLife();
  heartbeats.extend(1_000);
  expect(seen.deadlineOf(1)).toBe(1_000);
  heartbeats.nextLife();
  expect([seen.deadlineOf(1), seen.deadlineOf(2)]).toEqual([0, 1_000]);
  heartbeats.extend(2_000.7);
  expect([seen.deadlineOf(1), seen.deadlineOf(2)]).toEqual([0, 2_000]);
});

it('extending a deadline returns whether a reader may have found it passed', () => {
  const shared = new Shared();
  const ahead = monotonic() + 60_000;
  expect(shared.extend(ahead)).toBe(true);
  expect(shared.extend(ahead + 1)).toBe(false);
  expect(shared.extend(monotonic())).toBe(false);
  expect(shared.extend(ahead)).toBe(true);
});
