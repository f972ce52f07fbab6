/** Makes a schedule that breaks a promise as small as possible, so that a person can follow it. */
import fc from 'fast-check';
import type { Scenario } from './scenario.ts';
import { runSchedule } from './schedule.ts';

interface Effort {
  /**
   * The number of seeds with which a smaller schedule is run before it counts as one that keeps its promises. A smaller
   * schedule draws other random numbers than the larger one.
   */
  readonly chances: number;
  /** The most schedules to run. This is a number and not a time, so that the result is reproducible. */
  readonly runs: number;
}

/**
 * The first pass removes what can be removed with few seeds. The second pass starts from a small schedule and tries
 * many seeds.
 */
const EFFORTS: readonly Effort[] = [
  { chances: 1, runs: 800 },
  { chances: 20, runs: 4_000 },
];

/** The promise in a message, without the subject that the message names. */
export const promiseOf = (message: string): string => message.split(':', 1)[0] as string;

/**
 * The smallest scenario found that breaks the same promise. It has fewer messages, flushes, cancels, pauses, changes of
 * the configuration, redrives, purges and faults, exact clocks, and no patrol. The result is reproducible. A scenario
 * that breaks no promise is returned unchanged.
 */
export const shrink = async (scenario: Scenario): Promise<Scenario> => {
  const { violation, happened } = await runSchedule(scenario);
  if (!violation) return scenario;
  let smallest: Scenario = { ...scenario, script: happened };
  for (const effort of EFFORTS) smallest = await smaller(smallest, promiseOf(violation.message), effort);
  return smallest;
};

/** The lists from which elements are removed. */
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
