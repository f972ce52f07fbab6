import { describe, expect, it } from 'vitest';
import { Chaos, type FaultPoint } from '../../src/virtual/chaos.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';

/** The lengths that ten fault points of one process draw, with the scripted faults alone. */
const drawn = (script: readonly FaultPoint[]): (number | undefined)[] => {
  const chaos = new Chaos(new Scheduler(0), { seed: 1, rates: NO_FAULTS, faultsEnd: 1, script }, () => {});
  return Array.from({ length: 10 }, () => chaos.fault('pause', 'group-λ4')?.int(20_000, 200_000));
};

describe('a fault', () => {
  it('has the same length if earlier faults are left out', () => {
    const both = drawn(['group-λ4:3 pause', 'group-λ4:7 pause']);
    expect(both.filter((pause) => pause !== undefined).length).toBe(2);
    expect(drawn(['group-λ4:7 pause'])[6]).toBe(both[6]);
    expect(both[2]).not.toBe(both[6]);
  });
});
