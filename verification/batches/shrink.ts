/** Makes a schedule that breaks a promise as small as it gets, so that a person can follow it. */
import fc from 'fast-check';
import type { Scenario } from './scenario.ts';
import { runSchedule } from './schedule.ts';

interface Effort {
  /** A smaller schedule goes otherwise: with so many chances it is tried before it counts as one that holds. */
  readonly chances: number;
  /** Schedules run at the most: a number, and no time, so that the same comes out each time. */
  readonly runs: number;
}

/** First what goes at once, then, with a schedule that is small already, what takes luck. */
const EFFORTS: readonly Effort[] = [
  { chances: 1, runs: 800 },
  { chances: 20, runs: 4_000 },
];

/** What a promise says, without whom it was broken to. */
export const promiseOf = (message: string): string => message.split(':', 1)[0] as string;

/**
 * The smallest scenario found that breaks the same promise: fewer messages, flushes, cancels, pauses, changes of the
 * configuration, redrives, purges and
 * faults, clocks that are right, and no patrol. The same scenario in, the same out; one that breaks none stays as it is.
 */
export const shrink = async (scenario: Scenario): Promise<Scenario> => {
  const { violation, happened } = await runSchedule(scenario);
  if (!violation) return scenario;
  let smallest: Scenario = { ...scenario, script: happened };
  for (const effort of EFFORTS) smallest = await smaller(smallest, promiseOf(violation.message), effort);
  return smallest;
};

/** Of these some are left out. */
const LISTS = ['sends', 'script', 'redrives', 'flushes', 'cancels', 'pauses', 'changes', 'purges'] as const;

const smaller = async (scenario: Scenario, broken: string, { chances, runs }: Effort): Promise<Scenario> => {
  const { seed, patrol, faults } = scenario;
  let [smallest, left] = [scenario, runs];
  const keepsIt = async (part: Scenario): Promise<boolean> => {
    for (let chance = 0; chance < chances && left > 0; chance += 1, left -= 1) {
      const tried = { ...part, seed: seed + chance };
      const { violation } = await runSchedule(tried);
      if (violation === undefined || promiseOf(violation.message) !== broken) continue;
      smallest = tried;
      return false;
    }
    return true;
  };
  const lists = LISTS.map((name) => [name, [...(scenario[name] ?? [])] as unknown[]] as const);
  const parts = fc.record({
    ...Object.fromEntries(lists.map(([name, all]) => [name, fc.subarray(all)])),
    patrol: fc.constantFrom(false, patrol),
    skew: fc.constantFrom(0, faults.skew),
  });
  const property = fc.asyncProperty(parts, ({ skew, ...fewer }) =>
    keepsIt({ ...scenario, ...fewer, faults: { ...faults, skew } }),
  );
  const whole = { ...Object.fromEntries(lists), patrol, skew: faults.skew };
  await fc.check(property, { seed, examples: [[whole]], numRuns: 1 });
  return smallest;
};
