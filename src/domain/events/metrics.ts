/**
 * The metrics: their names, units, dimensions and meaning. λs write them, and the dashboard, the alarms, the console and
 * docs/reference/metrics.md are made from this list.
 *
 * Each is paid for by the month, per set of dimensions in which it was ever written. So never the Target, of which there
 * are too many; it is in the log.
 */

export const NAMESPACE = 'Groupage';

/** The dimension that tells one deployment from another: the stack's name. Every metric has it. */
export const STACK_DIMENSION = 'service';

/** The other dimensions. */
export type DimensionName = 'operation' | 'reason' | 'queue' | 'destination';

/** As CloudWatch calls them. */
export type Unit = 'Count' | 'Milliseconds' | 'Percent';

interface Metric {
  readonly unit: Unit;
  /** Its dimensions beside the stack. */
  readonly by: readonly DimensionName[];
  /** In a sentence, for people. */
  readonly meaning: string;
}

const counts = <const By extends readonly DimensionName[]>(meaning: string, ...by: By) =>
  ({ unit: 'Count', by, meaning }) as const;
const lasts = (meaning: string) => ({ unit: 'Milliseconds', by: ['operation'], meaning }) as const;

export const METRICS = {
  TasksRegistered: counts('Tasks that were taken in, each once', 'operation'),
  TasksRejected: counts('Messages that were refused and lie in the rejected queue', 'operation'),
  TasksSucceeded: counts('Tasks that ended well, those that a newer one replaced among them', 'operation'),
  TasksFailed: counts('Tasks that failed for good, those that expired or were cancelled among them', 'operation'),
  TasksExpired: counts('Tasks that no batch had in time', 'operation'),
  TasksRedriven: counts('Failed tasks that got another run', 'operation'),
  OldestWaiting: lasts(
    'For how long the task has waited whose turn is next, of the Targets that were looked at: all of them, or a 60th each minute',
  ),

  BatchesSealed: counts('Batches whose members are final, by why they were sealed', 'operation', 'reason'),
  FillRatio: { unit: 'Percent', by: ['operation'], meaning: 'How full batches are: their tasks of `maxSize`' },
  Wait: lasts("From the registration of a batch's oldest task until it was sealed"),
  BatchesSucceeded: counts('Batches of which every task succeeded', 'operation'),
  BatchesFailed: counts('Batches of which a task failed, or all', 'operation'),
  BatchesRetried: counts('Attempts that left tasks for another one', 'operation'),

  DownstreamCalls: counts('Calls of the downstream', 'operation'),
  DownstreamErrors: counts('Calls that came to nothing: refused, failed, or without an answer', 'operation'),
  DownstreamLatency: lasts('How long a call took'),
  CircuitOpened: counts('Downstreams that were down, or wrongly configured: batches wait', 'operation'),
  CircuitClosed: counts('Downstreams that take calls again', 'operation'),

  LeadersElected: counts('Targets that got a leader', 'operation'),
  LockTakeovers: counts(
    'Leaders that took over from one whose lease had ended: its function died, or was too slow',
    'operation',
  ),

  RequestsMerged: counts('Requests that jobs for many answered, or that needed none', 'operation'),
  InputsMerged: counts('Inputs that those needed, each counted once', 'operation'),
  InputsSkipped: counts('Those of them that earlier jobs had done', 'operation'),
  JobsStarted: counts('Jobs that took such a call', 'operation'),

  DeadLettersRevived: counts('Dead letters, refused messages and given-up events that were sent again', 'queue'),
  DeadLettersUnreadable: counts('Dead letters that none of the λs wrote, put into the rejected queue', 'queue'),
  StrandedRepaired: counts('Targets whose tasks waited with nobody to lead them', 'operation'),
  ExpiredLocksRepaired: counts('Locks whose leader was gone', 'operation'),
  LeaderlessBatchesRepaired: counts('Batches that were begun, with nobody left to finish them', 'operation'),
  ForgottenRepaired: counts('Targets that waited for room of which nobody would have told them', 'operation'),
  StuckSlotsRepaired: counts('Batches that were over and still counted as under way', 'operation'),
  OverdueBatchesRepaired: counts('Batches whose message was lost', 'operation'),
  Repairs: counts('All that was put right: the sum of the metrics that end in `Repaired`'),

  CallbacksDelivered: counts('Events that came to their destination', 'destination'),
  CallbacksFailed: counts('Tries to bring an event to its destination that came to nothing', 'destination'),
  OldestUndelivered: {
    unit: 'Milliseconds',
    by: ['destination'],
    meaning:
      'Age of the oldest event that an invocation could not deliver, since the end of the task, fan-out or list that it reports',
  },
  DestinationsDown: counts('Times that a destination was found down, and not called for a while', 'destination'),
  EventsUntold: counts('Ends of which nobody was told: the destinations that they name are not configured'),
  FanOutsCompleted: counts('Fan-outs and lists of which all is done, or too much has failed'),
  FanOutsExpired: counts('Those that nobody went on with, or that somebody deleted or cancelled'),
  FanOutsRepaired: counts('Fan-outs whose last acks stopped half-way'),
  SweepsCut: counts('Parts of the sweep that ran out of time before they had looked at everything'),
  ItemsUnknown: counts('Items of fan-outs that nobody knows, or knows any more'),
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;

/** Names the operation of what named none that is configured. No operation can be called so. */
export const NO_OPERATION = '-';

/** What the patrol and the doctor put right, each kind. `Repairs` is all of them. */
export const REPAIRED = [
  'StrandedRepaired',
  'ExpiredLocksRepaired',
  'LeaderlessBatchesRepaired',
  'ForgottenRepaired',
  'StuckSlotsRepaired',
  'OverdueBatchesRepaired',
] as const satisfies readonly MetricName[];
