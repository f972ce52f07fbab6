/**
 * The metrics: names, units, dimensions and meaning. The Lambda functions write them; the dashboard, the alarms, the
 * console and docs/reference/metrics.md are generated from this list.
 *
 * CloudWatch charges for each metric in each set of dimensions. The Target is therefore no dimension, because there are
 * too many Targets. The log lines contain the Target.
 */

export const NAMESPACE = 'Groupage';

/** The dimension that identifies the deployment, by the stack's name. Every metric has it. */
export const STACK_DIMENSION = 'service';

/** The other dimensions. */
export type DimensionName = 'operation' | 'reason' | 'queue' | 'destination' | 'limit';

/** Units, in CloudWatch's own spelling. */
export type Unit = 'Count' | 'Milliseconds' | 'Percent';

interface Metric {
  readonly unit: Unit;
  /** The metric's dimensions, besides the stack. */
  readonly by: readonly DimensionName[];
  /** The meaning in one sentence. */
  readonly meaning: string;
}

const counts = <const By extends readonly DimensionName[]>(meaning: string, ...by: By) =>
  ({ unit: 'Count', by, meaning }) as const;
const lasts = (meaning: string) => ({ unit: 'Milliseconds', by: ['operation'], meaning }) as const;

export const METRICS = {
  TasksRegistered: counts('New tasks registered', 'operation'),
  TasksRejected: counts('Messages sent to the rejected queue', 'operation'),
  TasksSucceeded: counts('Tasks that succeeded, including tasks that a newer task replaced', 'operation'),
  TasksFailed: counts('Tasks that failed, including expired and cancelled tasks', 'operation'),
  TasksExpired: counts('Tasks that expired (`expiresIn`) before they were in a batch', 'operation'),
  TasksRedriven: counts('Failed tasks that were redriven', 'operation'),
  OldestWaiting: lasts(
    'Age of the oldest waiting task among the Targets scanned (all Targets, or one sixtieth of them in each minute), in milliseconds',
  ),

  BatchesSealed: counts('Batches sealed, by the reason for sealing', 'operation', 'reason'),
  FillRatio: {
    unit: 'Percent',
    by: ['operation'],
    meaning: 'Tasks in a sealed batch as a percentage of `batch.maxSize`',
  },
  Wait: lasts('Time from the registration of the oldest task of a batch until the batch was sealed, in milliseconds'),
  BatchesSucceeded: counts('Finished batches in which every task succeeded', 'operation'),
  BatchesFailed: counts('Finished batches in which at least one task failed', 'operation'),
  BatchesRetried: counts('Attempts that left tasks open, so that another attempt follows', 'operation'),

  DownstreamCalls: counts('Calls to the downstream', 'operation'),
  DownstreamErrors: counts(
    'Calls to the downstream that failed: refused, answered with an error, or not answered',
    'operation',
  ),
  DownstreamLatency: lasts('Duration of a call to the downstream, in milliseconds'),
  WeightUsed: counts(
    'Weight of calls under a limit of `weight`: as the downstream reported it, otherwise the sum of the tasks',
    'operation',
  ),
  LimitWait: {
    unit: 'Milliseconds',
    by: ['limit'],
    meaning:
      'Age of the oldest task of a call that a limit delays, at the time when the call may start, in milliseconds',
  },
  CircuitOpened: counts(
    'Circuits opened: the downstream fails or is wrongly configured, and batches wait',
    'operation',
  ),
  CircuitClosed: counts('Circuits closed: the downstream accepts calls again', 'operation'),

  LeadersElected: counts('Leaders elected', 'operation'),
  LockTakeovers: counts(
    'Leaders that took over an expired lease, because the previous leader crashed or was too slow',
    'operation',
  ),

  RequestsMerged: counts(
    'Tasks of operations with `merge` that a merged call covered, or whose inputs were already done',
    'operation',
  ),
  InputsMerged: counts('Different inputs that merged tasks needed', 'operation'),
  InputsSkipped: counts('Inputs of merged tasks that an earlier job had already done', 'operation'),
  JobsStarted: counts('Merged calls that started a job', 'operation'),

  DeadLettersRevived: counts('Dead letters, rejected messages and given-up events that were sent again', 'queue'),
  DeadLettersUnreadable: counts(
    'Dead letters that no function of Groupage wrote, which were moved to the rejected queue',
    'queue',
  ),
  StrandedRepaired: counts('Targets repaired that had waiting tasks and no leader', 'operation'),
  ExpiredLocksRepaired: counts('Locks repaired whose lease had expired', 'operation'),
  LeaderlessBatchesRepaired: counts('Forming batches repaired whose leader had crashed', 'operation'),
  ForgottenRepaired: counts(
    'Waiting Targets repaired that were missing from the slot queue of their operation',
    'operation',
  ),
  StuckSlotsRepaired: counts('Finished batches repaired that still counted as in progress', 'operation'),
  OverdueBatchesRepaired: counts('Batches repaired whose next attempt was overdue', 'operation'),
  Repairs: counts('All repairs: the sum of the metrics that end in `Repaired`'),

  CallbacksDelivered: counts('Events delivered to their destination', 'destination'),
  CallbacksFailed: counts('Failed attempts to deliver an event', 'destination'),
  OldestUndelivered: {
    unit: 'Milliseconds',
    by: ['destination'],
    meaning:
      'Age of the oldest event that an invocation could not deliver, since the end of its task, fan-out or list, in milliseconds',
  },
  DestinationsDown: counts(
    'Times a destination was found down, after which it is not called for a while',
    'destination',
  ),
  EventsUntold: counts('Ended tasks, fan-outs and lists without an event, because their destination is not configured'),
  FanOutsCompleted: counts('Fan-outs and lists that completed: all items are done, or too many failed'),
  FanOutsFailed: counts('Fan-outs that completed because too many items had failed'),
  FanOutsOpen: counts('Open and sealed fan-outs among the 100 rows that the sweep reads each minute; a lower bound'),
  OldestFanOut: {
    unit: 'Milliseconds',
    by: [],
    meaning: 'Age of the oldest of these open and sealed fan-outs, in milliseconds',
  },
  FanOutsExpired: counts('Fan-outs that expired, because no item was added or acked for too long'),
  FanOutsRepaired: counts('Fan-outs repaired whose last acks had stopped half-way'),
  ListsOpen: counts('Open and sealed lists among the 100 rows that the sweep reads each minute; a lower bound'),
  JobsAvailable: counts(
    'Jobs of these lists that can be claimed or triggered, and done jobs between them in a released range',
  ),
  JobsLeased: counts('Jobs of these lists that workers have claimed, those included that are done'),
  OldestList: {
    unit: 'Milliseconds',
    by: [],
    meaning: 'Age of the oldest of these open and sealed lists, in milliseconds',
  },
  MostDeliveries: counts('The most deliveries of any claimed or released jobs of these lists'),
  JobsUndeliverable: counts(
    'Jobs of lists that failed because workers got them `maxDeliveries` times without ending them',
  ),
  ClaimsBroken: counts('Claims of workers on jobs of lists that a person ended'),
  ClaimsRefused: counts('Claims that were refused because the list has as many claims as it can have'),
  SweepsCut: counts('Parts of the sweep that ran out of time before they had finished'),
  RulesBroken: counts('Messages that broke a rule for producers in a stage that only warns'),
  ItemsUnknown: counts('Acks of fan-out items that do not exist, or no longer exist'),
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;

/** The value of the dimension `operation` for an operation that is not configured. It is not a valid operation name. */
export const NO_OPERATION = '-';

/** The repairs of the patrol and the doctor, by kind. `Repairs` is their sum. */
export const REPAIRED = [
  'StrandedRepaired',
  'ExpiredLocksRepaired',
  'LeaderlessBatchesRepaired',
  'ForgottenRepaired',
  'StuckSlotsRepaired',
  'OverdueBatchesRepaired',
] as const satisfies readonly MetricName[];
