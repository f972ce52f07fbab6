/** `rateLimit`: a limit of one operation, in virtual time. Pauses and changes of the rate take effect soon. */
import { describe, expect, it } from 'vitest';
import type { Millis, OperationName } from '../../src/domain/ids.ts';
import { MINUTE, SECOND } from '../../src/domain/timings.ts';
import { START } from '../../src/virtual/trace.ts';
import type { ConfigChange } from '../../verification/batches/configurations.ts';
import type { Scenario } from '../../verification/batches/scenario.ts';
import { run } from './limited.ts';

const LOOK: Millis = MINUTE;

/** Tasks of 60 Targets, one a call, and the moments of their calls in ms from the start. */
const callsUnder = async (
  rateLimit: number,
  tasks: number,
  more: Partial<Scenario> = {},
): Promise<readonly Millis[]> => {
  const { log } = await run({
    limits: {},
    operations: { a: { limits: [], rateLimit, batch: ONE_A_CALL } },
    tasks: Array.from({ length: tasks }, (_, n) => ({ at: n, operation: 'a', depot: `d${n % 60}` })),
    more,
  });
  return log.calls.map(({ at }) => at - START).toSorted((a, b) => a - b);
};

const ONE_A_CALL = {
  maxSize: 1,
  maxBytes: 1_000_000,
  maxWeight: 0,
  maxWait: 0,
  quietPeriod: 0,
  minSize: 1,
  window: null,
  bypass: null,
};

const between = (calls: readonly Millis[], from: Millis, until: Millis): number =>
  calls.filter((at) => at >= from && at < until).length;

const changed = (at: Millis, rateLimit: number | null): { readonly changes: readonly ConfigChange[] } => ({
  changes: [{ at, to: { rateLimit } }],
});

describe('calls under a rate', () => {
  it('are paced: one after another, not more a second than it allows', async () => {
    const calls = await callsUnder(2, 150);
    for (const [index, at] of calls.slice(1).entries()) expect(at - (calls[index] as Millis)).toBeGreaterThan(245);
    // Moments are 1% further apart than the rate allows.
    expect(between(calls, 10 * SECOND, 70 * SECOND)).toBeGreaterThanOrEqual(117);
    expect(between(calls, 10 * SECOND, 70 * SECOND)).toBeLessThanOrEqual(120);
  });

  it('stop at once when the operation is paused, and resume at its end', async () => {
    const pauses = [{ at: MINUTE, lasts: 16 * MINUTE, of: 'a' as OperationName }];
    const calls = await callsUnder(1, 240, { pauses });
    expect(between(calls, 0, MINUTE)).toBeGreaterThanOrEqual(57);
    expect(between(calls, MINUTE + 2 * SECOND, 17 * MINUTE), 'calls during the pause').toBe(0);
    expect(between(calls, 17 * MINUTE, 17 * MINUTE + 6 * SECOND)).toBeGreaterThanOrEqual(2);
    expect(between(calls, 17 * MINUTE, 19 * MINUTE)).toBeGreaterThanOrEqual(115);
  });

  it('are more within two minutes after it is raised', async () => {
    const calls = await callsUnder(0.05, 600, changed(MINUTE, 10));
    expect(between(calls, 0, MINUTE)).toBeLessThanOrEqual(4);
    expect(calls.at(-1)).toBeGreaterThan(MINUTE + 58 * SECOND);
    expect(calls.at(-1)).toBeLessThan(MINUTE + 2 * LOOK + 62 * SECOND);
  });

  it('are more soon after the first call that follows a raise', async () => {
    const calls = await callsUnder(0.2, 600, changed(MINUTE, 10));
    expect(between(calls, 0, MINUTE)).toBeLessThanOrEqual(13);
    expect(between(calls, MINUTE + 4 * SECOND, MINUTE + 24 * SECOND)).toBeGreaterThan(180);
  });

  it('are more within a minute after it is raised, if none is made meanwhile', async () => {
    const calls = await callsUnder(0.002, 60, changed(MINUTE, 10));
    expect(between(calls, 0, MINUTE)).toBeLessThanOrEqual(1);
    expect(calls).toHaveLength(60);
    expect(calls.at(-1)).toBeLessThan(MINUTE + LOOK + 12 * SECOND);
  });

  it('are fewer within two seconds after it is lowered', async () => {
    const calls = await callsUnder(20, 400, changed(10 * SECOND, 1));
    expect(between(calls, 2 * SECOND, 10 * SECOND)).toBeGreaterThanOrEqual(120);
    expect(between(calls, 12 * SECOND, 72 * SECOND)).toBeLessThanOrEqual(61);
    expect(between(calls, 12 * SECOND, 72 * SECOND)).toBeGreaterThanOrEqual(55);
  });

  it('wait no longer within two minutes after it is removed', async () => {
    const calls = await callsUnder(0.05, 200, changed(MINUTE, null));
    expect(calls.at(-1)).toBeLessThan(MINUTE + 2 * LOOK);
  });
});
