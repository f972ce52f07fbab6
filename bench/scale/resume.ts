/**
 * Thousands of Targets wait for a circuit to close. This part measures the time until all of them are called, and the
 * load on the operation's key.
 */
import type { Millis } from '../../src/domain/ids.ts';
import { START } from '../../src/virtual/trace.ts';
import { QUICK } from '../../tools/simulate/downstream.ts';
import { number, span, table } from './table.ts';
import { steady, type Tried, tryOut } from './trial.ts';

/** The number of tasks a second while the circuit is open. Each task is for a different Target. */
const RATE = 100;
/** The number of failed calls that open the circuit. */
const FAILURES = 5;

export interface Resumed extends Tried {
  /** The time from the call that closes the circuit to the first call of the last waiting Target, in ms. */
  readonly took: Millis;
  /** The number of successful calls in the busiest second. */
  readonly calls: number;
}

export const tryResume = async (targets: number): Promise<Resumed> => {
  const seconds = Math.ceil(targets / RATE);
  const down = { from: 0, until: (seconds + 20) * 1_000 };
  const done: Millis[] = [];
  const tried = await tryOut({
    operations: {
      ship: { batch: { maxWait: '1s' }, circuit: { failures: FAILURES, coolDown: `${seconds + 60}s` } },
    },
    downstream: { ...QUICK, down },
    arrivals: steady({ rate: RATE, seconds }, (n) => n),
    onCall: ({ answered }, now) => {
      if (answered === 'done') done.push(now - START);
    },
  });
  const perSecond = Map.groupBy(done, (at) => Math.floor(at / 1_000));
  const calls = Math.max(...[...perSecond.values()].map((all) => all.length));
  return { ...tried, took: (done.at(-1) ?? 0) - (done[0] ?? 0), calls };
};

const TRIED: readonly number[] = [1_000, 5_000, 20_000];

export const tellResume = async (): Promise<string> => {
  const rows: string[][] = [];
  for (const targets of TRIED) {
    const { took, calls, partitions } = await tryResume(targets);
    const { units } = partitions.busiest();
    rows.push([number(targets), span(took), number(calls), number(units)]);
  }
  return table(
    ['waiting Targets', 'all called after', 'peak calls per second', 'write units per second, busiest key'],
    rows,
  );
};
