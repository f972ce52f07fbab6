/** What an alarm consists of. */
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';

/**
 * All possible ids of alarms. The part after the hyphen is the name of the operation, limit, destination, queue,
 * function, table or index.
 */
export type AlarmId =
  | 'Rejected'
  | 'Repairs'
  | 'RegisterAge'
  | 'CallbackAge'
  | 'GivenUp'
  | 'SweepRuns'
  | 'SweepErrors'
  | 'SweepCut'
  | 'FanOutsExpired'
  | 'FanOutsFailed'
  | 'JobsUndeliverable'
  | 'ClaimsRefused'
  | `${'Late' | 'Failed' | 'Circuit' | 'Takeovers'}-${string}`
  | `Limit-${string}`
  | `${'DeadLetters' | 'Vanishing' | 'Callbacks' | 'Throttled' | 'ReadThrottled' | 'WriteThrottled' | 'IndexThrottled'}-${string}`;

export interface Watch {
  /** Unique among a deployment's alarms. The logical id is derived from it. */
  readonly id: AlarmId;
  readonly metric: Metric;
  /**
   * The alarm goes into ALARM if the metric is at least this value. If `below` is set, it does so if the metric is less
   * than this value.
   */
  readonly threshold: number;
  readonly below?: true;
  /** Number of consecutive periods in which the metric must cross the threshold. @default 1 */
  readonly periods?: number;
  /** What happened, in a clause. */
  readonly says: string;
  /** The consequences and the remedy, in a clause. */
  readonly todo: string;
  /** The anchor of a heading in docs/how-to/operate.md, as GitHub generates it. */
  readonly section: string;
}

/**
 * Number of periods of five minutes. A function that fails or is throttled for this long does not recover without help.
 */
export const LASTING = 3;
