import { runSchedules } from '../src/simulation/schedules.ts';
import { KNOWN_BUGS, withBug } from '../test/simulation/known-bugs/catalogue.ts';

for (const known of KNOWN_BUGS.filter(([name]) =>
  /changed hands|before the lead|early and stumbles|new Targets|redriven members that are not|stands for all/.test(
    name,
  ),
)) {
  const { violations } = await runSchedules(
    1,
    16000,
    (s) => withBug(known, s),
    (r) => !r.violation,
  );
  console.log(known[0], violations[0]?.seed, violations[0]?.message.slice(0, 60));
}
