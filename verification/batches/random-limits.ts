/** Random limits for schedules, drawn from a random stream of their own, so that they change nothing else. */
import type { Config, Operation } from '../../src/domain/config/resolved.ts';
import type { LimitName, Millis } from '../../src/domain/ids.ts';
import { MINUTE, SECOND } from '../../src/domain/timings.ts';
import { type Random, seeded } from '../../src/virtual/random.ts';
import type { ConfigChange } from './configurations.ts';

type Limit = Config['limits'][LimitName];

/** The names of the limits, in the order in which they are taken. */
const NAMES = ['account', 'vendor'] as LimitName[];

export interface RandomLimits {
  readonly limits: Config['limits'];
  /** The limits that an operation names. */
  readonly named: () => Pick<Operation, 'limits'>;
  readonly changes: readonly ConfigChange[];
}

/**
 * One or two limits, which change in some schedules. Most schedules have none.
 *
 * @param share of the schedules that have limits.
 * @param calls how many calls a second are common.
 */
export const randomLimits = (seed: number, share: number, span: Millis, calls: readonly number[]): RandomLimits => {
  const random = seeded(seed ^ 0x1137);
  if (!random.chance(share)) return { limits: {}, named: () => ({ limits: [] }), changes: [] };
  const names = random.chance(0.7) ? [random.pick(NAMES)] : NAMES;
  const limits = (): Config['limits'] => Object.fromEntries(names.map((name) => [name, limit(random, calls)]));
  const changes = random.chance(0.3)
    ? Array.from({ length: random.int(1, 2) }, () => ({ at: random.int(0, span + MINUTE), to: {}, limits: limits() }))
    : [];
  return {
    limits: limits(),
    named: () => ({ limits: names.filter(() => random.chance(0.8)) }),
    changes,
  };
};

const limit = (random: Random, rates: readonly number[]): Limit => {
  const per = random.pick([SECOND, 10 * SECOND, MINUTE]);
  const calls = Math.max(1, Math.floor((random.pick(rates) * per) / SECOND));
  const kind = random.pick(['calls', 'calls', 'weight', 'concurrency'] as const);
  return {
    calls: kind === 'calls' ? calls : null,
    weight: kind === 'weight' ? 10 * calls : null,
    per,
    burst: kind === 'calls' ? random.pick([1, 1, Math.ceil(calls / 2), calls]) : 1,
    key: random.pick([null, null, ['depot'], 'target']),
    concurrency: {
      calls: kind === 'concurrency' || random.chance(0.2) ? random.int(1, 3) : null,
      weight: random.chance(0.1) ? random.int(10, 30) : null,
    },
  };
};
