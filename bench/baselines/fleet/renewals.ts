/**
 * Locks with renewals, a usual way to share partitions, under the virtual clock. It runs on the same simulated processes
 * as Groupage, whose timers, threads and calls are late and fail in the same way.
 *
 * How it works:
 * - N hosts share P partitions through locks in a shared store. Each partition has a lock, which expires by the clock
 *   unless it is renewed. There is no leader.
 * - It has five time spans, two hash tables in each host's memory and two subscriptions.
 * - A host acquires partitions until it has its maximum, and releases the surplus when hosts join. There are two usual
 *   formulas for this maximum, which differ.
 *
 * Assumptions:
 * - The formulas are ceil(P / N), which the benchmark runs, and floor(P / N) + 1.
 * - The time spans are: the duration of a lock, the interval of renewals, the interval at which a host announces
 *   itself, the silence after which a host is forgotten, and the interval at which a host checks its number of
 *   partitions (`reading.ts`).
 * - The tables hold the other hosts, with the time of their last announcement, and the owners of partitions, with the
 *   end of their locks. The subscriptions are to hosts that join or leave, and to partitions that were acquired or
 *   released.
 * - A host does one thing at a time, and renews each lock separately. This is how overload affects it.
 *
 * Open points are decided in its favour:
 * - Notices take 20 to 100 ms and cost nothing. Notices of one publisher arrive in order. A notice that arrives during
 *   a pause is not lost, and the host processes it before anything else. After a pause, a host therefore first
 *   finds out which hosts it forgot and which partitions it lost.
 * - A new host waits until the others have announced themselves. A leaving host announces its leaving before it
 *   releases anything, and every host with too few partitions then tries at once. A host releases the partitions that
 *   it acquired last, each after its current unit of work, and continues with other tasks meanwhile.
 * - Attempts are in random order, so that hosts seldom compete for one lock. A refusal says how long the lock lasts,
 *   and the host does not try again before that. An expired lock can still be renewed if no other host took it.
 * - A timer starts again when its task is done. A failed renewal is repeated after a second.
 * - The time of day is correct on every host, so a lock expires for its holder and for others at the same moment.
 * - The work on partitions runs beside all that and does not delay it.
 *
 * Each acquisition, renewal and release costs a write unit, also if it is refused.
 */

import { seeded, seedOf } from '../../../src/virtual/random.ts';
import { Scheduler } from '../../../src/virtual/scheduler.ts';
import { START } from '../../../src/virtual/trace.ts';
import { Ledger } from '../../../verification/fleets/ledger.ts';
import { SimulatedProcess } from '../../../verification/fleets/process.ts';
import type { FleetOutcome, FleetScenario, Incident, SimulatedNode } from '../../../verification/fleets/scenario.ts';
import { Channel, type Notice } from './channel.ts';
import { Host } from './host.ts';
import { Locks } from './locks.ts';
import type { Reading } from './reading.ts';
import { PlainWork } from './work.ts';

/** Runs a scenario until its end. The same scenario and reading give the same outcome. */
export const runRenewedLocks = (scenario: FleetScenario, reading: Reading): Promise<FleetOutcome> =>
  new RenewedLocks(scenario, reading).run();

class RenewedLocks {
  readonly #scenario: FleetScenario;
  readonly #reading: Reading;
  readonly #scheduler = new Scheduler(START);
  readonly #ledger: Ledger;
  readonly #locks: Locks;
  readonly #channel: Channel<Notice>;
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
    this.#channel = new Channel<Notice>(this.#scheduler, random, scenario.lostNotifications);
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
      const holder = this.#locks.holderOf(partition);
      if (holder !== undefined && counts.has(holder)) counts.set(holder, (counts.get(holder) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values()) - Math.min(...counts.values()) <= 1;
  }
}
