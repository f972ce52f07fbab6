/** The metrics' names: what λs count, and whoever draws or alarms on it looks for. */

export const NAMESPACE = 'Groupage';

/** The dimension that tells one deployment from another: the stack's name. Every metric has it. */
export const STACK_DIMENSION = 'service';

/**
 * Counters, each with the dimension that it has beside the stack. Never the Target: there are too many of them, and each
 * would be a metric to pay for.
 */
export const METRICS = {
  /** Failed tasks that got another run. */
  TasksRedriven: 'operation',
  /** Requests that jobs for many answered, or that needed none. */
  RequestsMerged: 'operation',
  /** Inputs that those needed, each counted once. */
  InputsMerged: 'operation',
  /** Those of them that earlier jobs had done. */
  InputsSkipped: 'operation',
  /** Jobs that took such a call. */
  JobsStarted: 'operation',
  /** Dead letters, and refused messages, that were sent again. */
  DeadLettersRevived: 'queue',
  /** Dead letters that none of the λs wrote, put into the rejected queue. */
  DeadLettersUnreadable: 'queue',
  /** Targets whose tasks waited with nobody to lead them. */
  StrandedRepaired: 'operation',
  /** Locks whose leader was gone. */
  ExpiredLocksRepaired: 'operation',
  /** Batches that were begun, with nobody left to finish them. */
  LeaderlessBatchesRepaired: 'operation',
  /** Targets that waited for room of which nobody would have told them. */
  ForgottenRepaired: 'operation',
  /** Batches that were over and still counted as under way. */
  StuckSlotsRepaired: 'operation',
  /** Batches whose message was lost. */
  OverdueBatchesRepaired: 'operation',
  /** Events that came to their destination. */
  CallbacksDelivered: 'destination',
  /** Tries to bring an event to its destination that came to nothing. */
  CallbacksFailed: 'destination',
  /** Downstreams that were down, or wrongly configured: batches wait. */
  CircuitOpened: 'operation',
  /** Downstreams that take calls again. */
  CircuitClosed: 'operation',
} as const;

export type MetricName = keyof typeof METRICS;
