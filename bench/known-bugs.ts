/**
 * `npm run bench:known-bugs -- --of tasks|fan-outs|lists --runs N --seed S` puts back each known bug and runs the same
 * schedules with each of them. It prints in how many schedules the judges find the bug. Judges that do not find known
 * bugs cannot be trusted.
 */

import { parseArgs } from 'node:util';
import { BATCHES } from '../verification/batches/kind.ts';
import { promiseOf } from '../verification/batches/shrink.ts';
import { FAN_OUTS } from '../verification/fan-outs/kind.ts';
import { type Figures, runSchedules, type Summary } from '../verification/harness/schedules.ts';
import { wholeNumber } from '../verification/harness/whole-number.ts';
import { withPatch } from '../verification/known-bugs/bug.ts';
import { KNOWN_BUGS, withBug } from '../verification/known-bugs/catalogue.ts';
import { FAN_OUT_BUGS } from '../verification/known-bugs/fan-outs.ts';
import { LIST_BUGS } from '../verification/known-bugs/lists.ts';
import { LISTS } from '../verification/lists/kind.ts';

const { values } = parseArgs({
  options: {
    of: { type: 'string', default: 'tasks' },
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
  },
});
const [runs, seed] = [wholeNumber('runs', values.runs, 1), wholeNumber('seed', values.seed, 0)];

type Found = Pick<Summary<Figures>, 'violations'>;

/** Runs the schedules without a bug, and with each known bug. */
const KINDS: Readonly<Record<string, () => readonly (readonly [name: string, find: () => Promise<Found>])[]>> = {
  tasks: () => [
    ['Groupage', () => runSchedules(BATCHES, seed, runs)],
    ...KNOWN_BUGS.map(
      (known) => [known[0], () => runSchedules(BATCHES, seed, runs, (each) => withBug(known, each))] as const,
    ),
  ],
  'fan-outs': () => [
    ['Groupage', () => runSchedules(FAN_OUTS, seed, runs)],
    ...FAN_OUT_BUGS.map(
      (known) => [known[0], () => runSchedules(FAN_OUTS, seed, runs, (each) => withPatch(known, each))] as const,
    ),
  ],
  lists: () => [
    ['Groupage', () => runSchedules(LISTS, seed, runs)],
    ...LIST_BUGS.map(
      (known) => [known[0], () => runSchedules(LISTS, seed, runs, (each) => withPatch(known, each))] as const,
    ),
  ],
};

const rowOf = (name: string, { violations }: Found): string => {
  const [first] = violations;
  const promises = new Map<string, number>();
  for (const { message } of violations) promises.set(promiseOf(message), (promises.get(promiseOf(message)) ?? 0) + 1);
  const [most] = [...promises].toSorted(([, a], [, b]) => b - a);
  const share = `${((100 * violations.length) / runs).toFixed(violations.length > 0 ? 1 : 0)}%`;
  return `| ${[name, violations.length, share, first?.seed ?? '', most?.[0] ?? ''].join(' | ')} |`;
};

const kind = KINDS[values.of];
if (!kind) {
  console.error(`--of must be one of ${Object.keys(KINDS).join(', ')}, not ${values.of}`);
  process.exit(2);
}
console.log(`${runs} schedules from seed ${seed}\n`);
console.log(
  '|  | schedules that break a promise |  | first seed | the promise, most often |\n| --- | --: | --: | --: | --- |',
);
for (const [name, find] of kind()) console.log(rowOf(name, await find()));
