/** What a run has spent: the predicted cost of the tasks sent, or what CloudWatch shows, whichever is more. Pure. */
import { dollars } from '../simulate/figures.ts';
import { LOADS, type LoadName, sizesOf } from './loads/plan.ts';
import type { Options } from './options.ts';

/** Estimates in US dollars: the stage while it has no tasks with its alarms, metrics and logs; and the tests. */
const STAGE = 0.3;
const SUITE = 0.5;

type Wanted = Pick<Options, 'burst' | 'rate' | 'duration' | 'targets' | 'budget' | 'suite'>;

export class Budget {
  readonly #wanted: Wanted;
  readonly #perTask: Readonly<Record<LoadName, number>>;
  readonly #sent: Record<LoadName, number> = { burst: 0, sustained: 0 };
  #measured = 0;

  /** @param perTask predicted cost of a task of each load, in US dollars */
  constructor(wanted: Wanted, perTask: Readonly<Record<LoadName, number>>) {
    this.#wanted = wanted;
    this.#perTask = perTask;
  }

  /** The predicted cost of the whole run by its parts, in US dollars. */
  get byPart(): readonly (readonly [part: string, cost: number])[] {
    const sizes = sizesOf(this.#wanted);
    return [...LOADS.map((load) => [load, sizes[load] * this.#perTask[load]] as const), ...this.#fixed];
  }

  get predicted(): number {
    return sum(this.byPart.map(([, cost]) => cost));
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
    const predicted = sum(LOADS.map((load) => this.#sent[load] * this.#perTask[load]));
    const spent = Math.max(predicted, this.#measured) + sum(this.#fixed.map(([, cost]) => cost));
    return spent < budget ? undefined : `it has spent ${dollars(spent)} of its budget of ${dollars(budget)}`;
  }

  get #fixed(): readonly (readonly [part: string, cost: number])[] {
    return [['the stage', STAGE], ...(this.#wanted.suite ? [['tests', SUITE] as const] : [])];
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
