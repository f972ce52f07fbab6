import { describe, expect, it } from 'vitest';
import { runSchedules } from '../../src/simulation/schedules.ts';
import { KNOWN_BUGS, withBug } from './known-bugs/catalogue.ts';

describe('the checker', () => {
  it.each(KNOWN_BUGS.map((known) => ({ name: known[0], known })))('finds $name', async ({ known }) => {
    const [, , promise] = known;
    const { violations } = await runSchedules(
      1,
      8_000,
      (scenario) => withBug(known, scenario),
      (report) => !report.violation,
    );
    expect(violations[0]?.message).toMatch(promise);
  });
});
