/**
 * Decides which faults a schedule injects. A fault can occur only at a numbered point. Each process and each message
 * numbers its own points and draws from its own random stream, so each fault has a name (`group-4:2 duplicate`).
 * Leaving one fault out does not change the draws of other processes. A schedule can therefore be replayed exactly, and
 * the shrinker can remove single faults.
 */
import type { Millis } from '../domain/ids.ts';
import { timeForCall } from '../domain/timings.ts';
import { type FaultCounts, type FaultKind, type FaultRates, NO_FAULTS, noFaultCounts } from './faults.ts';
import { type Random, seeded, seedOf } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import type { Violation } from './violation.ts';

/** Names a point at which a fault may occur: the process or message, the number of its point, and the kind of fault. */
export type FaultPoint = `${string}:${number} ${FaultKind}`;

/**
 * A time during which all calls fail whose names begin with one of the strings in `of`, e.g. all calls on one table, or
 * some of its writes.
 */
export interface Outage {
  readonly from: Millis;
  readonly until: Millis;
  readonly of: readonly string[];
}

export interface ChaosOptions {
  readonly seed: number;
  readonly rates: FaultRates;
  /** No fault occurs after this moment, so that the system comes to rest. */
  readonly faultsEnd: Millis;
  /** The faults to inject. The rates are then not used. */
  readonly script?: readonly FaultPoint[];
  readonly outages?: readonly Outage[];
  /** Whether no fault may occur at a moment. @default - faults may occur at any moment */
  readonly isSafe?: (now: Millis) => boolean;
  /**
   * The longest time a request may take, given the time left to its function, in ms. @default - the limit that the AWS
   * clients use
   */
  readonly timeForCall?: (timeLeft: Millis) => Millis;
}

export class Chaos {
  readonly scheduler: Scheduler;
  readonly counts: FaultCounts = noFaultCounts();
  /** The injected faults, in order. */
  readonly happened: FaultPoint[] = [];
  /** Invocations that died. */
  readonly died = new Set<string>();
  /** Invocations that the platform ended at the function's timeout. */
  readonly late = new Set<string>();
  /** Invocations that had no time left for a request. `hindered` below has the invocations in which a call failed. */
  readonly outOfTime = new Set<string>();
  readonly hindered = new Set<string>();
  /** Invocations that failed to send a message. */
  readonly unsent = new Set<string>();
  /** The messages that each invocation of the batch function received. */
  readonly received = new Map<string, readonly string[]>();
  /** Names of functions that were paused. A paused invocation may continue after the function's timeout. */
  readonly paused = new Set<string>();
  /** Operations that are absent from the configuration for a while. */
  removed: ReadonlySet<string> = new Set();
  /** Called with a violation if a step failed although no fault was injected. */
  onViolation: (violation: Violation) => void = (violation) => {
    throw violation;
  };
  /** Appends a line to the trace. The line is built only if the trace is recorded. */
  readonly trace: (line: () => string) => void;
  readonly #options: ChaosOptions;
  readonly #script: ReadonlySet<string> | undefined;
  readonly #points = new Map<string, { readonly random: Random; count: number }>();

  constructor(scheduler: Scheduler, options: ChaosOptions, trace: (line: () => string) => void) {
    this.scheduler = scheduler;
    this.trace = trace;
    this.#options = options;
    this.#script = options.script && new Set(options.script);
  }

  /** The fault rates that apply now. */
  get rates(): FaultRates {
    const { now } = this.scheduler;
    const { faultsEnd, rates, isSafe } = this.#options;
    return now < faultsEnd && !isSafe?.(now) ? rates : NO_FAULTS;
  }

  /** The longest time a request may take when its function has `timeLeft` ms left. */
  timeForCall(timeLeft: Millis): Millis {
    return (this.#options.timeForCall ?? timeForCall)(timeLeft);
  }

  /** Whether a call fails now because of an outage. */
  isDown(call: string): boolean {
    const { now } = this.scheduler;
    return (this.#options.outages ?? []).some(
      ({ from, until, of }) => now >= from && now < until && of.some((each) => call.startsWith(each)),
    );
  }

  /** The random stream of one process or queue. Draws of other processes do not change it. */
  chanceOf(name: string): Random {
    return seeded(seedOf(this.#options.seed, name));
  }

  /** Whether a fault of this kind occurs now, at the next point of `who`. */
  happens(kind: FaultKind, who: string): boolean {
    return this.fault(kind, who) !== undefined;
  }

  /**
   * As {@link happens}, but returns a random stream from which the details of the fault are drawn. These draws change
   * no other stream.
   */
  fault(kind: FaultKind, who: string): Random | undefined {
    let points = this.#points.get(who);
    if (!points) {
      points = { random: this.chanceOf(`faults of ${who}`), count: 0 };
      this.#points.set(who, points);
    }
    points.count += 1;
    const isDrawn = points.random.chance(this.rates[kind]);
    if (!(this.#script || isDrawn)) return undefined;
    const point: FaultPoint = `${who}:${points.count} ${kind}`;
    if (this.#script && !this.#script.has(point)) return undefined;
    this.counts[kind] += 1;
    this.happened.push(point);
    this.trace(() => `${who}  ⚡ ${kind}`);
    return this.chanceOf(point);
  }
}
