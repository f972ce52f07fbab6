/** One or several invocations and one HTTP destination, in virtual time. */
import { beforeEach, describe, expect, it } from 'vitest';
import { healthOf, NEW_SHARE, SLOTS } from '../../src/domain/callbacks/share.ts';
import type { FlowEvent } from '../../src/domain/events/events.ts';
import { memoryShares, type ShareRow } from '../../src/memory/callbacks.ts';
import type { Shares } from '../../src/ports/callbacks.ts';
import { NotTaken, TooLarge } from '../../src/ports/callbacks.ts';
import { TimeIsUp } from '../../src/ports/machine.ts';
import { type Addressee, deliverTo, type Outcome } from '../../src/steps/deliver/deliver-to.ts';
import { type Sharing, sharing } from '../../src/steps/deliver/sharing.ts';
import { openGate } from '../../src/virtual/gate.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { NOW, token } from '../factories/factories.ts';

const TIMEOUT = 10_000;
let scheduler: Scheduler;
let row: ShareRow;
let counted: { reads: number; writes: number };
let events: FlowEvent[];
let called: string[];
beforeEach(() => {
  scheduler = new Scheduler(NOW);
  row = new Map();
  counted = { reads: 0, writes: 0 };
  events = [];
  called = [];
});

const counting = (shares: Shares): Shares => ({
  read: (how) => {
    counted.reads += 1;
    return shares.read(how);
  },
  write: (share) => {
    counted.writes += 1;
    return shares.write(share);
  },
});

/** One instance of the function. */
const instance = (name: string, shares: Shares = counting(memoryShares(row, openGate))) => {
  let tokens = 0;
  const machine = {
    now: () => scheduler.now,
    sleep: (span: number) => scheduler.wait(span),
    within: <T>(limit: number, work: () => Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        scheduler.after(limit, () => reject(new TimeIsUp(limit)));
        work().then(resolve, reject);
      }),
    random: () => 0.5,
    token: () => {
      tokens += 1;
      return token(`${name}.${tokens}`);
    },
  };
  const report = (event: FlowEvent) => void events.push(event);
  return { machine, report, sharing: sharing({ machine, report }, shares) as Sharing };
};

/** @param takes milliseconds of a call; without it each call runs into its timeout */
const destination = (takes?: number, answer?: () => void, isAlone = false): Addressee<string> => ({
  name: 'hook',
  timeout: TIMEOUT,
  isAlone,
  deliver: async (event) => {
    called.push(event);
    await scheduler.wait(takes ?? TIMEOUT);
    if (takes === undefined) throw new NotTaken('no answer within 10000 ms', true);
    answer?.();
  },
});

/** Starts work now, and advances time until all of it has ended. */
const run = async <T>(...work: readonly (() => Promise<T>)[]): Promise<T[]> => {
  let done: T[] | undefined;
  scheduler.after(0, async () => {
    done = await Promise.all(work.map((begin) => begin()));
  });
  await scheduler.run(() => done !== undefined, NOW + 3_600_000);
  if (!done) throw new Error('it never ended');
  return done;
};
const pass = async (span: number): Promise<void> => {
  const end = scheduler.now + span;
  scheduler.after(span, () => {});
  await scheduler.run(() => scheduler.now >= end, end);
};
const kinds = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) => (outcome.kind === 'put-off' ? outcome.because : outcome.kind));
const TEN = Array.from({ length: 10 }, (_, n) => `e${n}`);

describe('a fast destination', () => {
  it('costs one read per second, and no write', async () => {
    const one = instance('a');
    for (let n = 0; n < 5; n += 1) {
      const [outcomes = []] = await run(() => deliverTo(one, destination(100), TEN));
      expect(kinds(outcomes)).toEqual(TEN.map(() => 'delivered'));
    }
    expect(counted).toEqual({ reads: 1, writes: 0 });
  });
});

describe('a destination that refuses an event for its size', () => {
  it('counts as answering: its circuit closes', async () => {
    row.set('share', {
      ...NEW_SHARE,
      version: 1,
      destinations: { hook: { failures: 5, openUntil: NOW - 1, opened: 1 } },
    } as never);
    const one = instance('a');
    const refusing = destination(100, () => {
      throw new TooLarge('answered 413');
    });
    await run(() => deliverTo(one, refusing, ['e0']));
    expect(healthOf(await one.sharing.look(), 'hook').openUntil).toBeUndefined();
  });
});

describe('a destination that hangs', () => {
  it('holds a few invocations, and the others for a second at most', async () => {
    const ended: number[] = [];
    const all = Array.from({ length: 10 }, (_, n) => async () => {
      const outcomes = await deliverTo(instance(`i${n}`), destination(), [`e${n}`]);
      ended.push(scheduler.now - NOW);
      return kinds(outcomes)[0];
    });
    const outcomes = await run(...all);
    expect(outcomes.filter((each) => each === 'no-slot')).toHaveLength(10 - SLOTS.each);
    expect(ended.filter((span) => span < 2_000)).toHaveLength(10 - SLOTS.each);
    expect(row.get('share')?.slots).toEqual([]);
  });

  it('is not called by an invocation without a slot', async () => {
    scheduler.after(0, () => {
      for (let n = 0; n < SLOTS.each; n += 1) deliverTo(instance(`i${n}`), destination(), ['e']);
    });
    await pass(2_000);
    called = [];
    const [outcomes = []] = await run(() => deliverTo(instance('late'), destination(), TEN));
    expect([kinds(outcomes), called]).toEqual([TEN.map(() => 'no-slot'), []]);
  });

  it('opens its circuit, is probed with one event, and is called again', async () => {
    await run(() => deliverTo(instance('a'), destination(), TEN));
    const { openUntil = 0 } = healthOf(row.get('share') ?? NEW_SHARE, 'hook');
    expect(events).toContainEqual({ event: 'destination-down', destination: 'hook', failures: 10, until: openUntil });
    called = [];
    const [down = []] = await run(() => deliverTo(instance('b'), destination(5), TEN));
    expect([kinds(down), called]).toEqual([TEN.map(() => 'circuit-open'), []]);
    expect(down[0]).toMatchObject({ closed: openUntil - scheduler.now });
    await pass(openUntil - scheduler.now);
    const [probed = []] = await run(() => deliverTo(instance('c'), destination(5), TEN));
    expect([kinds(probed).filter((each) => each === 'delivered').length, called.length]).toEqual([1, 1]);
    expect(events).toContainEqual({ event: 'destination-up', destination: 'hook' });
    const [again = []] = await run(() => deliverTo(instance('d'), destination(5), TEN));
    expect(kinds(again)).toEqual(TEN.map(() => 'delivered'));
  });

  it('may use the whole function, with a circuit, if it is the only one', async () => {
    const alone = destination(undefined, undefined, true);
    const all = Array.from({ length: 10 }, (_, n) => () => deliverTo(instance(`i${n}`), alone, [`e${n}`]));
    expect((await run(...all)).flatMap(kinds)).toEqual(TEN.map(() => 'failed'));
    expect(events.filter(({ event }) => event === 'destination-down')).toHaveLength(1);
  });
});

describe('a destination that refuses an event', () => {
  it('keeps its circuit closed', async () => {
    const refuses = destination(5, () => {
      throw new NotTaken('answered 400', false);
    });
    for (let n = 0; n < 3; n += 1) await run(() => deliverTo(instance('a'), refuses, TEN));
    expect([called.length, counted.writes]).toEqual([30, 0]);
  });
});

describe('an unreadable row of shared slots', () => {
  const broken: Shares = {
    read: () => Promise.reject(new Error('throttled')),
    write: () => Promise.reject(new Error('throttled')),
  };

  it('delays no event, and is reported', async () => {
    const [quick = []] = await run(() => deliverTo(instance('a', broken), destination(100), TEN));
    const [slow = []] = await run(() => deliverTo(instance('a', broken), destination(5_000), TEN));
    expect([...kinds(quick), ...kinds(slow)]).toEqual([...TEN, ...TEN].map(() => 'delivered'));
    expect(events).toContainEqual({ event: 'share-unknown', cause: 'Error: throttled' });
  });

  it('costs some seconds at most', async () => {
    const never = (): Promise<never> => new Promise(() => {});
    const began = scheduler.now;
    const [outcomes = []] = await run(() =>
      deliverTo(instance('a', { read: never, write: never }), destination(5_000), TEN),
    );
    expect(kinds(outcomes)).toEqual(TEN.map(() => 'delivered'));
    expect(scheduler.now - began).toBeLessThan(15_000);
  });
});
