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
import { seeded, seedOf } from '../../../src/virtual/random.ts';
import { Scheduler } from '../../../src/virtual/scheduler.ts';
import { START } from '../../../src/virtual/trace.ts';
import { Ledger } from '../../../verification/fleets/ledger.ts';
import { SimulatedProcess } from '../../../verification/fleets/process.ts';
import type { FleetOutcome, FleetScenario, Incident, SimulatedNode } from '../../../verification/fleets/scenario.ts';
import { Channel } from './channel.ts';
import type { RaceSpans } from './race-spans.ts';
import { RaceStore } from './race-store.ts';
import { type RaceNotice, Racer } from './racer.ts';
import { PlainWork } from './work.ts';

/** Runs a scenario until its end. The same scenario and time spans give the same outcome. */
export const runRaces = (scenario: FleetScenario, spans: RaceSpans): Promise<FleetOutcome> =>
  new Races(scenario, spans).run();

class Races {
  readonly #scenario: FleetScenario;
  readonly #spans: RaceSpans;
  readonly #scheduler = new Scheduler(START);
  readonly #ledger: Ledger;
  readonly #store = new RaceStore();
  readonly #channel: Channel<RaceNotice>;
  readonly #partitions: readonly string[];
  readonly #there = new Set<string>();
  readonly #failures: unknown[] = [];
  #wrongCheckpoints = 0;

  constructor(scenario: FleetScenario, spans: RaceSpans) {
    this.#scenario = scenario;
    this.#spans = spans;
    this.#ledger = new Ledger(scenario);
    const random = seeded(seedOf(scenario.seed, 'channel'));
    this.#channel = new Channel(this.#scheduler, random, scenario.lostNotifications, true);
    this.#partitions = Array.from({ length: scenario.partitions }, (_, index) => `${index}`);
  }

  async run(): Promise<FleetOutcome> {
    const { nodes, endsAt } = this.#scenario;
    for (const node of nodes) this.#scheduler.after(node.startsAt, () => this.#start(node));
    await this.#scheduler.run(() => this.#failures.length > 0, START + endsAt);
    if (this.#failures.length > 0) throw new AggregateError(this.#failures, 'the model failed');
    return {
      ...this.#ledger.outcome(this.#isEven()),
      wrongCheckpoints: this.#wrongCheckpoints,
      // There is nothing to violate, because this algorithm makes no promises.
      violations: [],
    };
  }

  #start({ name, startsAt, incidents }: SimulatedNode): void {
    const ledger = this.#ledger;
    const process = new SimulatedProcess(name, this.#scheduler, this.#scenario, (call) => {
      if (call !== 'checkpoint') ledger.wrote(this.#scheduler.now);
    });
    const work = new PlainWork(process, this.#scheduler, ledger, (partition) => {
      const owner = this.#store.allocatedTo(partition);
      if (owner !== undefined && owner !== name && this.#scheduler.now >= START + this.#scenario.measureFrom)
        this.#wrongCheckpoints += 1;
    });
    const [store, channel, partitions, spans] = [this.#store, this.#channel, this.#partitions, this.#spans];
    const host = new Racer({ process, store, channel, partitions, spans, work });
    this.#there.add(name);
    host.run().catch((cause: unknown) => this.#failures.push(cause));
    for (const incident of incidents)
      this.#scheduler.after(incident.at - startsAt, () => this.#happen(process, host, incident));
  }

  #happen(process: SimulatedProcess, host: Racer, incident: Incident): void {
    switch (incident.do) {
      case 'crash':
        process.die();
        this.#channel.unsubscribe(process.name);
        this.#there.delete(process.name);
        break;
      case 'leave':
        host.leave();
        this.#there.delete(process.name);
        break;
      case 'pause':
      case 'block':
        process.pause(incident.span);
        break;
      case 'slow':
        process.slow(incident.times);
        break;
    }
  }

  /** Whether the numbers of partitions of any two running hosts differ by at most one. */
  #isEven(): boolean {
    const counts = new Map([...this.#there].map((name) => [name, 0]));
    for (const partition of this.#partitions) {
      const owner = this.#store.allocatedTo(partition);
      if (owner !== undefined && counts.has(owner)) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values()) - Math.min(...counts.values()) <= 1;
  }
}
