/**
 * The ports that the steps need, one type for each group of steps. A Lambda function gets access only to the tables
 * that its steps need.
 */

import type { Config } from '../domain/config/resolved.ts';
import type { Downstream } from '../domain/downstream/downstream.ts';
import type { OperationName } from '../domain/ids.ts';
import type { Batches } from '../ports/batches.ts';
import type { Buckets } from '../ports/buckets.ts';
import type { FanOuts } from '../ports/fan-outs.ts';
import type { Lists } from '../ports/lists.ts';
import type { Locks, PatrolMarks } from '../ports/locks.ts';
import type { Machine, Report } from '../ports/machine.ts';
import type { Operations } from '../ports/operations.ts';
import type { DeadLetters, Queues } from '../ports/queues.ts';
import type { Tasks } from '../ports/tasks.ts';
import type { WaitingTasks } from '../ports/waiting.ts';
import type { Powers } from './producers/judge.ts';

/** For finding a leader for a Target and changing an operation's slots. The elect function has only these ports. */
export interface LeadDeps {
  readonly config: Config;
  readonly waiting: WaitingTasks;
  readonly locks: Locks;
  readonly operations: Operations;
  readonly buckets: Buckets;
  /** For batches that wait under a limit for their next attempt. */
  readonly batches: Pick<Batches, 'get'>;
  readonly queues: Queues;
  readonly machine: Machine;
  readonly report: Report;
}

/** For checking batches and freeing their slots. They give no access to tasks, because the sweep has none. */
export interface BatchDeps extends LeadDeps {
  readonly batches: Batches;
}

/** For starting and ending tasks. The register function has no access to operations. */
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

/** For forming batches of tasks. */
export type GroupDeps = BatchDeps & TaskDeps;

/** For handling batches. */
export type CallDeps = GroupDeps & {
  /** The downstream of a configured operation. */
  readonly downstreamOf: (operation: OperationName) => Downstream;
};

/**
 * For tracking fan-outs. Fan-outs can be used without tasks, so of the queues these steps need only the callback queue.
 */
export interface FanOutDeps {
  readonly config: Config;
  readonly fanOuts: FanOuts;
  readonly queues: Pick<Queues, 'callbacks'>;
  readonly machine: Machine;
  readonly report: Report;
}

/** For handing out the jobs of deferred lists. */
export interface ListDeps extends FanOutDeps {
  readonly lists: Lists;
  readonly queues: Pick<Queues, 'callbacks' | 'register'>;
}

/** For sending dead letters again. */
export interface DeadLetterDeps {
  readonly config: Config;
  readonly deadLetters: DeadLetters;
  readonly queues: Queues;
  readonly machine: Machine;
  readonly report: Report;
}

/** For registering tasks, including tasks made from the jobs of a list. */
export type RegisterDeps = TaskDeps & ListDeps & { readonly powers: Powers };

/** For the sweep, which finds and repairs stuck work each minute. */
export type SweepDeps = BatchDeps & ListDeps & DeadLetterDeps & { readonly patrolMarks: PatrolMarks };

/** The ports of all steps. */
export type Deps = CallDeps & RegisterDeps & SweepDeps;
