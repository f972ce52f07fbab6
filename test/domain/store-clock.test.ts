import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StoreClock } from '../../src/util/store-clock.ts';
import { NOW } from '../factories/factories.ts';

/** An exchange with the store. All in milliseconds; the request is sent after a pause. */
interface Exchange {
  readonly pause: number;
  readonly there: number;
  readonly back: number;
}

const millis = (max: number) => fc.integer({ min: 0, max });
const anyExchanges = fc.array(fc.record({ pause: millis(5_000), there: millis(2_000), back: millis(2_000) }), {
  minLength: 1,
  maxLength: 60,
});
const anyOffset = fc.integer({ min: -40_000, max: 40_000 });

/** A local clock, and how far the store's clock is ahead of it. */
const machine = (start = NOW) => {
  const clock = new StoreClock();
  let local = start;
  return {
    clock,
    local: () => local,
    /** How far the estimate is ahead of the local clock. */
    ahead: () => clock.now(local) - local,
    exchange: ({ pause, there, back }: Exchange, storeTime: (local: number) => number): void => {
      const sent = local + pause;
      const date = Math.floor(storeTime(sent + there) / 1_000) * 1_000;
      local = sent + there + back;
      clock.note({ sent, received: local, date });
    },
    wait: (by: number): void => {
      local += by;
    },
  };
};

/** Exchanges of 10 ms each, for half a minute, with pauses of 90 ms. */
const halfMinute: readonly Exchange[] = Array.from({ length: 300 }, () => ({ pause: 90, there: 5, back: 5 }));

describe('the estimated time of a store', () => {
  it('is the local time before the first answer', () => {
    const clock = new StoreClock();
    expect(clock.now(NOW)).toBe(NOW);
    expect(clock.error()).toBe(Number.POSITIVE_INFINITY);
  });

  it('is exactly the local time if the local clock is right', () => {
    fc.assert(
      fc.property(anyExchanges, (exchanges) => {
        const { exchange, ahead } = machine();
        const estimates = exchanges.map((each) => {
          exchange(each, (local) => local);
          return ahead();
        });
        expect(new Set(estimates)).toEqual(new Set([0]));
      }),
    );
  });

  it('is wrong by at most the error, and never corrects too much', () => {
    fc.assert(
      fc.property(anyExchanges, anyOffset, (exchanges, offset) => {
        const { clock, exchange, ahead } = machine();
        const wrong = exchanges.filter((each) => {
          exchange(each, (local) => local + offset);
          const isBetween = Math.min(0, offset) <= ahead() && ahead() <= Math.max(0, offset);
          return !isBetween || Math.abs(ahead() - offset) > clock.error();
        });
        expect(wrong).toEqual([]);
      }),
    );
  });

  it('is wrong by at most the error if the local clock drifts', () => {
    const anyDrift = fc.integer({ min: -190, max: 190 });
    fc.assert(
      fc.property(anyExchanges, anyOffset, anyDrift, millis(86_400_000), (exchanges, offset, ppm, gap) => {
        const { clock, exchange, wait, local } = machine();
        const storeTime = (at: number): number => at + offset + (at - NOW) * ppm * 1e-6;
        const miss = (): number => Math.abs(clock.now(local()) - storeTime(local()));
        const wrong = exchanges.filter((each) => {
          exchange(each, storeTime);
          return miss() > clock.error() + 1;
        });
        expect(wrong).toEqual([]);
        const before = clock.error();
        wait(gap);
        expect(miss()).toBeLessThanOrEqual(before + 400e-6 * gap + 1);
        exchange({ pause: 0, there: 20, back: 20 }, storeTime);
        expect(miss()).toBeLessThanOrEqual(clock.error() + 1);
      }),
    );
  });

  it.each([-30_000, -400, 400, 30_000])('corrects a clock that is off by %i ms to within 100 ms', (offset) => {
    const { clock, exchange, ahead } = machine(NOW + 123);
    for (const each of halfMinute) exchange(each, (local) => local + offset);
    expect(clock.error()).toBeLessThanOrEqual(112);
    expect(Math.abs(ahead() - offset)).toBeLessThanOrEqual(100);
  });

  it("is known to a second and a request's time after one answer", () => {
    const clock = new StoreClock();
    clock.note({ sent: NOW, received: NOW + 100, date: NOW + 30_000 });
    expect(clock.now(NOW + 100)).toBe(NOW + 30_000);
    expect(clock.error()).toBeCloseTo(1_100, 0);
    clock.note({ sent: NOW + 200, received: NOW + 250, date: NOW - 30_000 });
    expect(clock.now(NOW + 250)).toBe(NOW + 250 - 29_200);
  });

  it('starts again after the local clock was set', () => {
    fc.assert(
      fc.property(anyOffset, anyOffset, anyExchanges, (before, after, exchanges) => {
        fc.pre(Math.abs(before - after) > 5_000);
        const { clock, exchange, ahead } = machine();
        for (const each of halfMinute) exchange(each, (local) => local + before);
        const wrong = exchanges.filter((each) => {
          exchange(each, (local) => local + after);
          return Math.abs(ahead() - after) > clock.error();
        });
        expect(wrong).toEqual([]);
      }),
    );
  });

  it.each([-30_000, 30_000])('does not jump if its machines disagree (off by %i ms)', (offset) => {
    const { exchange, ahead } = machine(NOW + 123);
    for (const each of halfMinute) exchange(each, (local) => local + offset);
    for (let halves = 0; halves < 4; halves += 1)
      halfMinute.forEach((each, n) => {
        exchange({ ...each, pause: 87 }, (local) => local + offset + (n % 2) * 20);
        expect(Math.abs(ahead() - offset)).toBeLessThanOrEqual(120);
      });
  });

  it('returns to the local time after a long time without answers', () => {
    const { exchange, ahead, wait } = machine();
    exchange({ pause: 0, there: 5, back: 5 }, (local) => local + 2_000);
    expect(ahead()).toBeGreaterThan(1_900);
    wait(3 * 3_600_000);
    expect(ahead()).toBe(0);
  });

  it.each([
    ['no valid date', { sent: NOW, received: NOW + 10, date: Number.NaN }],
    ['an infinite date', { sent: NOW, received: NOW + 10, date: Number.POSITIVE_INFINITY }],
    ['a receipt before its request', { sent: NOW, received: NOW - 1, date: NOW + 30_000 }],
  ])('ignores an answer with %s', (_, answer) => {
    const clock = new StoreClock();
    clock.note(answer);
    expect(clock.error()).toBe(Number.POSITIVE_INFINITY);
    clock.note({ sent: NOW, received: NOW + 10, date: NOW + 5_000 });
    const [estimate, error] = [clock.now(NOW + 10), clock.error()];
    clock.note(answer);
    expect([clock.now(NOW + 10), clock.error()]).toEqual([estimate, error]);
  });
});
