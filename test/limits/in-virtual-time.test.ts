/** The real steps under limits, in virtual time. */
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../src/domain/config/resolved.ts';
import type { LimitName, Millis } from '../../src/domain/ids.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import type { Report } from '../../verification/batches/schedule.ts';
import { type Plan, run } from './limited.ts';

const names = (...all: string[]): readonly LimitName[] => all as LimitName[];
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);
const startsOf = ({ log }: Report, which: (target: string, operation: string) => boolean = () => true): Millis[] =>
  log.calls
    .filter(({ call }) => which(call.target, call.operation))
    .map(({ at }) => at)
    .toSorted((a, b) => a - b);
/** Calls a second, from the first call to the last one. */
const rateOf = (starts: readonly Millis[]): number =>
  ((starts.length - 1) * 1_000) / ((starts.at(-1) ?? 0) - (starts[0] ?? 0));
/** Writes of buckets, and rows that were put into their queues. */
const writesOf = ({ tables }: Report): number =>
  [...tables.buckets.values()].reduce((sum, { turn }) => sum + turn, 0) +
  [...tables.waitingCalls.values()].reduce((sum, { size }) => sum + size, 0);
const weighed = (maxWeight: number): Operation['batch'] => ({
  maxSize: 10,
  maxBytes: 1_000_000,
  maxWeight,
  maxWait: 1_000,
  quietPeriod: 0,
  minSize: 1,
  window: null,
  bypass: null,
});

describe('calls under limits', () => {
  it('of thirty Targets keep its pace, at 1.3 writes each', async () => {
    const report = await run({
      limits: { v: { calls: 1 } },
      operations: { a: { limits: names('v') } },
      tasks: numbers(240).map((n) => ({ at: n * 100, operation: 'a', depot: `d${n % 30}` })),
    });
    const starts = startsOf(report);
    expect(rateOf(starts)).toBeCloseTo(0.99, 2);
    expect(writesOf(report) / starts.length).toBeLessThan(1.4);
  });

  it('of two operations keep its pace together', async () => {
    const report = await run({
      limits: { v: { calls: 3 } },
      operations: { a: { limits: names('v') }, b: { limits: names('v') } },
      tasks: numbers(200).map((n) => ({ at: n * 50, operation: n % 2 ? 'a' : 'b', depot: `d${n % 20}` })),
    });
    const starts = startsOf(report);
    expect(rateOf(starts)).toBeGreaterThan(2.7);
    expect(rateOf(starts)).toBeLessThanOrEqual(3);
    for (const name of ['a', 'b'])
      expect(startsOf(report, (_, of) => of === name).length).toBeGreaterThan(starts.length / 3);
  });

  it('with a key keep the pace of each value, at one write each', async () => {
    const report = await run({
      limits: { v: { calls: 1, key: ['depot'] } },
      operations: { a: { limits: names('v') } },
      tasks: numbers(300).map((n) => ({ at: 0, operation: 'a', depot: `d${n % 5}` })),
    });
    for (const depot of numbers(5)) {
      const starts = startsOf(report, (target) => target.endsWith(`d${depot}`));
      expect(starts).toHaveLength(6);
      expect(rateOf(starts)).toBeCloseTo(0.99, 1);
    }
    expect(writesOf(report)).toBe(30);
  });

  it('by weight stay within it in any span', async () => {
    const weights = numbers(80).map((n) => 1 + (n % 30));
    const report = await run({
      limits: { v: { weight: 100, per: 10_000 } },
      operations: { a: { limits: names('v'), batch: weighed(60) } },
      tasks: weights.map((weight, n) => ({ at: n * 100, operation: 'a', depot: `d${n % 8}`, weight })),
    });
    const calls = report.log.calls.map(({ at, call }) => ({
      at,
      weight: call.items.reduce((sum, { id }) => sum + (weights[Number(id.slice(1))] as number), 0),
    }));
    for (const { at } of calls) {
      const within = calls.filter((each) => each.at >= at && each.at < at + 10_000);
      expect(within.reduce((sum, { weight }) => sum + weight, 0)).toBeLessThanOrEqual(100);
    }
  });

  it('are never more at once than it allows', async () => {
    const report = await run({
      limits: { v: { concurrency: { calls: 3, weight: null } } },
      operations: { a: { limits: names('v') } },
      tasks: numbers(150).map((n) => ({ at: n * 20, operation: 'a', depot: `d${n % 25}` })),
    });
    for (const { at } of report.log.calls) {
      const running = report.log.calls.filter((each) => each.at <= at && (each.answered?.at ?? 0) > at);
      expect(running.length).toBeLessThanOrEqual(3);
    }
    expect([...report.tables.buckets.values()].map(({ leases }) => leases)).toEqual([[]]);
  });

  it('under two limits keep both, and starve no operation', async () => {
    const report = await run({
      limits: { account: { calls: 2, key: ['depot'] }, vendor: { calls: 3 } },
      operations: { a: { limits: names('account', 'vendor') }, b: { limits: names('vendor') } },
      tasks: numbers(150).map((n) => ({ at: n * 50, operation: n % 3 ? 'a' : 'b', depot: `d${n % 15}` })),
    });
    const starts = startsOf(report);
    expect(rateOf(starts)).toBeGreaterThan(2.4);
    expect(rateOf(starts)).toBeLessThanOrEqual(3);
  });

  it('keep them though functions die, pause, and have wrong clocks', async () => {
    const faults = {
      ...NO_FAULTS,
      crash: 0.002,
      pause: 0.001,
      throttle: 0.002,
      lostReply: 0.002,
      repeat: 0.003,
      duplicate: 0.01,
      late: 0.003,
      undeleted: 0.01,
      overtaken: 0.02,
      afterwards: 0.001,
      hang: 0.001,
      skew: 15_000,
    };
    for (const seed of [1, 2, 3, 4]) {
      const plan: Plan = {
        seed,
        faults,
        limits: {
          account: { calls: 1, key: ['depot'], concurrency: { calls: 2, weight: null } },
          vendor: { calls: 2 },
        },
        operations: {
          a: { limits: seed % 2 ? names('vendor') : names('account', 'vendor') },
          b: { limits: names('vendor') },
        },
        tasks: numbers(100).map((n) => ({ at: n * 100, operation: n % 3 ? 'a' : 'b', depot: `d${n % 12}` })),
      };
      // The schedule itself checks that calls stay within their limits, and that all tasks end.
      expect((await run(plan)).calls).toBeGreaterThan(10);
    }
  });
});
