/**
 * Runs a trace through the real steps, in virtual time: what would this configuration do with these tasks?
 *
 * Memory holds what waits and what ended within the last minutes, however long the trace is; time goes by the tasks.
 */

import type { Config } from '../../src/domain/config/resolved.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { START } from '../../src/virtual/trace.ts';
import { type DownstreamModel, QUICK } from './downstream.ts';
import type { Outcome } from './outcome.ts';
import { AWS, type Platform } from './platform.ts';
import { SimulatedStack, type SimulatedStackOptions } from './simulated-stack.ts';
import type { Arrivals } from './trace.ts';

export interface SimulateOptions extends Pick<SimulatedStackOptions, 'capacity' | 'onCall' | 'habits' | 'steps'> {
  readonly config: Config;
  readonly arrivals: Arrivals;
  /** What every operation calls. @default {@link QUICK} */
  readonly downstream?: DownstreamModel;
  /** @default {@link AWS} */
  readonly surroundings?: Platform;
  /** Of all chances: how long requests and deliveries take, and whether the steps look for a full batch. @default 1 */
  readonly seed?: number;
  /** Is told of how many tasks have been sent, now and then. */
  readonly onProgress?: (sent: number) => void;
}

/** @throws TraceDisorder for a task that is earlier than the one in front of it; CannotSimulate; what the steps throw for a defect. */
export const simulate = async (options: SimulateOptions): Promise<Outcome> => {
  const { surroundings = AWS, downstream = QUICK, seed = 1 } = options;
  const stack = new SimulatedStack({ ...options, surroundings, downstream, seed });
  const { scheduler } = stack;
  let [sent, last] = [0, 0];
  for await (const arrival of options.arrivals) {
    if (arrival.at < last) throw new TraceDisorder(arrival.at, last);
    if (arrival.at - last > SILENCE) throw tooStill(arrival.at - last);
    last = arrival.at;
    const at = START + arrival.at;
    while (scheduler.next !== undefined && scheduler.next < at) await stack.step();
    scheduler.skipTo(at);
    stack.send(arrival);
    sent += 1;
    if (sent % PROGRESS === 0) options.onProgress?.(sent);
  }
  while (!stack.isAtRest) {
    await stack.step();
    if (scheduler.now - START - last > SILENCE) throw neverEnds(stack.unfinished);
  }
  return stack.tally.outcome;
};

const PROGRESS = 10_000;
/** Nothing that is meant to be simulated is still for so long. */
const SILENCE: Millis = 366 * 24 * 60 * MINUTE;

/** A trace, or what a configuration makes of it, has no end. */
export class CannotSimulate extends Error {
  override readonly name = 'CannotSimulate';
}

const tooStill = (gap: Millis): CannotSimulate =>
  new CannotSimulate(
    `there are ${Math.round(gap / (24 * 60 * MINUTE)).toLocaleString('en')} days between two tasks: are some times moments, and others seconds since the beginning?`,
  );
const neverEnds = (open: number): CannotSimulate =>
  new CannotSimulate(
    `${open} tasks have not ended a year after the last one came: with this configuration and downstream they never will`,
  );

/** A trace goes forward in time. */
export class TraceDisorder extends Error {
  override readonly name = 'TraceDisorder';
  constructor(at: Millis, last: Millis) {
    super(`a task at ${at} ms comes behind one at ${last} ms: sort the trace by time`);
  }
}
