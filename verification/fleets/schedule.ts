/**
 * Runs a fleet under the virtual clock: the real decisions, steps and partition work, in nodes that are slow, paused,
 * blocked or killed, on a table whose calls fail.
 */

import type { LifeEvent } from '../../src/domain/fleets/events.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { NodeNameTaken } from '../../src/fleet/belonging.ts';
import type { Partition } from '../../src/fleet/partition.ts';
import { type FleetRows, memoryFleets } from '../../src/memory/fleets.ts';
import type { Fleets } from '../../src/ports/fleets.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { START, seconds } from '../../src/virtual/trace.ts';
import { Judge } from './judge.ts';
import { Ledger } from './ledger.ts';
import { DRAIN_TIMEOUT, FLEET, type RunningNode, startNode } from './node.ts';
import { SimulatedProcess } from './process.ts';
import type { FleetOutcome, FleetScenario, Incident, SimulatedNode } from './scenario.ts';

export interface RunOptions {
  /** How long a unit of work takes, in ms. @default 500 */
  readonly unit?: Millis;
  /** Measures the cost of each call, by the virtual clock. */
  readonly meter?: (fleets: Fleets, now: () => Millis) => Fleets;
  /** Receives each line of the trace. */
  readonly onLine?: (line: string) => void;
}

/** The extra time of a unit of work, in ms, for each multiple by which the node is slower than usual. */
const OVERHEAD: Millis = 20;

/** Runs a scenario with the algorithm of Groupage. The same scenario gives the same outcome. */
export const runFleetScenario = (scenario: FleetScenario, options: RunOptions = {}): Promise<FleetOutcome> =>
  new FleetWorld(scenario, options).run();

class FleetWorld {
  readonly #scenario: FleetScenario;
  readonly #options: RunOptions;
  readonly #scheduler = new Scheduler(START);
  readonly #rows: FleetRows;
  readonly #ledger: Ledger;
  readonly #judge: Judge;
  /** The processes that have not ended, by their prefixes. */
  readonly #processes = new Map<string, SimulatedProcess>();
  /** How many processes with each name have started. */
  readonly #started = new Map<string, number>();
  readonly #violations: string[] = [];

  constructor(scenario: FleetScenario, options: RunOptions) {
    this.#scenario = scenario;
    this.#options = options;
    const apart = scenario.separatesAt === undefined;
    this.#rows = { nodes: new Map(), leases: new Map(), checkpoints: new Map(), apart };
    this.#ledger = new Ledger(scenario);
    this.#judge = new Judge(
      scenario,
      this.#rows,
      (prefix) => this.#alive().includes(prefix),
      () => this.#scheduler.now,
      (promise) => this.#broken(promise),
    );
  }

  async run(): Promise<FleetOutcome> {
    const { nodes, endsAt, separatesAt = endsAt } = this.#scenario;
    for (const node of nodes) this.#scheduler.after(node.startsAt, () => this.#start(node));
    if (separatesAt < endsAt)
      this.#scheduler.after(separatesAt, () => {
        this.#rows.apart = true;
      });
    await this.#scheduler.run(() => this.#violations.length > 0, START + endsAt);
    if (this.#violations.length === 0) this.#judge.end(this.#alive());
    return {
      ...this.#ledger.outcome(this.#judge.isEven),
      wrongCheckpoints: this.#judge.wrongCheckpoints,
      violations: this.#violations,
    };
  }

  #alive(): string[] {
    return [...this.#processes.values()].filter(({ isDead }) => !isDead).map(({ prefix }) => prefix);
  }

  #traceLine(line: () => string): void {
    this.#options.onLine?.(`${seconds(this.#scheduler.now - START)}  ${line()}`);
  }

  #broken(promise: string): void {
    this.#traceLine(() => `VIOLATION ${promise}`);
    this.#violations.push(`at ${seconds(this.#scheduler.now - START)} s: ${promise}`);
  }

  #start(simulated: SimulatedNode): void {
    const { name, startsAt, restartWithin = 0, incidents } = simulated;
    const number = this.#started.get(name) ?? 0;
    this.#started.set(name, number + 1);
    const onWrite = (call: string): void => {
      if (call === 'fleets.checkpoint') return;
      this.#ledger.wrote(this.#scheduler.now);
      // A node that joins also writes the name of its fleet to a separate row.
      if (call === 'fleets.join') this.#ledger.wrote(this.#scheduler.now);
    };
    const process = new SimulatedProcess(name, this.#scheduler, this.#scenario, onWrite, number);
    this.#processes.set(process.prefix, process);
    this.#judge.starts(process.prefix, simulated);
    const real = memoryFleets(new Map([[FLEET, this.#rows]]), process.gate);
    const { meter = (fleets) => fleets } = this.#options;
    const { bug } = this.#scenario;
    const node = startNode({
      scenario: this.#scenario,
      restartWithin,
      process,
      fleets: meter({ ...real, ...bug?.fleets?.(real, this.#rows) }, () => this.#scheduler.now),
      onPartition: (partition) => this.#work(process, partition),
      onBegin: (held, checkpoint) => {
        this.#ledger.acquired(held.partition, name, this.#scheduler.now);
        this.#judge.begins(held, checkpoint);
      },
      onCheckpoint: (held, text) => this.#judge.checkpoint(held, text),
      report: (event) => this.#report(process.prefix, event),
      changed: bug?.work,
    });
    node.over.then(
      () => {
        this.#processes.delete(process.prefix);
        this.#judge.ends(process.prefix);
        this.#traceLine(() => `${process.prefix}  has left`);
      },
      (cause: unknown) => {
        this.#processes.delete(process.prefix);
        this.#traceLine(() => `${process.prefix}  ${String(cause)}`);
        if (cause instanceof NodeNameTaken) this.#judge.refused(process.prefix);
        else this.#broken(`${name} failed: ${String(cause)}`);
      },
    );
    for (const incident of incidents)
      this.#scheduler.after(incident.at - startsAt, () => this.#happen(process, incident, node));
  }

  #happen(process: SimulatedProcess, incident: Incident, node: RunningNode): void {
    if (process.isDead) return;
    this.#traceLine(() => `${process.prefix}  ${JSON.stringify(incident)}`);
    switch (incident.do) {
      case 'crash':
        process.die();
        this.#judge.ends(process.prefix);
        break;
      case 'leave':
        this.#judge.stops(process.prefix);
        node.leave();
        this.#scheduler.after(DRAIN_TIMEOUT, () => process.isDead || node.giveUp());
        break;
      case 'pause':
        process.pause(incident.span);
        break;
      case 'block':
        process.block(incident.span);
        break;
      case 'slow':
        process.slow(incident.times);
        break;
    }
  }

  #report(prefix: string, event: LifeEvent): void {
    if (event.event === 'dropped') this.#judge.dropped(prefix, event.partition);
    this.#traceLine(
      () => `${prefix}  ${JSON.stringify('cause' in event ? { ...event, cause: String(event.cause) } : event)}`,
    );
  }

  /** The simulated work counts units, and the next owner continues from the count. */
  async #work(process: SimulatedProcess, partition: Partition): Promise<void> {
    const { unit = 500 } = this.#options;
    const { name, prefix } = process;
    let done = Number(partition.from ?? 0);
    while (!partition.signal.aborted) {
      partition.assertOwned();
      this.#judge.unitBegins(prefix, partition.id, partition.fence, this.#scheduler.now);
      await process.work(unit + OVERHEAD * (process.times - 1), (from, to) =>
        this.#ledger.worked({ partition: partition.id, node: name, from, to }),
      );
      this.#judge.unitEnds(prefix, partition.id, this.#scheduler.now);
      done += 1;
      if (done % 2 === 0) await partition.checkpoint(`${done}`);
    }
  }
}
