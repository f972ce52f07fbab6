/**
 * The published algorithm for sharing partitions ("distributed load balancing of batch processing", 2015), under the
 * virtual clock. It runs on the same simulated processes as Groupage, whose timers, threads and calls are late and fail
 * in the same way.
 *
 * There is no renewal: each partition is raced for once in each normal lease. In a race, each host waits for its number
 * of partitions times a delay, its owner a little less, and the first to set an entry of the store wins. A winner that
 * is not the owner starts when the owner has stopped, or after a maximum time.
 *
 * Its author says that it fails in practice: nodes under load answer too slowly to keep their leases. It is written from
 * a description; open points are decided in its favour:
 * - Messages take 20 to 100 ms, cost nothing, and are not lost unless the scenario says so.
 * - The store never loses data, and compares before it deletes, so that a host deletes only its own entries.
 * - A host whose call in a race fails goes on as if there had been no race.
 * - A leaving host opens a race for each of its partitions at once.
 * - The first races are spread over a normal lease, so that races seldom coincide (`race-spans.ts`).
 * - The work on partitions runs beside all that and does not delay it.
 *
 * Each write to the store counts as a write unit, also if it changes nothing.
 */
import type { FleetOutcome, FleetScenario } from '../../../verification/fleets/scenario.ts';
import { runModel } from './model.ts';
import type { RaceSpans } from './race-spans.ts';
import { RaceStore } from './race-store.ts';
import { type RaceNotice, Racer } from './racer.ts';

/** Runs a scenario until its end. The same scenario and time spans give the same outcome. */
export const runRaces = (scenario: FleetScenario, spans: RaceSpans): Promise<FleetOutcome> =>
  runModel<RaceNotice>(scenario, () => {
    const store = new RaceStore();
    return {
      hostOf: (parts) => new Racer({ ...parts, store, spans }),
      ownerOf: (partition) => store.allocatedTo(partition),
      echoes: true,
    };
  });
