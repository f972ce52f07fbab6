/** The stream: real flights (US domestic, early 2001, from the package vega-datasets), partitioned by origin. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Flight } from '../flights/downstream.ts';

/** The package exports no data files, so find the file beside its entry. */
const DATA = fileURLToPath(new URL('../data/flights-20k.json', import.meta.resolve('vega-datasets')));

export const PARTITIONS = 16;

/** The sums for each origin, in whole numbers, so that the sums are exact. */
export type Delays = Record<string, { flights: number; minutes: number }>;

/** A flight with its time in the replay: 0 is the beginning of the replay, and 1 is its end. */
export interface Departure extends Flight {
  readonly after: number;
}

const momentOf = ({ date }: Flight): number => Date.parse(`${date.replaceAll('/', '-').replace(' ', 'T')}Z`);

/** Reads the first `count` flights, in order of departure. */
export const readFlights = (count: number): readonly Departure[] => {
  const flights = (JSON.parse(readFileSync(DATA, 'utf8')) as Flight[])
    .toSorted((a, b) => momentOf(a) - momentOf(b))
    .slice(0, count);
  const [first, last] = [flights[0], flights.at(-1)].map((flight) => momentOf(flight as Flight)) as [number, number];
  return flights.map((flight) => ({ ...flight, after: (momentOf(flight) - first) / Math.max(1, last - first) }));
};

/** The partition of a flight. All flights of an origin are in one partition. */
export const partitionOf = ({ origin }: Flight): string =>
  String(createHash('sha256').update(origin).digest().readUInt32BE() % PARTITIONS);

export const count = (delays: Delays, flights: readonly Flight[]): void => {
  for (const { origin, delay } of flights) {
    const of = delays[origin] ?? { flights: 0, minutes: 0 };
    delays[origin] = { flights: of.flights + 1, minutes: of.minutes + delay };
  }
};
