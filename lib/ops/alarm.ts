/** An alarm: what it watches, and what it says to whoever is called. */
import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { AlarmPolicy } from '../../src/domain/config/resolved.ts';

/** What is rare, and wrong each time, is counted over so long: as long as its alarm stays on at the least. */
export const QUARTER = Duration.minutes(15);

/** Sections of docs/operating.md, as GitHub names their headings in addresses. */
type Section =
  | 'dead-letters'
  | 'the-rejected-queue'
  | 'messages-are-about-to-vanish'
  | 'batches-fail'
  | 'a-circuit-is-open'
  | 'leaders-are-taken-over'
  | 'something-was-stranded'
  | 'callbacks-fail'
  | 'events-were-given-up'
  | 'events-wait'
  | 'tasks-wait-too-long'
  | 'register-messages-wait'
  | 'the-sweep-does-not-run'
  | 'the-sweep-fails'
  | 'the-sweep-runs-out-of-time'
  | 'a-function-is-throttled'
  | 'a-table-is-throttled';

/** What an alarm is of: all that there can be. Behind a hyphen stands which operation, destination, queue, function or table. */
export type AlarmId =
  | 'Rejected'
  | 'Repairs'
  | 'RegisterAge'
  | 'CallbackAge'
  | 'GivenUp'
  | 'SweepRuns'
  | 'SweepErrors'
  | 'SweepCut'
  | `${'Late' | 'Failed' | 'Circuit' | 'Takeovers'}-${string}`
  | `${'DeadLetters' | 'Vanishing' | 'Callbacks' | 'Throttled' | 'ReadThrottled' | 'WriteThrottled'}-${string}`;

export interface Watch {
  /** Unique among a deployment's alarms; its logical id is made of it. */
  readonly id: AlarmId;
  readonly metric: Metric;
  /** It goes on where the metric is this or more, or, with `below`, less. */
  readonly threshold: number;
  readonly below?: true;
  /** For so many of the metric's periods in a row. @default 1 */
  readonly periods?: number;
  /** What is the matter, in a clause. */
  readonly says: string;
  /** What to do, in a clause. */
  readonly todo: string;
  readonly section: Section;
}

export interface AlarmsProps {
  readonly watches: readonly Watch[];
  readonly policy: AlarmPolicy;
}

/**
 * Each watches one metric. No math: an alarm is paid by the metrics that it looks at, so that one of a sum costs as much
 * as one of each, and tells less.
 */
export class Alarms extends Construct {
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, { watches, policy }: AlarmsProps) {
    super(scope, id);
    const topic = policy.topic === null ? undefined : Topic.fromTopicArn(this, 'Topic', policy.topic);
    this.alarms = watches.map(({ id: name, metric, threshold, below, periods = 1, says, todo, section }) => {
      const alarm = new Alarm(this, name, {
        alarmDescription: `${says}: ${todo}. ${policy.runbook}#${section}`,
        metric,
        threshold,
        comparisonOperator: below
          ? ComparisonOperator.LESS_THAN_THRESHOLD
          : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: periods,
        // Nothing is counted where nothing happens; where something has to happen, that is the fault.
        treatMissingData: below ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      });
      if (topic) {
        alarm.addAlarmAction(new SnsAction(topic));
        alarm.addOkAction(new SnsAction(topic));
      }
      return alarm;
    });
  }
}
