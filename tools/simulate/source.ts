/** Where a simulated trace comes from, as something that a thread can be told. */
import { createReadStream } from 'node:fs';
import type { Config, Operation } from '../../src/domain/config/resolved.ts';
import type { Arrival, Arrivals } from './arrival.ts';
import { arrivalsOf, type Load } from './load.ts';
import { arrivalsIn } from './trace.ts';

export type Source =
  | {
      readonly kind: 'trace';
      readonly path: string;
      /** What messages call it. */
      readonly name: string;
    }
  | { readonly kind: 'load'; readonly load: Load; readonly operation: string };

/** @throws InvalidTrace while it is read; what reading a file throws */
export const arrivalsFrom = (source: Source, config: Config, seed: number): Arrivals => {
  if (source.kind === 'trace') return arrivalsIn(source.name, createReadStream(source.path), config);
  const operation = config.operations[source.operation as Operation['operation']];
  if (!operation) throw new Error(`no operation ${source.operation}`);
  return arrivalsOf(source.load, operation, seed);
};

/** The first so many. */
export async function* firstOf(arrivals: Arrivals, most: number): AsyncGenerator<Arrival> {
  let count = 0;
  for await (const arrival of arrivals) {
    if (count === most) return;
    count += 1;
    yield arrival;
  }
}
