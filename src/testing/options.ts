/** What a testbed is made of, checked. */

import type { Operations } from '../client/sent-tasks.ts';
import type { Config } from '../domain/config/resolved.ts';
import { type ConfigInput, parseConfig } from '../domain/config/schema/config.ts';
import { type FaultRates, NO_FAULTS } from '../virtual/faults.ts';
import { START } from '../virtual/trace.ts';
import { TestbedMisused, UnusableConfig } from './failures.ts';
import type { DownstreamFunction } from './wire.ts';

/** A CloudEvent, as a destination gets it. */
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

/** A destination of the test's own. One that throws does not take the event: it comes again. */
export type DestinationFunction = (event: CloudEvent) => void | Promise<void>;

/** How often each thing goes wrong, as a probability, by the seed alone. What is left out does not go wrong. */
export type ChaosRates = Partial<FaultRates>;

/** As rough as a bad day in the cloud: everything that may go wrong does now and then. */
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

export interface TestbedOptions<Known extends Operations> {
  /** What stands in for each operation's batch API. @default - everything succeeds */
  readonly downstreams?: { readonly [Operation in keyof Known & string]?: DownstreamFunction<Known[Operation]> };
  /** What stands in for destinations, by their names. @default - they take every event */
  readonly destinations?: Readonly<Record<string, DestinationFunction>>;
  /** Of everything that is drawn (jitter, ids, chaos): the same one gives the same run, to the letter. @default 1 */
  readonly seed?: number;
  /** When it is at first. @default 2026-01-01T00:00:00Z */
  readonly start?: Date;
  /** What goes wrong by chance, until `calm()` is called. @default - nothing */
  readonly chaos?: ChaosRates;
}

const KNOWN = ['downstreams', 'destinations', 'seed', 'start', 'chaos'];

/** @throws UnusableConfig */
export const configOf = (input: ConfigInput): Config => {
  const parsed = parseConfig(input);
  if (!parsed.ok) throw new UnusableConfig(parsed.problems);
  return parsed.value;
};

/** @throws TestbedMisused */
export const checkOptions = <Known extends Operations>(config: Config, options: TestbedOptions<Known>) => {
  const { downstreams = {}, destinations = {}, seed = 1, start = new Date(START), chaos } = options;
  onlyKnown('option', options, KNOWN);
  onlyKnown('operation', downstreams, Object.keys(config.operations));
  onlyKnown('destination', destinations, Object.keys(config.destinations));
  onlyFunctions('downstreams', downstreams);
  onlyFunctions('destinations', destinations);
  if (!Number.isSafeInteger(seed)) throw new TestbedMisused(`seed is a whole number, not ${String(seed)}`);
  if (!(start instanceof Date) || Number.isNaN(start.getTime())) throw new TestbedMisused('start is a Date');
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
      throw new TestbedMisused(`chaos.${kind} is ${kind === 'skew' ? 'milliseconds' : 'a probability from 0 to 1'}`);
  return { ...NO_FAULTS, ...chaos };
};

/** @throws TestbedMisused, naming those that there are */
const onlyKnown = (what: string, given: object, known: readonly string[]): void => {
  for (const name of Object.keys(given))
    if (!known.includes(name))
      throw new TestbedMisused(`there is no ${what} ${JSON.stringify(name)}: there are ${known.join(', ') || 'none'}`);
};

const onlyFunctions = (option: string, given: object): void => {
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && typeof value !== 'function') throw new TestbedMisused(`${option}.${name} is a function`);
};
