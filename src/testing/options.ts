/** The options of a testbed, and their checks. */

import type { Operations } from '../client/sent-tasks.ts';
import type { Config } from '../domain/config/resolved.ts';
import { type ConfigInput, parseConfig } from '../domain/config/schema/config.ts';
import { type FaultRates, NO_FAULTS } from '../virtual/faults.ts';
import { START } from '../virtual/trace.ts';
import { TestbedMisused, UnusableConfig } from './failures.ts';
import type { DownstreamFunction } from './wire.ts';

/** A CloudEvent, as a destination receives it. */
export interface CloudEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  /** `groupage.task.succeeded`, `groupage.task.failed`, `groupage.fan-out.completed`, … */
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * A destination of the test. If the function throws an error, the destination has not accepted the event, and the event
 * is delivered again.
 */
export type DestinationFunction = (event: CloudEvent) => void | Promise<void>;

/**
 * Probability of each kind of fault; `skew` is in milliseconds. The seed decides when faults happen. If a kind is
 * absent, faults of this kind do not happen.
 */
export type ChaosRates = Partial<FaultRates>;

/** Rates for a bad day in the cloud: every kind of fault happens from time to time. */
export const ROUGH: ChaosRates = {
  crash: 0.02,
  pause: 0.005,
  throttle: 0.02,
  partial: 0.02,
  lostReply: 0.02,
  repeat: 0.02,
  duplicate: 0.1,
  late: 0.02,
  undeleted: 0.05,
  skew: 1_000,
};

/** Options of `createTestbed`. */
export interface TestbedOptions<Known extends Operations> {
  /** Functions that replace the batch APIs, by operation. @default - every item succeeds */
  readonly downstreams?: { readonly [Operation in keyof Known & string]?: DownstreamFunction<Known[Operation]> };
  /**
   * Functions that replace the destinations, by name.
   * @default - they accept every event
   */
  readonly destinations?: Readonly<Record<string, DestinationFunction>>;
  /**
   * Seed of all random choices (jitter, ids, chaos). The same seed gives exactly the same run.
   * @default 1
   */
  readonly seed?: number;
  /** Virtual time at which the testbed begins. @default 2026-01-01T00:00:00Z */
  readonly start?: Date;
  /**
   * Faults that happen by chance until `calm()` is called.
   * @default - none
   */
  readonly chaos?: ChaosRates;
}

const KNOWN = ['downstreams', 'destinations', 'seed', 'start', 'chaos'];

/**
 * Checks and completes a configuration.
 * @throws UnusableConfig
 */
export const configOf = (input: ConfigInput): Config => {
  const parsed = parseConfig(input);
  if (!parsed.ok) throw new UnusableConfig(parsed.problems);
  return parsed.value;
};

/**
 * Checks the options.
 * @throws TestbedMisused
 */
export const checkOptions = <Known extends Operations>(config: Config, options: TestbedOptions<Known>) => {
  const { downstreams = {}, destinations = {}, seed = 1, start = new Date(START), chaos } = options;
  onlyKnown('option', options, KNOWN);
  onlyKnown('operation', downstreams, Object.keys(config.operations));
  onlyKnown('destination', destinations, Object.keys(config.destinations));
  onlyFunctions('downstreams', downstreams);
  onlyFunctions('destinations', destinations);
  if (!Number.isSafeInteger(seed)) throw new TestbedMisused(`seed must be a whole number, not ${String(seed)}`);
  if (!(start instanceof Date) || Number.isNaN(start.getTime())) throw new TestbedMisused('start must be a valid Date');
  return {
    downstreams,
    destinations,
    seed,
    start: start.getTime(),
    rates: ratesOf(chaos),
    isChaotic: chaos !== undefined,
  };
};

const ratesOf = (chaos: ChaosRates = {}): FaultRates => {
  onlyKnown('kind of chaos', chaos, Object.keys(NO_FAULTS));
  for (const [kind, rate] of Object.entries(chaos))
    if (typeof rate !== 'number' || !(rate >= 0) || (kind !== 'skew' && rate > 1))
      throw new TestbedMisused(
        `chaos.${kind} must be ${kind === 'skew' ? 'a number of milliseconds from 0' : 'a probability from 0 to 1'}`,
      );
  return { ...NO_FAULTS, ...chaos };
};

/**
 * Checks that only known names are used.
 * @throws TestbedMisused, with the valid names
 */
const onlyKnown = (what: string, given: object, known: readonly string[]): void => {
  for (const name of Object.keys(given))
    if (!known.includes(name))
      throw new TestbedMisused(
        `there is no ${what} ${JSON.stringify(name)}; use one of: ${known.join(', ') || '(none)'}`,
      );
};

const onlyFunctions = (option: string, given: object): void => {
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && typeof value !== 'function')
      throw new TestbedMisused(`${option}.${name} must be a function`);
};
