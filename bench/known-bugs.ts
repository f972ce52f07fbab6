/**
 * `npm run bench:known-bugs -- --runs N --seed S`: each bug that was once made is put back, and runs over the same
 * schedules: in how many of them the checker finds it. What a checker does not find with its bugs in, it cannot promise.
 */
import { parseArgs } from 'node:util';
import { runSchedules } from '../src/simulation/schedules.ts';
import { promiseOf } from '../src/simulation/shrink.ts';
import { whole } from '../src/simulation/whole.ts';
import type { Scenario } from '../src/simulation/world.ts';
import { KNOWN_BUGS, withBug } from '../test/simulation/known-bugs/catalogue.ts';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
});
const [runs, seed] = [whole('runs', values.runs, 1), whole('seed', values.seed, 0)];

const row = async (name: string, change: (scenario: Scenario) => Scenario): Promise<void> => {
  const { violations } = await runSchedules(seed, runs, change);
  const [first] = violations;
  const promises = new Map<string, number>();
  for (const { message } of violations) promises.set(promiseOf(message), (promises.get(promiseOf(message)) ?? 0) + 1);
  const [most] = [...promises].toSorted(([, a], [, b]) => b - a);
  const share = `${((100 * violations.length) / runs).toFixed(violations.length > 0 ? 1 : 0)}%`;
  console.log(`| ${[name, violations.length, share, first?.seed ?? '', most?.[0] ?? ''].join(' | ')} |`);
};

console.log(`${runs} schedules from seed ${seed}\n`);
console.log(
  '|  | schedules that break a promise |  | first seed | the promise, most often |\n| --- | --: | --: | --: | --- |',
);
await row('Groupage', (scenario) => scenario);
for (const known of KNOWN_BUGS) await row(known[0], (scenario) => withBug(known, scenario));
