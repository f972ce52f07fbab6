import { describe, expect, it } from 'vitest';
import { runSchedules } from '../../src/simulation/schedules.ts';
import { KNOWN_BUGS, withBug } from './known-bugs/catalogue.ts';

/**
 * Where the search for the rarer bugs begins: at the first schedule that showed them when this was written, since those
 * before it only take time. Where a change of the scenarios makes that another one, the search goes on from here.
 */
const BEGINS: Readonly<Record<string, number>> = {
  'full batches that came while the lock changed hands': 2775,
  'rows that go before the lead': 763,
  'a release without a second look': 481,
  'hints that leave a freed lock alone': 747,
  'batches that are formed of whatever waits': 433,
  'room that is not passed on': 366,
  'tasks that wait too long': 194,
  'glances that are believed at every attempt': 221,
  'locks that are read at a glance': 151,
  'runs that end before their calls': 213,
  "claims that overlook a task's run": 124,
  'flushes that are overlooked': 162,
  'redrives that tell nobody': 99,
  'a guard that is early and stumbles': 33,
  'batches that leave late': 40,
};

describe('the checker', () => {
  it.each(KNOWN_BUGS.map((known) => ({ name: known[0], known })))('finds $name', async ({ known }) => {
    const [name, , promise] = known;
    const { violations } = await runSchedules(
      BEGINS[name] ?? 1,
      8_000,
      (scenario) => withBug(known, scenario),
      (report) => !report.violation,
    );
    expect(violations[0]?.message).toMatch(promise);
  });
});

it('the schedules to begin with are those of bugs that are known', () => {
  expect(KNOWN_BUGS.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(BEGINS)));
});
