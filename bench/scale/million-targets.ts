/**
 * A hundred million tasks a day for a million Targets: each Target gets a task about every quarter of an hour.
 *
 * Simulating a day of all Targets would take hours, so there are two simulations. The cost of a Target depends only on
 * its own tasks, so a sample of one Target in 1,000 or more, over hours or days, gives the cost of all Targets. The
 * load on shared rows depends on all Targets, so some seconds of all Targets measure that load when each Target is new.
 */
import type { Millis } from '../../src/domain/ids.ts';
import { seeded } from '../../src/virtual/random.ts';
import { dollars, perMillion } from './bill.ts';
import { number, span, table } from './table.ts';
import { type OperationInput, only, type Tried, tryOut, WARM } from './trial.ts';

const A_DAY = 100_000_000;
const TARGETS = 1_000_000;
const SECONDS_OF_DAY = 86_400;
/** The number of tasks a second. */
const RATE = A_DAY / SECONDS_OF_DAY;

/**
 * Tasks at random times, evenly distributed over the Targets.
 * @param rate the number of tasks a second of all Targets together
 */
function* arrivals(rate: number, targets: number, seconds: number) {
  const random = seeded(1);
  const pause = 1_000 / rate;
  for (let [at, n]: [Millis, number] = [0, 0]; at < seconds * 1_000; at += -Math.log(1 - random.next()) * pause, n += 1)
    yield { at, operation: 'ship', payload: `{"depot":"D${random.int(0, targets - 1)}","n":${n}}` };
}

type Batch = NonNullable<OperationInput['batch']>;

/** Simulates a sample of one Target in `oneOf`. */
export const trySample = (batch: Batch, oneOf: number, seconds: number): Promise<Tried> =>
  tryOut({ operations: { ship: { batch } }, arrivals: arrivals(RATE / oneOf, TARGETS / oneOf, seconds) });

/** Simulates all Targets. */
export const tryAll = (operations: number, seconds: number): Promise<Tried> => {
  const names = Array.from({ length: operations }, (_, n) => `ship-${n + 1}`);
  function* shared() {
    let n = 0;
    for (const each of arrivals(RATE, TARGETS, seconds))
      yield { ...each, operation: names[n++ % names.length] as string };
  }
  return tryOut({
    operations: Object.fromEntries(names.map((name) => [name, {}])),
    surroundings: WARM,
    arrivals: shared(),
  });
};

/** Each sample lasts several times `maxWait`, and has enough tasks for a reliable figure. */
const WAITS = [
  { maxWait: '1s', oneOf: 1_000, hours: 0.5 },
  { maxWait: '5m', oneOf: 1_000, hours: 0.5 },
  { maxWait: '1h', oneOf: 5_000, hours: 6 },
  { maxWait: '6h', oneOf: 10_000, hours: 24 },
  { maxWait: '1d', oneOf: 20_000, hours: 60 },
] as const satisfies readonly { maxWait: `${number}${'s' | 'm' | 'h' | 'd'}`; oneOf: number; hours: number }[];

const byWait = async (): Promise<string> => {
  const rows: string[][] = [];
  for (const { maxWait, oneOf, hours } of WAITS) {
    const tried = await trySample({ maxWait }, oneOf, hours * 3_600);
    const { sizes, waits, calls } = only(tried);
    const { usage, tasks } = tried;
    rows.push([
      `\`"${maxWait}"\``,
      number(sizes.mean),
      span(waits.p50),
      number((calls / tasks) * RATE),
      (usage.writeUnits / tasks).toFixed(1),
      dollars(perMillion(tried)),
    ]);
  }
  return table(
    [
      '`maxWait`',
      'tasks per batch',
      'wait p50',
      'calls per second',
      'write units per task',
      'price of a million tasks',
    ],
    rows,
  );
};

const SECONDS = 10;

const shared = async (): Promise<string> => {
  const rows: string[][] = [];
  for (const operations of [1, 2]) {
    const tried = await tryAll(operations, SECONDS);
    const { partitions } = tried;
    const written = partitions.hottest();
    const wasRead = partitions.hottest('wasRead');
    rows.push([
      String(operations),
      span(Math.max(...tried.operations.map(({ late }) => late.p99))),
      number((written.units * 1_000) / tried.span),
      number((wasRead.units * 1_000) / tried.span),
      number(partitions.throttled),
    ]);
  }
  return table(
    [
      'operations',
      'p99 lateness',
      'write units per second, Target index',
      'read units per second, operation row',
      'throttled requests',
    ],
    rows,
  );
};

export const tellMillionTargets = async (): Promise<string> => `${await byWait()}\n\n${await shared()}`;
