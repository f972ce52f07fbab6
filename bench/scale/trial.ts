/** One simulation at scale: the real steps, with the limits of a deployment and of DynamoDB's partition keys. */

import { type ConfigInput, parseConfig } from '../../src/domain/config/schema/config.ts';
import type { Millis, TaskId } from '../../src/domain/ids.ts';
import type { Outcome } from '../../tools/simulate/outcome.ts';
import { AWS, type Platform } from '../../tools/simulate/platform.ts';
import { type SimulateOptions, simulate } from '../../tools/simulate/simulate.ts';
import type { Arrivals } from '../../tools/simulate/trace.ts';
import { Partitions } from '../../verification/batches/partitions.ts';

export type OperationInput = Partial<ConfigInput['operations'][string]>;

/** The `maxConcurrency` of the event sources in lib/flow-handlers.ts. The elect-leader function has half of it. */
const MAX_CONCURRENCY = 100;

/**
 * Every request takes the same time, so that the rows of a table differ because of their settings and not by chance.
 */
const EVEN: Platform = { ...AWS, request: { p50: 6, p99: 6 }, delivery: { p50: 10, p99: 10 } };

/** A deployment that was idle before: each event source starts with five pollers. */
export const COLD: Platform = { ...EVEN, pollers: { ...EVEN.pollers, most: MAX_CONCURRENCY } };
/** A deployment that had the same load before: all pollers are active. */
export const WARM: Platform = {
  ...EVEN,
  pollers: { ...EVEN.pollers, first: MAX_CONCURRENCY, perMinute: 0, most: MAX_CONCURRENCY },
};

export interface Trial extends Omit<SimulateOptions, 'config' | 'capacity'> {
  readonly operations: Readonly<Record<string, OperationInput>>;
  readonly limits?: ConfigInput['limits'];
  readonly arrivals: Arrivals;
}

export interface Tried extends Outcome {
  readonly partitions: Partitions;
  /** The number of tasks that were in more than one successful call. */
  readonly twice: number;
  readonly tasks: number;
}

const DOWNSTREAM = { kind: 'http', url: 'http://127.0.0.1:1/batch' } as const;

const configOf = ({ operations, limits }: Pick<Trial, 'operations' | 'limits'>) => {
  const named = Object.entries(operations).map(([name, fields]) => [
    name,
    { target: ['depot'], downstream: DOWNSTREAM, ...fields },
  ]);
  const parsed = parseConfig({ operations: Object.fromEntries(named), ...(limits ? { limits } : {}) });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
};

export const tryOut = async ({
  operations,
  limits,
  onCall,
  surroundings = WARM,
  ...options
}: Trial): Promise<Tried> => {
  const partitions = new Partitions();
  const done = new Set<TaskId>();
  let twice = 0;
  const outcome = await simulate({
    surroundings,
    ...options,
    config: configOf({ operations, ...(limits ? { limits } : {}) }),
    capacity: partitions.spend,
    onCall: (heard, now) => {
      onCall?.(heard, now);
      if (heard.answered !== 'done') return;
      for (const { id } of heard.call.items) {
        if (done.has(id)) twice += 1;
        done.add(id);
      }
    },
  });
  return { ...outcome, partitions, twice, tasks: outcome.operations.reduce((sum, { tasks }) => sum + tasks, 0) };
};

/** The operation of a trial that has only one operation. */
export const only = ({ operations }: Outcome): Outcome['operations'][number] => {
  const [operation, another] = operations;
  if (!operation || another) throw new Error('not one operation');
  return operation;
};

/** The number of tasks a second, from the first send to the last end. */
export const perSecond = (tried: Tried): number => (tried.tasks * 1_000) / tried.span;

/** Tasks at a constant rate. @param depotOf returns the Target of the n-th task */
export function* steady(
  { rate, seconds, operation = 'ship' }: { rate: number; seconds: number; operation?: string },
  depotOf: (n: number) => string | number = () => 0,
): Generator<{ at: Millis; operation: string; payload: string }> {
  for (let n = 0; n < rate * seconds; n += 1)
    yield { at: Math.floor((n * 1_000) / rate), operation, payload: `{"depot":"D${depotOf(n)}","n":${n}}` };
}
