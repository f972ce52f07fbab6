/** Makes a schedule that breaks a promise as small as it gets, so that a person can follow it. */
import fc from 'fast-check';
import { runSchedule, type Scenario } from './world.ts';

/** A smaller schedule goes otherwise: it is tried with this many chances before it counts as one that holds. */
const CHANCES = 25;

/** Virtual time aside, this is how long somebody waits for a smaller one, in milliseconds. */
const PATIENCE = 60_000;

/** What a promise says, without whom it was broken to. */
export const promiseOf = (message: string): string => message.split(':', 1)[0] as string;

/**
 * The smallest scenario found that breaks the same promise: fewer messages, flushes, redrives and faults, and clocks
 * that are right. The same scenario in, the same out.
 */
export const shrink = async (scenario: Scenario): Promise<Scenario> => {
  const report = await runSchedule(scenario);
  if (!report.violation) return scenario;
  const broken = promiseOf(report.violation.message);
  const { sends, flushes, redrives, faults } = scenario;
  const smaller = fc.tuple(
    fc.subarray([...sends]),
    fc.subarray([...flushes]),
    fc.subarray([...redrives]),
    fc.subarray([...report.happened]),
    fc.nat({ max: faults.skew }),
  );
  type Parts = typeof smaller extends fc.Arbitrary<infer Some> ? Some : never;
  const build = ([sends, flushes, redrives, script, skew]: Parts): Scenario => ({
    ...scenario,
    sends,
    flushes,
    redrives,
    script,
    faults: { ...faults, skew },
  });
  let smallest = scenario;
  const keepsIt = fc.asyncProperty(smaller, async (parts) => {
    for (let chance = 0; chance < CHANCES; chance += 1) {
      const tried = { ...build(parts), seed: scenario.seed + chance };
      const { violation } = await runSchedule(tried);
      if (violation === undefined || promiseOf(violation.message) !== broken) continue;
      smallest = tried;
      return false;
    }
    return true;
  });
  await fc.check(keepsIt, {
    seed: scenario.seed,
    examples: [[[[...sends], [...flushes], [...redrives], [...report.happened], faults.skew]]],
    numRuns: 1,
    interruptAfterTimeLimit: PATIENCE,
  });
  return smallest;
};
