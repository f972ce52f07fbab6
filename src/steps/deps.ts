/** What the steps are given. Each takes only what it names. */
import type { Config } from '../domain/config/resolved.ts';
import type { Downstream } from '../domain/downstream/downstream.ts';
import type { OperationName } from '../domain/ids.ts';
import type { Batches } from '../ports/batches.ts';
import type { DeadLetters } from '../ports/dead-letters.ts';
import type { FanOuts } from '../ports/fan-outs.ts';
import type { Lists } from '../ports/lists.ts';
import type { Locks } from '../ports/locks.ts';
import type { Machine, Report } from '../ports/machine.ts';
import type { Operations } from '../ports/operations.ts';
import type { PatrolMarks } from '../ports/patrol-marks.ts';
import type { Queues } from '../ports/queues.ts';
import type { Tasks } from '../ports/tasks.ts';
import type { WaitingTasks } from '../ports/waiting.ts';

export interface Deps {
  readonly config: Config;
  readonly tasks: Tasks;
  readonly waiting: WaitingTasks;
  readonly locks: Locks;
  readonly batches: Batches;
  readonly operations: Operations;
  readonly fanOuts: FanOuts;
  readonly lists: Lists;
  readonly queues: Queues;
  readonly machine: Machine;
  readonly report: Report;
  /** The downstream of a configured operation. */
  readonly downstreamOf: (operation: OperationName) => Downstream;
  readonly deadLetters: DeadLetters;
  readonly patrolMarks: PatrolMarks;
}
