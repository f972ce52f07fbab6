/** One simulation, as a thread is told of it. */

import { createReadStream } from 'node:fs';
import type { Config, Operation } from '../../src/domain/config/resolved.ts';
import type { DownstreamModel } from './downstream.ts';
import { arrivalsOf, type Load } from './load.ts';
import type { Outcome } from './outcome.ts';
import type { Platform } from './platform.ts';
import { simulate } from './simulate.ts';
import { type Arrival, type Arrivals, arrivalsIn } from './trace.ts';

/** What all simulations of one command share. */
export interface Setting {
  readonly source: Source;
  readonly downstream: DownstreamModel;
  readonly surroundings: Platform;
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

/** Where its trace comes from, as something that a thread can be told. */
export type Source =
  | {
      readonly kind: 'trace';
      readonly path: string;
      /** What messages call it. */
      readonly name: string;
    }
  | { readonly kind: 'load'; readonly load: Load; readonly operation: string };

/** @throws InvalidTrace while it is read; what reading a file throws */
const arrivalsFrom = (source: Source, config: Config, seed: number): Arrivals => {
  if (source.kind === 'trace') return arrivalsIn(source.name, createReadStream(source.path), config);
  const operation = config.operations[source.operation as Operation['operation']];
  if (!operation) throw new Error(`no operation ${source.operation}`);
  return arrivalsOf(source.load, operation, seed);
};

/** The first so many. */
async function* firstOf(arrivals: Arrivals, most: number): AsyncGenerator<Arrival> {
  let count = 0;
  for await (const arrival of arrivals) {
    if (count === most) return;
    count += 1;
    yield arrival;
  }
}
