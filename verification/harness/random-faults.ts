/** Random fault rates of a scenario, from its seed. */
import type { FaultRates } from '../../src/virtual/faults.ts';
import { type Random, seeded } from '../../src/virtual/random.ts';

/**
 * In every third schedule, clients give up on requests that take effect later. In another third, requests hang. In
 * every second schedule, transactions conflict.
 */
export const moreFaults = (seed: number): Pick<FaultRates, 'afterwards' | 'conflict' | 'hang'> => {
  const random = seeded(seed ^ 0x61fe);
  const hanging = seeded(seed ^ 0x4a96);
  return {
    hang: hanging.chance(1 / 3) ? hanging.next() * 0.03 : 0,
    afterwards: random.chance(1 / 3) ? random.next() * 0.05 : 0,
    conflict: random.chance(0.5) ? random.next() * 0.3 : 0,
  };
};

/** Each kind of fault is absent in a third of the scenarios, so that all combinations occur. */
export const faults = (random: Random): FaultRates => {
  const rate = (most: number): number => (random.chance(1 / 3) ? 0 : random.next() * most);
  return {
    crash: rate(0.05),
    pause: rate(0.02),
    throttle: rate(0.05),
    partial: rate(0.05),
    lostReply: rate(0.05),
    repeat: rate(0.05),
    duplicate: rate(0.2),
    late: rate(0.03),
    undeleted: rate(0.1),
    overtaken: rate(0.3),
    afterwards: 0,
    hang: 0,
    conflict: 0,
    skew: random.pick([0, 0, 1_000, 30_000]),
  };
};
