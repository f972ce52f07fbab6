import { describe, expect, it } from 'vitest';
import { BATCHES } from '../../verification/batches/kind.ts';
import { runSchedules } from '../../verification/harness/schedules.ts';
import { KNOWN_BUGS, withBug } from '../../verification/known-bugs/catalogue.ts';

/**
 * Where the search for the rarer bugs begins: at the first schedule that showed them when this was written, since those
 * before it only take time. Where a change of the scenarios makes that another one, the search goes on from here.
 */
const BEGINS: Readonly<Record<string, number>> = {
  'reports that count for all': 535,
  'forgotten Targets that are taken for others': 200,
  'flushes that are overlooked': 162,
  'payloads that expire for a run that is over': 106,
  'halves that are forgotten': 92,
  'batches that are formed of whatever waits': 87,
  'a guard that is early and stumbles': 86,
  'results that were lost and count': 69,
  'tasks that are batched though they expired': 46,
  'batches that leave late': 40,
  "redrives that overlook a task's run": 34,
  'redriven members that are not counted': 31,
  'a last claim that stands for all': 142,
  'slots of dead leaders that stay taken': 37,
  'calls that overlook a pause': 20,
  'batches with candidates that they could not claim': 15,
  'busy Targets that go first': 6,
  'full batches that came while the lock changed hands': 20,
  'hints that leave a freed lock alone': 17,
  "claims that overlook a task's run": 15,
  'rows that go before their wake': 15,
  'a throttled claim that is counted as refused': 15,
  'a message that is dropped because another one has its id': 15,
  'batches that are closed early': 14,
  'ids that are used again with the runs of the task before': 11,
  'glances that are believed at every attempt': 10,
  'early guards that multiply': 10,
  'rows that go though their Target is back': 29,
  'calls that come too often and use tries up': 9,
  'held messages that are noted before they are sent': 9,
  'locks that are read at a glance': 7,
  'a leader whose reads are behind': 7,
  'rows that go before the lead': 6,
  'an open batch that is cleared before it is stored': 6,
  'acks that are forgotten after a crash': 6,
  'a release without a second look': 5,
  'paused Targets that keep their slots': 5,
  'a start that is repeated and not recognised': 3,
};

describe('the checker', () => {
  it.each(KNOWN_BUGS.map((known) => ({ name: known[0], known })))('finds $name', async ({ known }) => {
    const [name, , promise] = known;
    const { violations } = await runSchedules(
      BATCHES,
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
