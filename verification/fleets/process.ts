/**
 * The process of a simulated node. It simulates the time of the node's threads, which stops in a pause and runs slowly
 * under overload, and the node's calls to the table.
 */
import type { Millis } from '../../src/domain/ids.ts';
import type { Clock } from '../../src/fleet/member.ts';
import type { Gate } from '../../src/virtual/gate.ts';
import { type Random, seeded, seedOf } from '../../src/virtual/random.ts';
import type { Scheduler } from '../../src/virtual/scheduler.ts';
import { START } from '../../src/virtual/trace.ts';
import type { FleetScenario } from './scenario.ts';

/** The shortest and the longest time that a request to the table, or its answer, is on the way, in ms. */
const [NEAR, FAR]: readonly [Millis, Millis] = [2, 10];
/** How late a timer fires, in ms. */
const LATE: Millis = 5;
/**
 * The time after which the client gives up a call, including retries, in ms. After that it is unknown whether the call
 * had an effect.
 */
const TIMEOUT: Millis = 9_000;
/** The most times that a call is sent. */
const CALLS = 3;

/** A call failed. */
class SimulatedFailure extends Error {
  override readonly name = 'SimulatedFailure';
}

export class SimulatedProcess {
  readonly name: string;
  /** What the keys of this process's lives begin with. No other process has it. */
  readonly prefix: string;
  readonly random: Random;
  readonly #scheduler: Scheduler;
  readonly #scenario: FleetScenario;
  readonly #onWrite: (call: string) => void;
  /**
   * The start of the process's monotonic clock is random. The clock is slightly faster or slower than those of other
   * processes.
   */
  readonly #offset: Millis;
  readonly #rate: number;
  #times = 1;
  #pausedUntil: Millis = 0;
  #blockedUntil: Millis = 0;
  #pausedFrom: Millis = 0;
  #blockedFrom: Millis = 0;
  #diedAt: Millis = Number.POSITIVE_INFINITY;

  /** @param number of the process among those with its name, from 0 */
  constructor(
    name: string,
    scheduler: Scheduler,
    scenario: FleetScenario,
    onWrite: (call: string) => void,
    number: number = 0,
  ) {
    this.name = name;
    this.prefix = `${name}@${number}x`;
    this.random = seeded(seedOf(scenario.seed, number === 0 ? name : this.prefix));
    this.#scheduler = scheduler;
    this.#scenario = scenario;
    this.#onWrite = onWrite;
    this.#offset = this.random.int(0, 1_000_000);
    this.#rate = 1 + (this.random.next() - 0.5) / 100;
  }

  get isDead(): boolean {
    return this.#diedAt <= this.#scheduler.now;
  }

  /** The factor by which everything takes longer. */
  get times(): number {
    return this.#times;
  }

  /** How long the worker thread has not responded because it is blocked, in ms. */
  get silentFor(): Millis {
    return this.#scheduler.now < this.#blockedUntil ? this.#scheduler.now - this.#blockedFrom : 0;
  }

  die(): void {
    this.#diedAt = this.#scheduler.now;
  }

  pause(span: Millis): void {
    if (this.#scheduler.now >= this.#pausedUntil) this.#pausedFrom = this.#scheduler.now;
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#scheduler.now + span);
  }

  block(span: Millis): void {
    this.#blockedFrom = this.#scheduler.now;
    this.#blockedUntil = this.#scheduler.now + span;
  }

  slow(times: number): void {
    this.#times = times;
  }

  /** The clock of the heartbeat thread. */
  readonly clock: Clock = {
    now: () => this.now(),
    wall: () => this.#scheduler.now,
    sleep: (span) => this.sleep(span),
    random: () => this.random.next(),
  };

  now(): Millis {
    return (this.#scheduler.now + this.#offset) * this.#rate;
  }

  /** Sleeps by the clock of this process. */
  async sleep(span: Millis): Promise<void> {
    await this.#scheduler.wait(span / this.#rate + this.random.next() * LATE * this.#times);
    await this.#awake();
  }

  /**
   * Spends time of the worker thread. Work that a pause interrupts continues after the pause.
   *
   * @param note receives each stretch of actual work
   */
  async work(span: Millis, note: (from: Millis, to: Millis) => void = () => {}): Promise<void> {
    for (let left = span; left > 0; ) {
      const from = this.#scheduler.now;
      await this.#scheduler.wait(left);
      const stoppedAt = this.#stoppedSince(from);
      const until = Math.min(this.#scheduler.now, stoppedAt);
      note(from, Math.min(until, this.#diedAt));
      await this.#untilAtWork();
      // Without an interruption the work is done here. Without this check, rounding of the clock could prolong the
      // work.
      if (stoppedAt > until) return;
      left -= until - from;
    }
  }

  /** Calls to the table. They take time, and some fail before or after their effect. */
  readonly gate: Gate = async (call, effects) => {
    const from = this.#scheduler.now;
    for (let tried = 1; ; tried += 1) {
      await this.#travel();
      const fault = this.#fault();
      const answers = fault === 'before' ? undefined : effects.map((effect) => effect());
      if (fault !== 'before' && call !== 'fleets.read') this.#onWrite(call);
      await this.#travel();
      await this.#awake();
      const isLate = this.#scheduler.now - from > TIMEOUT;
      if (answers && fault === undefined && !isLate) return answers;
      if (tried >= CALLS || isLate) throw new SimulatedFailure(`${call} ${fault ?? 'timed out'}`);
    }
  };

  #fault(): 'before' | 'after' | undefined {
    const { outage, storeErrors } = this.#scenario;
    const now = this.#scheduler.now - START;
    if (outage && now >= outage.from && now < outage.to) return 'before';
    if (!this.random.chance(storeErrors)) return undefined;
    return this.random.chance(0.5) ? 'before' : 'after';
  }

  async #travel(): Promise<void> {
    await this.#scheduler.wait(this.random.int(NEAR, FAR) * this.#times);
    if (this.isDead) await NEVER;
  }

  /** When the process was last interrupted, if that was after `from`. */
  #stoppedSince(from: Millis): Millis {
    const stops = [this.#pausedFrom, this.#blockedFrom].filter((at) => at >= from);
    return Math.min(Number.POSITIVE_INFINITY, ...stops);
  }

  async #untilAtWork(): Promise<void> {
    await this.#awake();
    while (this.#scheduler.now < this.#blockedUntil)
      await this.#scheduler.wait(this.#blockedUntil - this.#scheduler.now);
  }

  async #awake(): Promise<void> {
    while (this.#scheduler.now < this.#pausedUntil) await this.#scheduler.wait(this.#pausedUntil - this.#scheduler.now);
    if (this.isDead) await NEVER;
  }
}

const NEVER = new Promise<never>(() => {});
