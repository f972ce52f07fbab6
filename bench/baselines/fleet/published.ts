/**
 * The published algorithm for sharing partitions that `src/fleet` stands in for, under the virtual clock: on the same
 * simulated processes as ours, whose timers, threads and calls are late and fail in the same way.
 *
 * Known of it:
 * - N hosts share P partitions by locks in a shared store, one for each partition, that end by the clock unless they are
 *   renewed. Nobody is in charge.
 * - It has five time spans, two hash tables in each host's memory and two subscriptions.
 * - A host acquires partitions until it has its maximum, and releases the surplus when hosts join. There are two formulas
 *   of that maximum, one in the text's parentheses and one in its sentence, which differ.
 * - Its author withdrew it: overloaded hosts were too slow to renew their locks, so that partitions jumped between hosts.
 *
 * Its text is not at hand: the above is from a summary of it. What had to be assumed:
 * - The formulas are ceil(P / N) and floor(P / N) + 1. Both are run.
 * - The spans: how long a lock lasts, how often it is renewed, how often a host announces itself, after how long without a
 *   word it is forgotten, and how often a host looks whether it has what it may have (`reading.ts`).
 * - The tables: the other hosts with the moment at which they were last heard of, and the partitions with whose they are,
 *   until when. The subscriptions: to hosts that are there or go, and to partitions that were acquired or released.
 * - A host does one thing at a time, and renews each lock by itself: that is how overload shows in it.
 *
 * What is left open is read in its favour:
 * - Notices take 20 to 100 ms and cost nothing; one publisher's arrive in their order; what came in a pause is not lost, and
 *   is heard before anything else. So a host that comes back hears first of whom it forgot, and what it lost.
 * - A host that comes waits until it has heard the others; one that goes says so before it releases anything, and everybody
 *   who has too few by then tries at once. What is released is what came last, once the unit of work under way has ended,
 *   while the host goes on with other things.
 * - Attempts are in an order of chance, so that hosts seldom meet at one lock. A refusal says until when the lock lasts, and
 *   it is not tried again before. A lock that has ended may still be renewed if nobody else took it.
 * - A timer begins anew when its task is done. A renewal that failed is repeated after a second.
 * - The clocks of the day are right everywhere: a lock ends for its holder and for others at the same moment.
 * - What works on partitions runs beside all that, and is not in its way.
 *
 * A write unit is paid for each acquiring, renewal and release, also for refused ones.
 */

import { seeded, seedOf } from '../../../src/virtual/random.ts';
import { Scheduler } from '../../../src/virtual/scheduler.ts';
import { START } from '../../../src/virtual/trace.ts';
import { Ledger } from '../../../verification/fleets/ledger.ts';
import { SimulatedProcess } from '../../../verification/fleets/process.ts';
import type { FleetOutcome, FleetScenario, Incident, SimulatedNode } from '../../../verification/fleets/scenario.ts';
import { Channel } from './channel.ts';
import { Host } from './host.ts';
import { Locks } from './locks.ts';
import type { Reading } from './reading.ts';
import { PublishedWork } from './work.ts';

/** Runs a scenario until its end. The same scenario and reading give the same outcome. */
export const runPublishedFleet = (scenario: FleetScenario, reading: Reading): Promise<FleetOutcome> =>
  new PublishedFleet(scenario, reading).run();

class PublishedFleet {
  readonly #scenario: FleetScenario;
  readonly #reading: Reading;
  readonly #scheduler = new Scheduler(START);
  readonly #ledger: Ledger;
  readonly #locks: Locks;
  readonly #channel: Channel;
  readonly #partitions: readonly string[];
  readonly #there = new Set<string>();
  readonly #failures: unknown[] = [];
  #wrongCheckpoints = 0;

  constructor(scenario: FleetScenario, reading: Reading) {
    this.#scenario = scenario;
    this.#reading = reading;
    this.#ledger = new Ledger(scenario);
    this.#locks = new Locks(() => this.#scheduler.now, reading.spans.lock);
    const random = seeded(seedOf(scenario.seed, 'channel'));
    this.#channel = new Channel(this.#scheduler, random, scenario.lostNotifications);
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
      // It promises nothing.
      violations: [],
    };
  }

  #start({ name, startsAt, incidents }: SimulatedNode): void {
    const ledger = this.#ledger;
    const process = new SimulatedProcess(name, this.#scheduler, this.#scenario, (call) => {
      if (call !== 'checkpoint') ledger.wrote(this.#scheduler.now);
    });
    const work = new PublishedWork(process, this.#scheduler, ledger, (partition) => {
      const holder = this.#locks.holderOf(partition);
      if (holder !== undefined && holder !== name && this.#scheduler.now >= START + this.#scenario.measureFrom)
        this.#wrongCheckpoints += 1;
    });
    const [locks, channel, partitions, reading] = [this.#locks, this.#channel, this.#partitions, this.#reading];
    const host = new Host({ process, locks, channel, partitions, reading, work });
    this.#there.add(name);
    host.run().catch((cause: unknown) => this.#failures.push(cause));
    for (const incident of incidents)
      this.#scheduler.after(incident.at - startsAt, () => this.#happen(process, host, incident));
  }

  #happen(process: SimulatedProcess, host: Host, incident: Incident): void {
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
        // It has no other thread that would go on.
        process.pause(incident.span);
        break;
      case 'slow':
        process.slow(incident.times);
        break;
    }
  }

  /** No two of those that are there have numbers that differ by more than one. */
  #isEven(): boolean {
    const counts = new Map([...this.#there].map((name) => [name, 0]));
    for (const partition of this.#partitions) {
      const holder = this.#locks.holderOf(partition);
      if (holder !== undefined && counts.has(holder)) counts.set(holder, (counts.get(holder) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values()) - Math.min(...counts.values()) <= 1;
  }
}
