import { describe, expect, it } from 'vitest';
import { BATCHES } from '../../verification/batches/kind.ts';
import { runSchedules } from '../../verification/harness/schedules.ts';
import { KNOWN_BUGS, withBug } from '../../verification/known-bugs/catalogue.ts';

/**
 * The seeds at which the search for rarer bugs begins: the first schedules that showed them, to save time. If a change
 * of the scenarios moves a bug to another seed, the search continues from here.
 */
const BEGINS: Readonly<Record<string, number>> = {
  'report counts for tasks of other jobs': 585,
  'patrol searches only 100 rows of the slot queue': 41,
  'flush ignored while the lock changes hands': 390,
  'ended run expires the payload of a later run': 129,
  'reduced call size forgotten': 92,
  'takeover forms a batch with unsettled rows': 87,
  'early guard throws an error': 86,
  'attempt with lost results counts': 69,
  'expired task put into a batch': 46,
  'batch message sent with a delay': 40,
  'redrive ignores the run': 34,
  'redriven member missing in the counts': 31,
  'last claim taken as proof of all claims': 142,
  'sweep frees no slots': 37,
  'call ignores a pause': 20,
  'unclaimed candidate becomes a member': 15,
  'busy Target leads before waiting Targets': 6,
  'no hint for a batch filled while the lock changed hands': 20,
  'hint ignores a released lock': 17,
  'claim ignores the run': 15,
  'queue row deleted before the wake is sent': 15,
  'throttled claim counted as refused': 15,
  'only the first message with an id handled': 15,
  'batch sealed at a quarter of maxBytes': 14,
  'runs of a reused id begin at 1': 11,
  'open members read eventually consistently': 15,
  'early guard sent twice': 10,
  'queue row deleted although its Target waits again': 88,
  'throttled attempt counts': 9,
  'next message stored before it is sent': 9,
  'lock read eventually consistently': 7,
  'waiting rows read eventually consistently': 7,
  'queue row deleted before its Target leads': 6,
  'open batch cleared before it is stored': 6,
  'item not acked after a crash': 15,
  'rows not read again after the release': 5,
  'paused Target keeps its slots': 5,
  'repeated start not recognised': 3,
  'version ignored': 10,
  'redriven dead letter counts as newly sent': 34,
  'no hint for a full batch': 10,
  'attempts not limited by maxAttempts': 9,
  'first report of a job ends its batch': 10,
  'freed slot sends no signal': 16,
  'lowered total ignores further pages': 8,
  'Retry-After ignored': 7,
  'attempt reserves no time': 7,
};

describe('the judge', () => {
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

it('the judge begins its searches for known bugs only', () => {
  expect(KNOWN_BUGS.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(BEGINS)));
});
