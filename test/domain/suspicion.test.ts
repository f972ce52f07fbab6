import { describe, expect, it } from 'vitest';
import { callsParts, isAtFault, proofsAgainst } from '../../src/domain/batches/suspicion.ts';
import type { Operation } from '../../src/domain/config/resolved.ts';
import { aConfig, operationName } from '../factories/factories.ts';

const OPERATION = {
  ...(aConfig().operations[operationName('ship')] as Operation),
  circuit: { failures: 5, coolDown: 9 },
};
const failedAt = (recoveries: number, proofs = 0) => ({ suspicion: { recoveries, proofs } });
const now = (recoveries: number, failures = 0) => ({ recoveries, failures });

describe('a batch that failed', () => {
  it('is proven to be at fault by two failures with a later success each', () => {
    expect([proofsAgainst({}, now(3)), proofsAgainst(failedAt(3), now(3)), proofsAgainst(failedAt(3), now(4))]).toEqual(
      [0, 0, 1],
    );
    expect([isAtFault(failedAt(3), now(4)), isAtFault(failedAt(3, 1), now(4))]).toEqual([false, true]);
    // No call has succeeded since the last failure: this may be an outage.
    expect(isAtFault(failedAt(4, 2), now(4))).toBe(false);
  });

  it.each([
    ['if no other call shows whether the downstream works', failedAt(3), now(3), true],
    ['not after one proof, as an outage may have ended', failedAt(3), now(4), false],
    ['after two proofs', failedAt(3, 1), now(4), true],
    ['not in a half-open circuit', failedAt(3), now(3, 5), false],
    ['not before it failed', {}, now(3), false],
  ])('is called in parts %s', (_, batch, state, expected) => {
    expect(callsParts(batch, 20, OPERATION, state)).toBe(expected);
    expect(callsParts(batch, 1, OPERATION, state), 'one task').toBe(false);
    const whole = { ...OPERATION, retry: { ...OPERATION.retry, isolate: false } };
    expect(callsParts(batch, 20, whole, state), 'turned off').toBe(false);
  });

  it('stays in parts until it ends, also while the circuit is half-open', () => {
    expect(callsParts({ ...failedAt(3), parts: [1] }, 1, OPERATION, now(4, 5))).toBe(true);
  });
});
