import { describe, expect, it } from 'vitest';
import { callsParts, failuresAlone, isAtFault, mostInVain, proofsAgainst } from '../../src/domain/batches/suspicion.ts';
import type { Operation } from '../../src/domain/config/resolved.ts';
import { aConfig, id, NOW, operationName } from '../factories/factories.ts';

const OPERATION = {
  ...(aConfig().operations[operationName('ship')] as Operation),
  circuit: { failures: 5, coolDown: 10_000 },
};
const failedAt = (recoveries: number, proofs = 0) => ({ suspicion: { recoveries, proofs } });
const now = (recoveries: number, fields: object = {}) => ({ recoveries, failures: 0, ...fields });

describe('a batch that failed', () => {
  it('is proven to be at fault by two failures with a later success each', () => {
    const proofs = [proofsAgainst({}, now(3)), proofsAgainst(failedAt(3), now(3)), proofsAgainst(failedAt(3), now(4))];
    expect(proofs).toEqual([0, 0, 1]);
    expect([isAtFault(failedAt(3), now(4)), isAtFault(failedAt(3, 1), now(4))]).toEqual([false, true]);
    // No call has succeeded since the last failure: this may be an outage.
    expect(isAtFault(failedAt(4, 2), now(4))).toBe(false);
  });

  it.each([
    ['if no other call shows whether the downstream works', failedAt(3), now(3), true],
    ['also as a test of a half-open circuit', failedAt(3), now(3, { failures: 5 }), true],
    ['not after one proof, as an outage may have ended', failedAt(3), now(4), false],
    ['after two proofs', failedAt(3, 1), now(4), true],
    ['not while the downstream may be overloaded', failedAt(3, 1), now(4, { resumedAt: NOW - 19_999 }), false],
    ['again later', failedAt(3, 1), now(4, { resumedAt: NOW - 20_000 }), true],
    ['not before it failed', {}, now(3), false],
  ])('is called in parts %s', (_, batch, state, expected) => {
    expect(callsParts(batch, 20, OPERATION, state, NOW)).toBe(expected);
    expect(callsParts(batch, 1, OPERATION, state, NOW), 'one task').toBe(false);
    const whole = { ...OPERATION, retry: { ...OPERATION.retry, isolate: false } };
    expect(callsParts(batch, 20, whole, state, NOW), 'turned off').toBe(false);
  });

  it.each([
    ['members have results', { ...failedAt(3), counts: { succeeded: 1, failed: 0 } }, true],
    ['it got further attempts', { suspicion: { recoveries: 3, proofs: 1, isExtended: true } }, true],
    ['neither, as an outage may have ended', failedAt(3), false],
  ])('stays in parts after others succeeded if %s', (_, batch, expected) => {
    expect(callsParts({ ...batch, parts: [1] }, 1, OPERATION, now(4), NOW)).toBe(expected);
  });

  it('counts the failed calls of each task that was alone', () => {
    const open = ['a', 'b', 'c', 'd'].map(id);
    expect([...failuresAlone({ open, parts: [2, 1, 1], partFailures: [0, 3, 0] })]).toEqual([
      ['c', 3],
      ['d', 0],
    ]);
    expect(failuresAlone({}).size).toBe(0);
  });

  it('may fail in parts as often as it takes to find several tasks', () => {
    expect([1, 2, 20, 1_000].map((open) => mostInVain({ maxAttempts: 3 }, open))).toEqual([3, 5, 13, 23]);
  });
});
