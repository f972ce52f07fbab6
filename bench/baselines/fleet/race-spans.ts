/** The time spans of the published algorithm, in milliseconds, and the choices that its description leaves open. */
import type { Millis } from '../../../src/domain/ids.ts';

export interface RaceSpans {
  /** The interval between two races for a partition. */
  readonly normalLease: Millis;
  /** The time without a race after which a host clears a partition's entries, because its host died in a race. */
  readonly maximumLease: Millis;
  /** How long a winner waits until the last owner has stopped. */
  readonly maximumShutdown: Millis;
  /** How long the result of a race is kept. */
  readonly minimumGrab: Millis;
  /** How long a host waits in a race for each partition that it works on. */
  readonly delayPerLease: Millis;
  /**
   * Over which time the first races for all partitions are spread. The description does not say. Races that coincide
   * are decided by the same numbers of partitions, so that one host wins them all.
   */
  readonly spread: Millis;
}

/** The values that the description names; 200 ms, and the widest spread, where it leaves a choice. */
export const RACE_SPANS: RaceSpans = {
  normalLease: 60_000,
  maximumLease: 180_000,
  maximumShutdown: 20_000,
  minimumGrab: 30_000,
  delayPerLease: 200,
  spread: 60_000,
};

/** The choices that the benchmark tries, by name. */
export const RACE_SWEEP: Readonly<Record<string, RaceSpans>> = {
  'delay 100 ms': { ...RACE_SPANS, delayPerLease: 100 },
  'delay 200 ms': RACE_SPANS,
  'delay 500 ms': { ...RACE_SPANS, delayPerLease: 500 },
  'maximum lease 120 s': { ...RACE_SPANS, maximumLease: 120_000 },
  'maximum lease 300 s': { ...RACE_SPANS, maximumLease: 300_000 },
  'races within 30 s': { ...RACE_SPANS, spread: 30_000 },
  'races within 10 s': { ...RACE_SPANS, spread: 10_000 },
  'races at the same time': { ...RACE_SPANS, spread: 0 },
};
