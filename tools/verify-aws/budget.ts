/** What a run has spent: the predicted cost of the tasks sent, or what CloudWatch shows, whichever is more. Pure. */
import { dollars } from '../simulate/figures.ts';
import { LOADS, type LoadName, sizesOf } from './loads/plan.ts';
import type { Options } from './options.ts';

/** Estimates in US dollars: the stage while it has no tasks with its alarms, metrics and logs; and the tests. */
const STAGE = 0.3;
const SUITE = 0.5;

type Wanted = Pick<Options, 'burst' | 'rate' | 'duration' | 'targets' | 'budget' | 'suite'>;
type PerTask = Readonly<Record<LoadName, number>>;
type Costs = readonly (readonly [part: string, cost: number])[];

/** The predicted cost of a run by its parts, in US dollars. @param perTask that of a task of each load */
export const predictedCosts = (wanted: Wanted, perTask: PerTask): Costs => {
  const sizes = sizesOf(wanted);
  return [...LOADS.map((load) => [load, sizes[load] * perTask[load]] as const), ...fixedCosts(wanted)];
};

const fixedCosts = ({ suite }: Pick<Wanted, 'suite'>): Costs => [
  ['the stage', STAGE],
  ...(suite ? [['tests', SUITE] as const] : []),
];

export const sumOf = (costs: Costs): number => costs.reduce((total, [, cost]) => total + cost, 0);

export class Budget {
  readonly #wanted: Wanted;
  readonly #perTask: PerTask;
  readonly #sent: Record<LoadName, number> = { burst: 0, sustained: 0 };
  #measured = 0;

  /** @param perTask predicted cost of a task of each load, in US dollars */
  constructor(wanted: Wanted, perTask: PerTask) {
    this.#wanted = wanted;
    this.#perTask = perTask;
  }

  /** Counts tasks that were sent. */
  sent(load: LoadName, tasks: number): void {
    this.#sent[load] += tasks;
  }

  /** Sets the cost of the loads so far, in US dollars, as CloudWatch shows it. */
  measured(cost: number): void {
    this.#measured = cost;
  }

  /** Why the run must stop. Undefined while it has money left. */
  get exceeded(): string | undefined {
    const { budget } = this.#wanted;
    const predicted = sumOf(LOADS.map((load) => [load, this.#sent[load] * this.#perTask[load]]));
    const spent = Math.max(predicted, this.#measured) + sumOf(fixedCosts(this.#wanted));
    return spent < budget ? undefined : `it has spent ${dollars(spent)} of its budget of ${dollars(budget)}`;
  }
}
