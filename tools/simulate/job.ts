/** One simulation, as a thread is told of it. */
import type { Config } from '../../src/domain/config/resolved.ts';
import type { DownstreamModel } from './downstream.ts';
import type { Outcome } from './outcome.ts';
import { simulate } from './simulate.ts';
import { arrivalsFrom, firstOf, type Source } from './source.ts';
import type { Surroundings } from './surroundings.ts';

/** What all simulations of one command share. */
export interface Setting {
  readonly source: Source;
  readonly downstream: DownstreamModel;
  readonly surroundings: Surroundings;
  readonly seed: number;
}

export interface Job extends Setting {
  readonly config: Config;
  /** Only so many tasks, from the first one on. */
  readonly most?: number;
}

/** @throws what `simulate` and the reading of the trace do */
export const simulateJob = (job: Job, onProgress: (sent: number) => void = () => {}): Promise<Outcome> => {
  const { source, config, seed, most } = job;
  const arrivals = arrivalsFrom(source, config, seed);
  return simulate({ ...job, arrivals: most === undefined ? arrivals : firstOf(arrivals, most), onProgress });
};
