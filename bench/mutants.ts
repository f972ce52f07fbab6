/**
 * `npm run mutants -- --of TEXT` makes small wrong changes in a copy of this repository, one at a time. Each change
 * names the tests that must notice it. The script prints the changes that their tests do not notice, and exits with 1
 * if there are any.
 */
import { parseArgs } from 'node:util';
import { copyOfRepository, run, tryMutant } from './mutants/copy.ts';
import { MUTANTS } from './mutants/list.ts';
import type { Mutant } from './mutants/mutant.ts';

const { values } = parseArgs({ options: { of: { type: 'string', default: '' } } });
const chosen = MUTANTS.filter((each) => JSON.stringify(each).includes(values.of));
if (chosen.length === 0) {
  // Without file names vitest would run all tests. Some tests install packages. They would write through the copy's
  // link to the packages of this repository.
  console.error(`no mutant matches "${values.of}"`);
  process.exit(2);
}
const print = ({ file, find, put }: Mutant): string => `${file}\n  - ${find}\n  + ${put}`;

const SAID = { passed: 'SURVIVED', failed: 'noticed', 'no end': 'noticed, since it has no end:' } as const;

const folder = copyOfRepository();
const tests = [...new Set(chosen.flatMap(({ noticedBy }) => noticedBy))];
if ((await run(folder, tests, 'inherit')) !== 'passed') {
  console.error('these tests fail even without a mutant; fix them first');
  process.exit(1);
}
const survivors: Mutant[] = [];
for (const [index, mutant] of chosen.entries()) {
  const verdict = await tryMutant(folder, mutant);
  console.log(`${index + 1}/${chosen.length} ${SAID[verdict]} ${print(mutant)}`);
  if (verdict === 'passed') survivors.push(mutant);
}
const share = Math.round((1_000 * (chosen.length - survivors.length)) / chosen.length) / 10;
console.log(`\n${chosen.length - survivors.length} of ${chosen.length} mutants were noticed (${share}%)`);
for (const mutant of survivors) console.log(`survived: ${print(mutant)}`);
process.exit(survivors.length > 0 ? 1 : 0);
