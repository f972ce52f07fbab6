/** The configuration and the loads of a run, and its predicted cost. */
import type { Config, Operation } from '../../../src/domain/config/resolved.ts';
import { type ConfigInput, parseConfig } from '../../../src/domain/config/schema/config.ts';
import type { Millis } from '../../../src/domain/ids.ts';
import { describeProblems } from '../../../src/util/problems.ts';
import { costOf } from '../../simulate/cost.ts';
import type { DownstreamModel } from '../../simulate/downstream.ts';
import { QUICK } from '../../simulate/downstream.ts';
import { arrivalsOf, type Load } from '../../simulate/load.ts';
import type { Outcome } from '../../simulate/outcome.ts';
import { AWS } from '../../simulate/platform.ts';
import { simulate } from '../../simulate/simulate.ts';
import type { Arrival, Arrivals } from '../../simulate/trace.ts';
import type { Options } from '../options.ts';

/** The loads of a run. Each has an operation of its own name, so that its metrics are separate. */
export const LOADS = ['burst', 'sustained'] as const;
export type LoadName = (typeof LOADS)[number];

export const MAX_SIZE = 100;
export const MAX_WAIT: Millis = 5_000;

/** How fast a burst is sent, in tasks per second. This machine's connection may be slower. */
export const BURST_RATE = 2_000;
const PAYLOAD_BYTES = 300;

/** What the downstream function takes: it sends one message about the call. */
const DOWNSTREAM: DownstreamModel = { ...QUICK, takes: 40 };

/** @param functionName the downstream of both operations */
export const configInput = (functionName: string): ConfigInput => {
  const operation: ConfigInput['operations'][string] = {
    target: ['group'],
    batch: { maxSize: MAX_SIZE, maxWait: `${MAX_WAIT}ms` },
    downstream: { kind: 'lambda', function: functionName, timeout: '20s' },
  };
  return { operations: Object.fromEntries(LOADS.map((name) => [name, operation])) };
};

export const configOf = (functionName: string): Config => {
  const parsed = parseConfig(configInput(functionName));
  if (!parsed.ok) throw new Error(describeProblems(parsed.problems));
  return parsed.value;
};

type Size = Pick<Options, 'burst' | 'rate' | 'duration' | 'targets'>;

/** The tasks of a load, with their times since its start. The same in each run of the same size. */
export function* tasksOf(name: LoadName, size: Size, config: Config): Generator<Arrival> {
  const operation = config.operations[name as Operation['operation']];
  if (!operation) throw new Error(`no operation ${name}`);
  const shared = { bursts: null, targets: size.targets, payload: PAYLOAD_BYTES };
  const load: Load =
    name === 'burst'
      ? { ...shared, rate: BURST_RATE, skew: 0, duration: Number.POSITIVE_INFINITY }
      : { ...shared, rate: size.rate, skew: 1, duration: size.duration };
  let left = name === 'burst' ? size.burst : Number.POSITIVE_INFINITY;
  for (const task of load.rate > 0 ? arrivalsOf(load, operation, 1) : []) {
    if (left <= 0) return;
    left -= 1;
    yield task;
  }
}

/** Number of tasks of each load; for a random load the expected number. */
export const sizesOf = ({ burst, rate, duration }: Size): Readonly<Record<LoadName, number>> => ({
  burst,
  sustained: Math.round((rate * duration) / 1_000),
});

/** The simulator's prediction for tasks that are, or were, sent at these times. */
export const predict = (config: Config, arrivals: Arrivals): Promise<Outcome> =>
  simulate({ config, arrivals, downstream: DOWNSTREAM, surroundings: AWS });

/** Tasks that are simulated to estimate the cost of a task. The cost of further tasks is the same. */
const SAMPLE = 5_000;

/** Predicted cost of a task of each load, in US dollars, with the producer's requests. */
export const costPerTask = async (size: Size, config: Config): Promise<Readonly<Record<LoadName, number>>> => {
  const found = { burst: 0, sustained: 0 };
  for (const name of LOADS) {
    const sample = firstOf(tasksOf(name, size, config), SAMPLE);
    if (sample.length === 0) continue;
    const cost = costOf(await predict(config, sample), AWS);
    found[name] = ((cost.perMillion ?? 0) + cost.producersPerMillion.tenAtOnce) / 1_000_000;
  }
  return found;
};

const firstOf = (tasks: Iterable<Arrival>, most: number): Arrival[] => {
  const found: Arrival[] = [];
  for (const task of tasks) {
    if (found.length === most) break;
    found.push(task);
  }
  return found;
};
