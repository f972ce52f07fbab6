/**
 * Checks the rules about processes that end and start again under their names.
 *
 * - P12: in a calm fleet, a partition that is handed over is without work for at most a second.
 * - P13: in a calm fleet, the partitions of a process that was stopped wait for the next process with its name, which
 *   works on them within a second of its start.
 * - P14: two processes with the same name, whose partitions wait for restarts, never work at the same time. A process is
 *   refused only because of another one.
 */
import type { PartitionId } from '../../src/domain/fleets/ids.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { comesBack, type FleetScenario, type SimulatedNode } from './scenario.ts';

/** The longest time without work while a partition changes hands, in ms. */
const HANDED_OVER: Millis = 1_000;
/** How long after its end a process may still keep another one from using its name, in ms. */
const REMEMBERED: Millis = 60_000;

interface Process {
  readonly node: SimulatedNode;
  readonly startedAt: Millis;
  isStopping: boolean;
  endedAt: Millis;
}

export class Names {
  readonly #scenario: FleetScenario;
  readonly #onBroken: (promise: string) => void;
  readonly #processes = new Map<string, Process>();
  /** For each partition, the process that did the last unit, and when the unit ended. */
  readonly #last = new Map<PartitionId, { readonly prefix: string; readonly at: Millis }>();

  constructor(scenario: FleetScenario, onBroken: (promise: string) => void) {
    this.#scenario = scenario;
    this.#onBroken = onBroken;
  }

  starts(prefix: string, node: SimulatedNode, at: Millis): void {
    this.#processes.set(prefix, { node, startedAt: at, isStopping: false, endedAt: Number.POSITIVE_INFINITY });
  }

  stops(prefix: string): void {
    this.#change(prefix, (process) => {
      process.isStopping = true;
    });
  }

  ends(prefix: string, at: Millis): void {
    this.#change(prefix, (process) => {
      process.endedAt = Math.min(process.endedAt, at);
    });
  }

  refused(prefix: string, at: Millis): void {
    this.ends(prefix, at);
    const isExplained = this.#namesakes(prefix).some(([, { endedAt }]) => at - endedAt < REMEMBERED);
    if (!isExplained) this.#onBroken(`P14: ${prefix} was refused, although no other process has its name`);
  }

  unitEnds(prefix: string, partition: PartitionId, at: Millis): void {
    this.#last.set(partition, { prefix, at });
  }

  /** @param working the processes that work on any partition, and were not evicted */
  unitBegins(prefix: string, partition: PartitionId, at: Millis, working: readonly string[]): void {
    const rival = this.#namesakes(prefix).find(([other]) => working.includes(other));
    if (rival) this.#onBroken(`P14: ${prefix} begins a unit of partition ${partition} while ${rival[0]} works`);
    const last = this.#last.get(partition);
    if (this.#scenario.isCalm && last && last.prefix !== prefix) this.#continues(prefix, partition, at, last);
  }

  #continues(prefix: string, partition: PartitionId, at: Millis, last: { prefix: string; at: Millis }): void {
    const [before, now] = [this.#processes.get(last.prefix), this.#processes.get(prefix)];
    if (!before || !now) return;
    const waits = before.isStopping && comesBack(before.node, this.#stopOf(before), this.#scenario.nodes);
    if (waits && now.node.name !== before.node.name)
      this.#onBroken(`P13: ${prefix} takes partition ${partition}, which waits for ${before.node.name}`);
    const from = waits ? Math.max(last.at, now.startedAt) : last.at;
    if (at - from > HANDED_OVER)
      this.#onBroken(
        `${waits ? 'P13' : 'P12'}: partition ${partition} is without work for ${Math.round(at - from)} ms between ${last.prefix} and ${prefix}`,
      );
  }

  #stopOf({ node }: Process): Millis {
    return node.incidents.find((incident) => incident.do === 'leave')?.at ?? 0;
  }

  /** The other processes with the same name, if their partitions wait for restarts. */
  #namesakes(prefix: string): readonly (readonly [string, Process])[] {
    const own = this.#processes.get(prefix);
    return [...this.#processes].filter(
      ([other, { node }]) => other !== prefix && node.name === own?.node.name && node.restartWithin !== undefined,
    );
  }

  #change(prefix: string, change: (process: Process) => void): void {
    const process = this.#processes.get(prefix);
    if (process) change(process);
  }
}
