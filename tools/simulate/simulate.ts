/**
 * Runs a trace through the product's own steps, in virtual time.
 *
 * Memory holds the waiting tasks and the tasks of the last minutes, so it does not grow with the length of the trace.
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
  /** The downstream of all operations. @default {@link QUICK} */
  readonly downstream?: DownstreamModel;
  /** @default {@link AWS} */
  readonly surroundings?: Platform;
  /** Seed of all random numbers: latencies, and the steps' own random choices. @default 1 */
  readonly seed?: number;
  /** Called regularly with the number of tasks sent. */
  readonly onProgress?: (sent: number) => void;
}

/** @throws TraceDisorder for a task that is earlier than the previous one; CannotSimulate; an error of the steps, which is a defect. */
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
/** A longer time without tasks is taken for a mistake in the trace. */
const SILENCE: Millis = 366 * 24 * 60 * MINUTE;

/** The trace, or the simulation of it, would not end. */
export class CannotSimulate extends Error {
  override readonly name = 'CannotSimulate';
}

const tooStill = (gap: Millis): CannotSimulate =>
  new CannotSimulate(
    `there are ${Math.round(gap / (24 * 60 * MINUTE)).toLocaleString('en')} days between two tasks. Use either dates or seconds since the start for all times, not both`,
  );
const neverEnds = (open: number): CannotSimulate =>
  new CannotSimulate(
    `${open} tasks have not ended a year after the last send: with this configuration and downstream they never end`,
  );

/** A task of the trace is earlier than the previous one. */
export class TraceDisorder extends Error {
  override readonly name = 'TraceDisorder';
  constructor(at: Millis, last: Millis) {
    super(`a task at ${at} ms follows one at ${last} ms. Sort the trace by time`);
  }
}
