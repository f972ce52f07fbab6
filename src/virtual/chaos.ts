/**
 * What goes wrong in a schedule, decided at numbered points: every process and every message has its own, so that a
 * fault can be named (`group-λ4:17`) and left out, and what the others draw stays as it was. That is what makes a
 * schedule replay exactly, and shrink.
 */
import type { Millis } from '../domain/ids.ts';
import { timeForCall } from '../domain/timings.ts';
import { type FaultCounts, type FaultKind, type FaultRates, NO_FAULTS, noFaultCounts } from './faults.ts';
import { type Random, seeded, seedOf } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import type { Violation } from './violation.ts';

/** The name of a point at which something may go wrong: whose, which of them, and how. */
export type FaultPoint = `${string}:${number} ${FaultKind}`;

/** Calls that fail for some time, by how their names begin: those of one table, or some of its writes. */
export interface Outage {
  readonly from: Millis;
  readonly until: Millis;
  readonly of: readonly string[];
}

export interface ChaosOptions {
  readonly seed: number;
  readonly rates: FaultRates;
  /** When faults end: later everything must come to rest. */
  readonly faultsEnd: Millis;
  /** What goes wrong, instead of what the rates would make of it. */
  readonly script?: readonly FaultPoint[];
  readonly outages?: readonly Outage[];
  /** Whether nothing goes wrong at a moment. @default - it may at any */
  readonly isSafe?: (now: Millis) => boolean;
  /** How long a request may take, by the time that its function has left. @default - as clients end theirs */
  readonly timeForCall?: (timeLeft: Millis) => Millis;
}

export class Chaos {
  readonly scheduler: Scheduler;
  readonly counts: FaultCounts = noFaultCounts();
  /** What went wrong, in order. */
  readonly happened: FaultPoint[] = [];
  /** Runs of functions that died, and those of which a call failed. */
  readonly died = new Set<string>();
  /** Those that their platform ended, since they took too long. */
  readonly late = new Set<string>();
  /** Those that had no time left for a request. */
  readonly outOfTime = new Set<string>();
  readonly hindered = new Set<string>();
  /** Those that could not send a message. */
  readonly unsent = new Set<string>();
  /** What the runs of the batch function received. */
  readonly received = new Map<string, readonly string[]>();
  /** The functions that were paused: those that may have gone on after their time. */
  readonly paused = new Set<string>();
  /** Operations that are not configured for a while. */
  removed: ReadonlySet<string> = new Set();
  /** Told of a step that failed for no fault. */
  onViolation: (violation: Violation) => void = (violation) => {
    throw violation;
  };
  /** Keeps a line of what happens; costs nothing where nobody reads it. */
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

  /** The rates of this moment. */
  get rates(): FaultRates {
    const { now } = this.scheduler;
    const { faultsEnd, rates, isSafe } = this.#options;
    return now < faultsEnd && !isSafe?.(now) ? rates : NO_FAULTS;
  }

  /** How long a request may take when its function has `timeLeft`. */
  timeForCall(timeLeft: Millis): Millis {
    return (this.#options.timeForCall ?? timeForCall)(timeLeft);
  }

  /** Whether a call fails now, since what it needs is down. */
  isDown(call: string): boolean {
    const { now } = this.scheduler;
    return (this.#options.outages ?? []).some(
      ({ from, until, of }) => now >= from && now < until && of.some((each) => call.startsWith(each)),
    );
  }

  /** The chance of one process or queue, which what others draw does not change. */
  chanceOf(name: string): Random {
    return seeded(seedOf(this.#options.seed, name));
  }

  /** Whether this goes wrong now, at the next point of `who`. */
  happens(kind: FaultKind, who: string): boolean {
    return this.fault(kind, who) !== undefined;
  }

  /** The same, with the point's own chance to say how: what is drawn there moves nobody else's draws. */
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
