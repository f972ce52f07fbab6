/** What the steps are given. Each takes only what it names. */
import type { Config } from '../config/resolved.ts';
import type { Lists } from '../deferred/store.ts';
import type { Downstream } from '../downstream/downstream.ts';
import type { FanOuts } from '../fan-out/store.ts';
import type {
  Batches,
  DeadLetters,
  Locks,
  Machine,
  Operations,
  PatrolMarks,
  Queues,
  Report,
  Tasks,
  WaitingTasks,
} from '../ports.ts';
import type { OperationName } from './ids.ts';

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
