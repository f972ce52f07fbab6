/** What the HTTP API answers, as far as the page shows it. Those that the command line reads too are its own. */
import type {
  BatchShape,
  FanOutOutlineShape,
  ListOutlineShape,
  OperationShape,
  TargetShape,
  TaskShape,
} from '../../../../shapes.ts';

export type {
  FanOutOutlineShape,
  FanOutShape,
  FleetNodeShape,
  FleetPartitionShape,
  FleetShape,
  ListOutlineShape,
  ListShape,
  OperationShape,
  PauseShape,
  SkippedShape,
  TargetShape,
} from '../../../../shapes.ts';

interface QueueShape {
  readonly queue: string;
  readonly waiting: number;
  readonly inFlight: number;
  readonly delayed: number;
  readonly deadLetters: number;
}
export interface QueuesShape {
  readonly queues: readonly QueueShape[];
  readonly rejected: number;
  /** Where there are destinations. */
  readonly givenUp?: number;
}

export interface TargetsShape {
  readonly targets: readonly TargetShape[];
  readonly cursor?: string;
}

/** The last attempt after which another one was to come: why, with what the downstream answered. */
interface LastAttempt {
  readonly endedAt: string;
  readonly reason: string;
}

export type Batch = BatchShape & {
  readonly operation: string;
  readonly attempts?: number;
  readonly pending?: number;
  readonly members?: readonly string[];
  readonly oldestAt?: string;
  readonly sealedAt?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly nextAttemptAfter?: string;
  readonly lastAttempt?: LastAttempt;
};
export interface BatchesShape {
  readonly batches: readonly Batch[];
  readonly cursor?: string;
}

export type Task = TaskShape & { readonly run?: number; readonly redrivenAt?: string; readonly lastReason?: string };
export interface TasksShape {
  readonly tasks: readonly Task[];
  readonly cursor?: string;
}

export type OperationDetails = OperationShape & {
  readonly groupedBy?: readonly string[];
  readonly batches: readonly string[];
  readonly targets: readonly { readonly target: string; readonly since: string }[];
};

/** Failed tasks of one cause, among those that were looked at. */
export interface FailureGroup {
  readonly key: string;
  readonly operation: string;
  readonly code: string;
  /** The message without what varies from task to task. */
  readonly cause: string;
  /** Of one of them, as it came. */
  readonly message: string;
  readonly tasks: number;
  readonly targets: number;
  readonly ids: readonly string[];
}
export interface FailuresShape {
  readonly groups: readonly FailureGroup[];
  readonly looked: number;
  readonly cursor?: string;
}

export interface FanOutsShape {
  readonly fanOuts: readonly FanOutOutlineShape[];
  readonly cursor?: string;
}
export interface ListsShape {
  readonly lists: readonly ListOutlineShape[];
  readonly cursor?: string;
}
export interface JobShape {
  readonly token: number | string;
  readonly status: string;
  readonly task?: string;
  readonly error?: { readonly code: string; readonly message: string };
}
