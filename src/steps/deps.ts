/** What the steps are given: one set for each family of steps. A function on Lambda has the tables of its family, and no others. */

import type { Config } from '../domain/config/resolved.ts';
import type { Downstream } from '../domain/downstream/downstream.ts';
import type { OperationName } from '../domain/ids.ts';
import type { Batches } from '../ports/batches.ts';
import type { FanOuts } from '../ports/fan-outs.ts';
import type { Lists } from '../ports/lists.ts';
import type { Locks, PatrolMarks } from '../ports/locks.ts';
import type { Machine, Report } from '../ports/machine.ts';
import type { Operations } from '../ports/operations.ts';
import type { DeadLetters, Queues } from '../ports/queues.ts';
import type { Tasks } from '../ports/tasks.ts';
import type { WaitingTasks } from '../ports/waiting.ts';

/** To find a Target a leader, or an operation's slots. The elect function has no more than this. */
export interface LeadDeps {
  readonly config: Config;
  readonly waiting: WaitingTasks;
  readonly locks: Locks;
  readonly operations: Operations;
  readonly queues: Queues;
  readonly machine: Machine;
  readonly report: Report;
}

/** To see whether batches go on, and give back their slots. The sweep has no tasks. */
export interface BatchDeps extends LeadDeps {
  readonly batches: Batches;
}

/** To begin and end tasks. The register function has no operations. */
export interface TaskDeps {
  readonly config: Config;
  readonly tasks: Tasks;
  readonly waiting: WaitingTasks;
  readonly locks: Locks;
  readonly batches: Batches;
  readonly fanOuts: FanOuts;
  readonly queues: Queues;
  readonly machine: Machine;
  readonly report: Report;
}

/** To make batches of tasks. */
export type GroupDeps = BatchDeps & TaskDeps;

/** To call about batches. */
export type CallDeps = GroupDeps & {
  /** The downstream of a configured operation. */
  readonly downstreamOf: (operation: OperationName) => Downstream;
};

/** To track fan-outs, which may stand alone: whoever sees to them needs no queue but that of events. */
export interface FanOutDeps {
  readonly config: Config;
  readonly fanOuts: FanOuts;
  readonly queues: Pick<Queues, 'callbacks'>;
  readonly machine: Machine;
  readonly report: Report;
}

/** To hand out the jobs of deferred lists. */
export interface ListDeps extends FanOutDeps {
  readonly lists: Lists;
  readonly queues: Pick<Queues, 'callbacks' | 'register'>;
}

/** To send messages again that nobody works off. */
export interface DeadLetterDeps {
  readonly config: Config;
  readonly deadLetters: DeadLetters;
  readonly queues: Queues;
  readonly machine: Machine;
  readonly report: Report;
}

/** To register tasks, also those that jobs of lists become. */
export type RegisterDeps = TaskDeps & ListDeps;

/** To see each minute to what is stuck. */
export type SweepDeps = BatchDeps & ListDeps & DeadLetterDeps & { readonly patrolMarks: PatrolMarks };

/** All of it. */
export type Deps = CallDeps & RegisterDeps & SweepDeps;
