/**
 * Delivers events to one HTTP destination within its share of the callback function (`share.ts`), and computes after
 * which delay an event is delivered again. Calls to a slow destination need a slot, and a failing destination is not
 * called for a while. So neither delays the events for other destinations.
 */

import {
  afterCalls,
  type Calls,
  GRACE,
  healthOf,
  markedSlow,
  type Phase,
  phaseOf,
  type Share,
  withSlot,
} from '../../domain/callbacks/share.ts';
import type { Destination } from '../../domain/config/endpoints.ts';
import type { Millis } from '../../domain/ids.ts';
import { MAX_DELAY, SECOND } from '../../domain/timings.ts';
import type { Returns } from '../../ports/callbacks.ts';
import { NotTaken, TooLarge, type Way } from '../../ports/callbacks.ts';
import { TimeIsUp } from '../../ports/machine.ts';
import type { DeadLetterDeps } from '../deps.ts';
import type { Sharing } from './sharing.ts';

/** The result of an attempt to deliver an event. */
export type Outcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'failed'; readonly cause: unknown }
  /**
   * The destination was not called, or the call was aborted. `closed` is how long the destination's circuit stays open,
   * in milliseconds.
   */
  | { readonly kind: 'put-off'; readonly because: Exclude<Because, 'failed'>; readonly closed: Millis };

/** What the steps that deliver events depend on. */
export interface DeliverDeps extends Pick<DeadLetterDeps, 'config' | 'queues' | 'machine' | 'report'> {
  readonly sharing: Sharing;
  /** The name of this deployment. */
  readonly stack: string;
  readonly wayTo: (destination: Destination) => Way;
  readonly returns: Returns;
}

/** What the calls to one destination need. */
type Visiting = Pick<DeliverDeps, 'sharing' | 'machine' | 'report'>;

export interface Addressee<Event> {
  readonly name: string;
  readonly timeout: Millis;
  /**
   * Whether this is the only configured destination. Such a destination cannot delay another one, so its calls need no
   * slot.
   */
  readonly isAlone: boolean;
  readonly deliver: (event: Event, signal: AbortSignal) => Promise<void>;
}

/** @returns the outcome of each event, in order. Never rejects. */
export const deliverTo = async <Event>(
  deps: Visiting,
  to: Addressee<Event>,
  events: readonly Event[],
): Promise<readonly Outcome[]> => {
  const share = await deps.sharing.look();
  const phase = phaseOf(share, to.name, deps.machine.now());
  const visit = new Visit(deps, to, share, phase);
  switch (phase) {
    case 'calm':
      return visit.callAtOnce(events);
    case 'slow':
      return to.isAlone ? visit.callAtOnce(events) : visit.callWithSlot(events);
    case 'down':
      return visit.putOff(events, 'circuit-open');
    case 'probing':
      return visit.probe(events);
  }
};

/** The calls of one invocation to one destination. */
class Visit<Event> {
  readonly #deps: Visiting;
  readonly #to: Addressee<Event>;
  /** The share as it was when the visit began. */
  readonly #share: Share;
  readonly #phase: Phase;
  readonly #token;
  readonly #abort = new AbortController();
  #hasSlot = false;

  constructor(deps: Visiting, to: Addressee<Event>, share: Share, phase: Phase) {
    this.#deps = deps;
    this.#to = to;
    this.#share = share;
    this.#phase = phase;
    this.#token = deps.machine.token();
  }

  /**
   * Calls at once. If answers are missing after the grace period, the visit takes a slot. Without a free slot, it
   * aborts the rest.
   */
  async callAtOnce(events: readonly Event[]): Promise<readonly Outcome[]> {
    const began = this.#deps.machine.now();
    const calls = Promise.all(events.map((event) => this.#call(event)));
    const isLate = !this.#to.isAlone && (await this.#isLate(calls));
    if (isLate && !(await this.#takeSlot())) this.#abort.abort();
    return this.#note(await calls, began);
  }

  /** Takes a slot before it calls. */
  async callWithSlot(events: readonly Event[]): Promise<readonly Outcome[]> {
    if (!(await this.#takeSlot())) return this.putOff(events, 'no-slot');
    const began = this.#deps.machine.now();
    return this.#note(await Promise.all(events.map((event) => this.#call(event))), began);
  }

  /** Sends one event to test whether the destination works again. The other events are delivered again soon after. */
  async probe([first, ...others]: readonly Event[]): Promise<readonly Outcome[]> {
    if (first === undefined) return [];
    const probed = await this.callWithSlot([first]);
    return [...probed, ...this.putOff(others, 'circuit-open')];
  }

  putOff(events: readonly Event[], because: Exclude<Because, 'failed'>): readonly Outcome[] {
    const { openUntil = 0 } = healthOf(this.#share, this.#to.name);
    const closed = Math.max(0, openUntil - this.#deps.machine.now());
    return events.map(() => ({ kind: 'put-off', because, closed }));
  }

  /** Sends one event. Never rejects, and does not wait for a call that was aborted. */
  #call(event: Event): Promise<Outcome> {
    const { signal } = this.#abort;
    const broken = new Promise<Outcome>((resolve) => {
      signal.addEventListener('abort', () => resolve({ kind: 'put-off', because: 'no-slot', closed: 0 }));
    });
    const called = this.#to.deliver(event, signal).then(
      (): Outcome => ({ kind: 'delivered' }),
      (cause: unknown): Outcome => ({ kind: 'failed', cause }),
    );
    return Promise.race([broken, called]);
  }

  async #isLate(calls: Promise<unknown>): Promise<boolean> {
    try {
      await this.#deps.machine.within(GRACE, () => calls);
      return false;
    } catch (cause) {
      if (cause instanceof TimeIsUp) return true;
      throw cause;
    }
  }

  /**
   * Tries to take a slot for this visit, and marks the destination as slow in any case. Resolves to whether the visit
   * may call. If the row of shares cannot be read or written, the visit may call. All invocations may then call at
   * once, as if there were no shares.
   */
  async #takeSlot(): Promise<boolean> {
    const { machine, sharing } = this.#deps;
    const { name, timeout } = this.#to;
    const changed = await sharing.change((share) => {
      const now = machine.now();
      const taken = withSlot(share, { name, token: this.#token, timeout }, now);
      this.#hasSlot = taken !== undefined;
      return taken ?? markedSlow(share, name, now);
    });
    if (changed !== 'done') this.#hasSlot = false;
    return this.#hasSlot || changed === 'unknown';
  }

  /** Stores what the calls show about the destination, and frees the slot. */
  async #note(outcomes: readonly Outcome[], began: Millis): Promise<readonly Outcome[]> {
    const { machine, sharing } = this.#deps;
    const { name, isAlone } = this.#to;
    const calls = callsOf(outcomes, {
      wasSlow: !isAlone && machine.now() - began > GRACE,
      isProbe: this.#phase === 'probing',
    });
    const noted = (share: Share): Share => afterCalls(share, { name, token: this.#token }, calls, machine.now());
    // If the destination was calm and is still calm, no write is needed.
    if (!this.#hasSlot && noted(this.#share) === this.#share) return outcomes;
    let change: readonly [Share, Share] | undefined;
    const changed = await sharing.change((share) => {
      change = [share, noted(share)];
      return change[1];
    });
    if (change && changed === 'done') this.#report(...change);
    return outcomes;
  }

  #report(before: Share, after: Share): void {
    const { report } = this.#deps;
    const { name: destination } = this.#to;
    const [was, is] = [healthOf(before, destination), healthOf(after, destination)];
    if (is.openUntil !== undefined && (is.opened ?? 0) > (was.opened ?? 0))
      report({ event: 'destination-down', destination, failures: is.failures, until: is.openUntil });
    if (is.openUntil === undefined && was.openUntil !== undefined) report({ event: 'destination-up', destination });
  }
}

/** Whether the destination answered. It also answered if it refused the event, for example because of its size. */
const isAnswered = (outcome: Outcome): boolean => {
  if (outcome.kind !== 'failed') return outcome.kind === 'delivered';
  const { cause } = outcome;
  return cause instanceof TooLarge || (cause instanceof NotTaken && !cause.isDown);
};

const callsOf = (outcomes: readonly Outcome[], of: Pick<Calls, 'wasSlow' | 'isProbe'>): Calls => {
  const notTaken = outcomes.flatMap((outcome) =>
    outcome.kind === 'failed' && outcome.cause instanceof NotTaken ? [outcome.cause] : [],
  );
  return {
    ...of,
    answered: outcomes.some(isAnswered),
    failures: notTaken.filter(({ isDown }) => isDown).length,
  };
};

/** Why an event was not delivered this time. */
export type Because =
  /** A call failed. */
  | 'failed'
  /** The destination is slow, and no slot was free. */
  | 'no-slot'
  /** The destination is down, so it is not called for a while. */
  | 'circuit-open';

/** First delays in seconds. The delay after a failure doubles each time. */
const FIRST = { failed: 2, 'circuit-open': 30, 'no-slot': 30 } as const;
const MOST = { failed: MAX_DELAY / SECOND, 'circuit-open': MAX_DELAY / SECOND, 'no-slot': 60 } as const;

export interface Waits {
  readonly because: Because;
  /** How often the message was received, including this time. */
  readonly receives: number;
  /** How long the circuit stays open, in milliseconds. */
  readonly closed: Millis;
}

/**
 * The delay in whole seconds, from 1 to 900.
 * @param chance uniform in [0, 1), so that events that failed together are not delivered again together.
 */
export const delayOf = ({ because, receives, closed }: Waits, chance: number): number => {
  const growing = Math.min(MOST[because], FIRST[because] * 2 ** Math.min(receives - 1, 20));
  const spread = Math.ceil(growing * (0.5 + chance / 2));
  return Math.min(MAX_DELAY / SECOND, Math.max(1, Math.ceil(closed / SECOND) + spread));
};
