/** One simulation, as a message to a worker thread. */

import { createReadStream } from 'node:fs';
import type { Config, Operation } from '../../src/domain/config/resolved.ts';
import type { DownstreamModel } from './downstream.ts';
import { arrivalsOf, type Load } from './load.ts';
import type { Outcome } from './outcome.ts';
import type { Platform } from './platform.ts';
import { simulate } from './simulate.ts';
import { type Arrival, type Arrivals, arrivalsIn } from './trace.ts';

/** Settings that all simulations of a command share. */
export interface Setting {
  readonly source: Source;
  readonly downstream: DownstreamModel;
  readonly surroundings: Platform;
  readonly seed: number;
}

export interface Job extends Setting {
  readonly config: Config;
  /** Maximum number of tasks, from the first one on. */
  readonly most?: number;
}

/** @throws the errors of `simulate` and of reading the trace */
export const simulateJob = (job: Job, onProgress: (sent: number) => void = () => {}): Promise<Outcome> => {
  const { source, config, seed, most } = job;
  const arrivals = arrivalsFrom(source, config, seed);
  return simulate({ ...job, arrivals: most === undefined ? arrivals : firstOf(arrivals, most), onProgress });
};

/** Source of the tasks, serializable for a worker thread. */
export type Source =
  | {
      readonly kind: 'trace';
      readonly path: string;
      /** Name of the trace in messages. */
      readonly name: string;
    }
  | { readonly kind: 'load'; readonly load: Load; readonly operation: string };

/** @throws InvalidTrace while it is read; errors of reading the file */
const arrivalsFrom = (source: Source, config: Config, seed: number): Arrivals => {
  if (source.kind === 'trace') return arrivalsIn(source.name, createReadStream(source.path), config);
  const operation = config.operations[source.operation as Operation['operation']];
  if (!operation) throw new Error(`no operation ${source.operation}`);
  return arrivalsOf(source.load, operation, seed);
};

/** The first `most` arrivals. */
async function* firstOf(arrivals: Arrivals, most: number): AsyncGenerator<Arrival> {
  let count = 0;
  for await (const arrival of arrivals) {
    if (count === most) return;
    count += 1;
    yield arrival;
  }
}
