/**
 * A scenario of a schedule of tasks: the messages that are sent, the actions of people, the faults, and the replaced
 * steps.
 */
import type { Config } from '../../src/domain/config/resolved.ts';
import type { Millis, OperationName, Target, TaskId } from '../../src/domain/ids.ts';
import type { timeForCall } from '../../src/domain/timings.ts';
import type { ProcessedKeys } from '../../src/ports/processed.ts';
import type { WorkingQueue } from '../../src/ports/queues.ts';
import type { Steps } from '../../src/processes/functions.ts';
import type { sweep } from '../../src/steps/repair/sweep.ts';
import type { cancel } from '../../src/steps/tasks/settle.ts';
import type { FaultPoint, Outage } from '../../src/virtual/chaos.ts';
import type { FaultRates } from '../../src/virtual/faults.ts';
import type { ConfigChange } from './configurations.ts';
import type { PartitionLimits } from './partitions.ts';
import type { Poison } from './poison.ts';

/** The steps that a known bug may replace. */
export interface ScheduleSteps extends Steps {
  readonly sweep: typeof sweep;
  readonly cancel: typeof cancel;
  readonly timeForCall: typeof timeForCall;
  /** Replaces the store of processed inputs in every function. */
  readonly processed: (keys: ProcessedKeys) => ProcessedKeys;
}

/** A register message that a producer sends, and the time, in ms from the start. */
interface Send {
  readonly at: Millis;
  readonly body: string;
  /** The additional delay until SQS delivers the message, in ms. @default 0 */
  readonly late?: Millis;
}

/** The events of a schedule, and its settings. */
export interface Scenario {
  readonly seed: number;
  readonly config: Config;
  readonly sends: readonly Send[];
  /** Flushes by a person, and when. */
  readonly flushes: readonly { readonly at: Millis; readonly target: Target }[];
  /** Tasks that a person cancels, and when. */
  readonly cancels?: readonly { readonly at: Millis; readonly id: TaskId }[];
  /** Pauses by a person: the operation or Target, when, and for how many ms. */
  readonly pauses?: readonly { readonly at: Millis; readonly lasts: Millis; readonly of: OperationName | Target }[];
  /** Changes of the configuration, sorted by time. A running function keeps the configuration that it started with. */
  readonly changes?: readonly ConfigChange[];
  /** When a person redrives all failed tasks, and the number of requests for each task. */
  readonly redrives: readonly { readonly at: Millis; readonly times: number }[];
  /**
   * When a person sends messages again: those that were refused because their operation was not configured, and those
   * that SQS lost.
   */
  readonly sendsAgain?: readonly Millis[];
  /** Times in which functions stand still. */
  readonly stops?: readonly Stop[];
  /**
   * Whether months pass: rows expire and are deleted, queues lose old messages, and promises about time are not
   * checked.
   */
  readonly isLong?: boolean;
  /** When the time to live deletes all tasks that have ended. Later messages may use their ids again. */
  readonly expiries?: readonly Millis[];
  /** The number of items of a fan-out that exists from the start. Tasks name these items. */
  readonly items?: number;
  /**
   * When a person purges the elect, the group and the batch queue. The doctor must find the tasks and batches of the
   * lost messages.
   */
  readonly purges: readonly Millis[];
  readonly faults: FaultRates;
  /** When faults end, in ms from the start. The system must then come to rest. */
  readonly faultsEnd: Millis;
  /** Outages, in ms from the start. */
  readonly outages?: readonly Outage[];
  /** The capacity of partition keys, for the whole schedule. @default - unlimited */
  readonly partitions?: PartitionLimits;
  /**
   * Whether the patrol is active. It is off in most scenarios, because it would repair damage that the other steps must
   * not cause.
   */
  readonly patrol: boolean;
  /** The faults to inject instead of random ones, to replay a schedule with fewer faults. */
  readonly script?: readonly FaultPoint[];
  /** Steps that replace the real ones, to put a known bug back. */
  readonly steps?: Partial<ScheduleSteps>;
  /**
   * The most concurrent invocations of each function that leads Targets. Only for schedules in which no function dies.
   * @default - any number
   */
  readonly functionsAtOnce?: number;
  /** What the downstream does instead of its random behaviour. */
  readonly poison?: Poison;
  /** The longest extra time of a request of the sweep, in ms. @default 0 */
  readonly slowSweep?: Millis;
  /** Slots per page. @default - so few that even low caps need several pages */
  readonly slotsPerPage?: number;
  /** The time that a schedule without faults may take beyond the policy, in ms. @default - 10 s */
  readonly slack?: Millis;
}

/**
 * A period in which a function stands still, e.g. because its event source or its schedule is disabled, or a deployment
 * is broken. Times are in ms from the start.
 */
export interface Stop {
  readonly from: Millis;
  readonly until: Millis;
  readonly of: readonly (WorkingQueue | 'sweep')[];
}

/** When events happen, including the start. Delays near these moments are not prolonged. */
export const momentsOf = (scenario: Scenario): readonly Millis[] => {
  const {
    sends,
    flushes,
    cancels = [],
    pauses = [],
    changes = [],
    redrives,
    purges,
    outages = [],
    stops = [],
    sendsAgain = [],
  } = scenario;
  return [
    0,
    scenario.faultsEnd,
    ...[...sends, ...flushes, ...cancels, ...changes, ...redrives].map(({ at }) => at),
    ...pauses.flatMap(({ at, lasts }) => [at, at + lasts]),
    ...[...outages, ...stops].flatMap(({ from, until }) => [from, until]),
    ...purges,
    ...sendsAgain,
  ];
};
