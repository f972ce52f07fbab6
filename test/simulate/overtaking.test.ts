/**
 * The effect of guards that arrive before the lock's hand-over is written (rule G7) on a sustained load, in virtual
 * time.
 */
import { describe, expect, it } from 'vitest';
import { sustained } from '../../bench/agreement/traces.ts';
import { loadsAt, MAX_SIZE, MAX_WAIT } from '../../bench/sustained/loads.ts';
import type { Outcome } from '../../tools/simulate/outcome.ts';
import { LOCAL, type Platform } from '../../tools/simulate/platform.ts';
import { type SimulateOptions, simulate } from '../../tools/simulate/simulate.ts';
import { earlyGuardDelayed } from '../../verification/known-bugs/leading.ts';
import { configFrom, operationAt } from '../end-to-end/operations.ts';

/** A busy machine: messages arrive at once, while about one request in a hundred takes long. */
const BUSY: Platform = { ...LOCAL, request: { p50: 10, p99: 80 }, delivery: { p50: 3, p99: 30 } };

const config = configFrom({
  operations: {
    ship: operationAt('http://127.0.0.1:1/batch', { batch: { maxSize: MAX_SIZE, maxWait: `${MAX_WAIT}ms` } }),
  },
});

/** A third of the load of 20 Targets: 50 s. */
const skewed = loadsAt(1 / 3).find(({ name }) => name === 'skewed Targets');
const run = (steps: SimulateOptions['steps'] = {}): Promise<Outcome> =>
  simulate({ config, arrivals: skewed ? sustained(skewed).arrivals : [], surroundings: BUSY, steps });
const longest = ({ operations }: Outcome): number | undefined => operations[0]?.waits.max;

describe('a sustained load with early guards', () => {
  it('has no gap, since early guards retry shortly after (G7)', async () => {
    const outcome = await run();
    expect(outcome.operations[0]?.succeeded).toBe(skewed?.sends.length);
    expect(outcome.earlyGuards).toBeGreaterThan(0);
    expect(longest(outcome)).toBeLessThan(MAX_WAIT + 1_000);
  });

  it('has a gap if early guards sleep for the lease', async () => {
    expect(longest(await run(earlyGuardDelayed))).toBeGreaterThan(20_000);
  });
});
