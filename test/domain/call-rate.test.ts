import { describe, expect, it } from 'vitest';
import {
  LEAST_AHEAD,
  MOST_AHEAD,
  nextMoment,
  reachOf,
  reservedIn,
  sleepSeconds,
  VOID_AFTER,
} from '../../src/domain/operations/call-rate.ts';
import type { CallLine } from '../../src/domain/operations/slots.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import { reserveCall } from '../../src/steps/call/reserve-call.ts';
import type { CallDeps } from '../../src/steps/deps.ts';
import { NOW, operationName } from '../factories/factories.ts';

const since = NOW - 5_000;

describe('the next moment', () => {
  it('is now, or after the moments that are already reserved', () => {
    expect(nextMoment(undefined, NOW, 4)).toEqual({ at: NOW, line: { next: NOW + 250, rate: 4, since: NOW } });
    expect(nextMoment({ next: NOW - 600, rate: 4, since }, NOW, 4)).toEqual({
      at: NOW,
      line: { next: NOW + 250, rate: 4, since },
    });
    expect(nextMoment({ next: NOW + 600, rate: 0.5, since }, NOW, 0.5)).toEqual({
      at: NOW + 600,
      line: { next: NOW + 2_600, rate: 0.5, since },
    });
  });

  it('starts a new line under another rate, at most one gap after the last', () => {
    const far = { next: NOW + 50_000, rate: 1, since };
    expect(nextMoment(far, NOW, 100)).toEqual({ at: NOW + 10, line: { next: NOW + 20, rate: 100, since: NOW } });
    const near = { next: NOW + 7, rate: 100, since };
    expect(nextMoment(near, NOW, 1)).toEqual({ at: NOW + 7, line: { next: NOW + 1_007, rate: 1, since: NOW } });
    const over = { next: NOW - 7, rate: 100, since };
    expect(nextMoment(over, NOW, 1)).toEqual({ at: NOW, line: { next: NOW + 1_000, rate: 1, since: NOW } });
  });

  it('starts a new line if release 0.2.0 made or lengthened the old one', () => {
    expect(nextMoment({ next: NOW + 2_600_000 }, NOW, 1).at).toBe(NOW + 1_000);
    const longest = NOW + MOST_AHEAD + 1_000 + 2 * CLOCK_SKEW;
    const long = (next: number) => nextMoment({ next, rate: 1, since }, NOW, 1);
    expect(long(longest)).toEqual({ at: longest, line: { next: longest + 1_000, rate: 1, since } });
    expect(long(longest + 1)).toEqual({ at: NOW + 1_000, line: { next: NOW + 2_000, rate: 1, since: NOW } });
  });

  it('never exceeds the rate; gaps are rounded up to milliseconds', () => {
    for (const [rate, gap] of [
      [3, 334],
      [7, 143],
      [999, 2],
      [1_000, 1],
    ] as const)
      expect([rate, nextMoment(undefined, NOW, rate).line.next - NOW]).toEqual([rate, gap]);
  });
});

describe('a reserved moment', () => {
  const line = { next: NOW + 60_000, rate: 1, since };
  it('is void some time after it has passed', () => {
    expect(
      [undefined, NOW + 9_000, NOW - VOID_AFTER, NOW - VOID_AFTER - 1].map((at) =>
        reservedIn({ ...(at === undefined ? {} : { at }), line: since }, line, 1, NOW),
      ),
    ).toEqual([undefined, NOW + 9_000, NOW - VOID_AFTER, undefined]);
  });

  it('is void in another line, under another rate, or from release 0.2.0', () => {
    expect(reservedIn({ at: NOW, line: since }, line, 1, NOW)).toBe(NOW);
    expect(reservedIn({ at: NOW, line: since - 1 }, line, 1, NOW)).toBeUndefined();
    expect(reservedIn({ at: NOW, line: since }, line, 2, NOW)).toBeUndefined();
    expect(reservedIn({ at: NOW, line: since }, undefined, 1, NOW)).toBeUndefined();
    expect(reservedIn({ at: NOW }, { next: NOW }, 1, NOW)).toBeUndefined();
  });
});

it('a batch reserves further ahead the longer it waits, and wakes before its line ends', () => {
  expect([-1, 0, 600_000].map(reachOf)).toEqual([LEAST_AHEAD, LEAST_AHEAD, (LEAST_AHEAD + MOST_AHEAD) / 2]);
  expect(reachOf(86_400_000)).toBeLessThan(MOST_AHEAD);
  expect(reachOf(3_600_000)).toBeGreaterThan(reachOf(3_500_000));
  expect([0, 1].map(sleepSeconds)).toEqual([45, 60]);
});

it('a moment is reserved again if it passes while its reservation is written', async () => {
  let now = NOW;
  let line: CallLine | undefined;
  const lines: (CallLine | undefined)[] = [];
  const operations = {
    read: async () => ({ inFlight: [], failures: 0, ...(line ? { line } : {}) }),
    reserveCall: async (_: unknown, __: unknown, next: CallLine | undefined) => {
      now += lines.length === 0 ? VOID_AFTER + 1 : 0;
      lines.push(next);
      line = next;
      return true;
    },
  };
  const deps = {
    operations,
    machine: { now: () => now, sleep: async () => {}, random: () => 0 },
  } as unknown as CallDeps;
  const asked = { operation: operationName('ship'), rate: 1, latest: NOW + 60_000 };
  const reserved = await reserveCall(deps, asked, undefined, { timeLeft: () => 20_000 });
  expect(reserved?.at).toBe(NOW + VOID_AFTER + 1);
  expect(lines).toHaveLength(2);
});
