/** What happens in a schedule of tasks: what is sent, by whom, what people do, what goes wrong, and what stands in for ours. */
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

/** The steps that stand in for ours may be these. */
export interface ScheduleSteps extends Steps {
  readonly sweep: typeof sweep;
  readonly cancel: typeof cancel;
  readonly timeForCall: typeof timeForCall;
  /** Changes what every function reads and writes of the inputs that jobs have done. */
  readonly processed: (keys: ProcessedKeys) => ProcessedKeys;
}

/** A register message that a producer sends, and when, in ms from the start. */
interface Send {
  readonly at: Millis;
  readonly body: string;
  /** By how much later than others SQS delivers it. @default 0 */
  readonly late?: Millis;
}

/** What is sent, and to whom. */
export interface Scenario {
  readonly seed: number;
  readonly config: Config;
  readonly sends: readonly Send[];
  /** Targets that somebody flushes, and when. */
  readonly flushes: readonly { readonly at: Millis; readonly target: Target }[];
  /** Tasks that somebody cancels, and when. */
  readonly cancels?: readonly { readonly at: Millis; readonly id: TaskId }[];
  /** What somebody pauses, an operation or a Target, when, and how long after he resumes it. */
  readonly pauses?: readonly { readonly at: Millis; readonly lasts: Millis; readonly of: OperationName | Target }[];
  /** What somebody changes of the configuration. Sorted by time. Functions that began before go on with what they have. */
  readonly changes?: readonly ConfigChange[];
  /** When somebody redrives what has failed by then, and how often they ask. */
  readonly redrives: readonly { readonly at: Millis; readonly times: number }[];
  /** When somebody sends again what was refused since its operation was not configured, and what SQS kept no longer. */
  readonly sendsAgain?: readonly Millis[];
  /** Functions that stand still for some time. */
  readonly stops?: readonly Stop[];
  /** Whether months pass: rows expire and go, queues lose what is too old, and nothing is said about time. */
  readonly isLong?: boolean;
  /** When the time to live deletes what has ended by then. What is sent after that may use its ids again. */
  readonly expiries?: readonly Millis[];
  /** How many items a fan-out has that is there from the start, for tasks that name its items. */
  readonly items?: number;
  /** When somebody purges the elect, the group and the batch queue: what was in them is for a doctor to find. */
  readonly purges: readonly Millis[];
  readonly faults: FaultRates;
  /** When faults end, in ms from the start: later everything must come to rest. */
  readonly faultsEnd: Millis;
  /** What is down, and when, in ms from the start. */
  readonly outages?: readonly Outage[];
  /** What partitions bear, for as long as the schedule lasts. @default - whatever comes */
  readonly partitions?: PartitionLimits;
  /** Whether the patrol takes part. It would mend what the rules of the flow must not break, so mostly it does not. */
  readonly patrol: boolean;
  /** The faults that happen, instead of some by their rates: to replay a schedule with fewer of them. */
  readonly script?: readonly FaultPoint[];
  /** Which step stands in for ours: to put a known bug back. */
  readonly steps?: Partial<ScheduleSteps>;
  /** Runs of each of the functions that lead Targets, at once and at the most. For schedules in which no function dies. @default - any number */
  readonly functionsAtOnce?: number;
  /** How much longer a request of the sweep takes, at the most. @default 0 */
  readonly slowSweep?: Millis;
  /** Slots of a page. @default - so few that small caps have several pages */
  readonly slotsPerPage?: number;
  /** What it may take beyond the policy if nothing goes wrong. @default - 10 s */
  readonly slack?: Millis;
}

/** A function that stands still: somebody switched its event source or its schedule off, or a deployment is broken. In ms from the start. */
export interface Stop {
  readonly from: Millis;
  readonly until: Millis;
  readonly of: readonly (WorkingQueue | 'sweep')[];
}

/** When something happens, from the start on: then nothing is quiet. */
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
