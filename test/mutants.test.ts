import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MUTANTS } from '../bench/mutants/list.ts';

const ROOT = join(import.meta.dirname, '..');

it("each mutant's code exists once, and its tests exist", () => {
  const lost = MUTANTS.flatMap(({ file, find, put, noticedBy }) => [
    ...(readFileSync(join(ROOT, file), 'utf8').split(find).length === 2 ? [] : [`${file}: ${find}`]),
    ...(find === put ? [`${file}: ${find} stays as it is`] : []),
    ...noticedBy.filter((test) => !existsSync(join(ROOT, test))),
  ]);
  expect(lost).toEqual([]);
  expect(MUTANTS.length).toBeGreaterThan(100);
});
