/**
 * Runs a trace through the real steps, in virtual time: what would this configuration do with these tasks?
 *
 * Memory holds what waits and what ended within the last minutes, however long the trace is; time goes by the tasks.
 */
import type { Config } from '../config/resolved.ts';
import type { Arrivals } from './arrival.ts';
import { type DownstreamModel, QUICK } from './downstream.ts';
import type { Outcome } from './outcome.ts';
import { AWS, type Surroundings } from './surroundings.ts';

export interface SimulateOptions {
  readonly config: Config;
  readonly arrivals: Arrivals;
  /** What every operation calls. @default {@link QUICK} */
  readonly downstream?: DownstreamModel;
  /** @default {@link AWS} */
  readonly surroundings?: Surroundings;
  /** Of the chances that the steps take (whether to look for a full batch). @default 1 */
  readonly seed?: number;
  /** Is told of how many tasks have been sent, now and then. */
  readonly onProgress?: (sent: number) => void;
}

/** @throws TraceDisorder for a task that is earlier than the one in front of it; what the steps throw for a defect. */
export const simulate = async (options: SimulateOptions): Promise<Outcome> => {
  const { surroundings = AWS, downstream = QUICK, seed = 1 } = options;
  throw new Error(`not yet ${surroundings} ${downstream} ${seed}`);
};
