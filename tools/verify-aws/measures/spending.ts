/** Reads from CloudWatch what the loads of a run have cost so far. */
import type { Millis } from '../../../src/domain/ids.ts';
import { MINUTE } from '../../../src/domain/timings.ts';
import { LOADS } from '../loads/plan.ts';
import { minutesAround } from '../loads/span.ts';
import { readMetrics } from './cloudwatch.ts';
import { costOfFigures } from './cost.ts';
import { figuresOf, queriesOf } from './figures.ts';
import type { Resources } from './resources.ts';

const EVERY: Millis = 5 * MINUTE;

export interface Watching {
  readonly region: string;
  readonly resources: Resources;
  /** Called with the cost so far in US dollars, unless CloudWatch does not report it. */
  readonly onCost: (cost: number) => void;
  /** Called with the cause of a failed request. The next request follows in five minutes. */
  readonly onFailure: (cause: unknown) => void;
}

/** Reads the cost every five minutes until it is stopped. */
export const watchSpending = ({ region, resources, onCost, onFailure }: Watching): { stop(): void } => {
  const from = Date.now();
  // The cost depends on metrics of tables, queues and functions, which all loads share.
  const queries = queriesOf(resources, LOADS[0]);
  const timer = setInterval(async () => {
    try {
      const values = await readMetrics(region, queries, minutesAround(from, Date.now()));
      const cost = costOfFigures(figuresOf(queries, values));
      if (cost !== undefined) onCost(cost);
    } catch (cause) {
      onFailure(cause);
    }
  }, EVERY);
  return { stop: () => clearInterval(timer) };
};
