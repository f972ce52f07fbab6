/**
 * A fleet of another algorithm, under the virtual clock: starts its hosts, makes the incidents of the scenario happen,
 * and measures the outcome. The algorithms differ in their store and their host.
 */
import { seeded, seedOf } from '../../../src/virtual/random.ts';
import { Scheduler } from '../../../src/virtual/scheduler.ts';
import { START } from '../../../src/virtual/trace.ts';
import { Ledger } from '../../../verification/fleets/ledger.ts';
import { SimulatedProcess } from '../../../verification/fleets/process.ts';
import type { FleetOutcome, FleetScenario, Incident, SimulatedNode } from '../../../verification/fleets/scenario.ts';
import { Channel } from './channel.ts';
import { PlainWork } from './work.ts';

interface ModelledHost {
  run(): Promise<void>;
  leave(): void;
}

/** What each host of a fleet has. */
interface HostParts<Notice> {
  readonly process: SimulatedProcess;
  readonly channel: Channel<Notice>;
  readonly partitions: readonly string[];
  readonly work: PlainWork;
}

/** How an algorithm differs from others. */
export interface Algorithm<Notice> {
  readonly hostOf: (parts: HostParts<Notice>) => ModelledHost;
  /** The host that the store names as the owner of a partition. */
  readonly ownerOf: (partition: string) => string | undefined;
  /** Whether a host receives its own notices. */
  readonly echoes?: boolean;
}

/**
 * Runs a scenario until its end. The same scenario and algorithm give the same outcome.
 * @param algorithmOf gets the clock
 */
export const runModel = <Notice>(
  scenario: FleetScenario,
  algorithmOf: (scheduler: Scheduler) => Algorithm<Notice>,
): Promise<FleetOutcome> => new Model(scenario, algorithmOf).run();

class Model<Notice> {
  readonly #scenario: FleetScenario;
  readonly #algorithm: Algorithm<Notice>;
  readonly #scheduler = new Scheduler(START);
  readonly #ledger: Ledger;
  readonly #channel: Channel<Notice>;
  readonly #partitions: readonly string[];
  readonly #there = new Set<string>();
  readonly #failures: unknown[] = [];
  #wrongCheckpoints = 0;

  constructor(scenario: FleetScenario, algorithmOf: (scheduler: Scheduler) => Algorithm<Notice>) {
    this.#scenario = scenario;
    this.#algorithm = algorithmOf(this.#scheduler);
    this.#ledger = new Ledger(scenario);
    const random = seeded(seedOf(scenario.seed, 'channel'));
    const { echoes } = this.#algorithm;
    this.#channel = new Channel<Notice>(this.#scheduler, random, scenario.lostNotifications, echoes);
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
      const owner = this.#algorithm.ownerOf(partition);
      if (owner !== undefined && owner !== name && this.#scheduler.now >= START + this.#scenario.measureFrom)
        this.#wrongCheckpoints += 1;
    });
    const [channel, partitions] = [this.#channel, this.#partitions];
    const host = this.#algorithm.hostOf({ process, channel, partitions, work });
    this.#there.add(name);
    host.run().catch((cause: unknown) => this.#failures.push(cause));
    for (const incident of incidents)
      this.#scheduler.after(incident.at - startsAt, () => this.#happen(process, host, incident));
  }

  #happen(process: SimulatedProcess, host: ModelledHost, incident: Incident): void {
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
        // The host has no second thread that could continue.
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
      const owner = this.#algorithm.ownerOf(partition);
      if (owner !== undefined && counts.has(owner)) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values()) - Math.min(...counts.values()) <= 1;
  }
}
