/** The alarms of a fleet whose workers write metrics (`runFleet({ metrics: 'emf' })`). */
import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { NAMESPACE } from '../src/domain/events/metrics.ts';
import { FLEET_DIMENSION, type FleetMetricName } from '../src/domain/fleets/metrics.ts';

export interface FleetAlarmsProps {
  /** The topic that the alarms notify. @default - none; the alarms are only shown */
  readonly topic?: ITopic;
  /**
   * The time for which partitions may be without work before the alarm, in whole minutes. It should be longer than
   * `restartWithin` and a deployment of all workers.
   * @default Duration.minutes(5)
   */
  readonly unworkedFor?: Duration;
  /** The age of a checkpoint from which there is an alarm. @default - no such alarm */
  readonly maxCheckpointAge?: Duration;
}

interface FleetWatch {
  readonly id: string;
  readonly metric: FleetMetricName;
  readonly statistic: string;
  readonly threshold: number;
  readonly minutes: number;
  /** Whether missing data means that something is wrong. @default false */
  readonly mustExist?: true;
  /** What happened, and what to do, in a sentence. */
  readonly says: string;
}

const watches = (fleet: string, { unworkedFor, maxCheckpointAge }: FleetAlarmsProps): readonly FleetWatch[] => [
  {
    id: 'Unworked',
    metric: 'PartitionsUnworked',
    statistic: Stats.MAXIMUM,
    threshold: 1,
    minutes: (unworkedFor ?? Duration.minutes(5)).toMinutes(),
    mustExist: true,
    says: `Partitions of fleet ${fleet} have been without work for minutes, or no worker writes metrics. Their work waits. See \`groupage fleet show ${fleet}\`, and start workers`,
  },
  {
    id: 'Stuck',
    metric: 'HandlersStuck',
    statistic: Stats.SUM,
    threshold: 1,
    minutes: 2,
    says: `onPartition in fleet ${fleet} ignores the loss of its partition, so two workers may do the same work: let it return when partition.lost aborts, and restart the worker`,
  },
  {
    id: 'Finished',
    metric: 'HandlersFinished',
    statistic: Stats.SUM,
    threshold: 1,
    minutes: 5,
    says: `onPartition in fleet ${fleet} returned by itself, so its partitions are without work: see the event finished in the log, and set whenFinished`,
  },
  {
    id: 'Evicted',
    metric: 'NodesEvicted',
    statistic: Stats.SUM,
    threshold: 1,
    minutes: 15,
    says: `A worker of fleet ${fleet} was evicted, because it crashed or wrote no heartbeat in time. Others have its partitions. Look for crashes, and for the events evicted and blocked in the logs`,
  },
  ...(maxCheckpointAge === undefined
    ? []
    : [
        {
          id: 'CheckpointAge',
          metric: 'CheckpointAge',
          statistic: Stats.MAXIMUM,
          threshold: maxCheckpointAge.toMilliseconds(),
          minutes: 3,
          says: `A partition of fleet ${fleet} has stored no checkpoint for too long: find its owner with \`groupage fleet show ${fleet} --partitions\`, and read the log of that worker`,
        } as const,
      ]),
];

export class FleetAlarms extends Construct {
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, { fleet, ...props }: FleetAlarmsProps & { readonly fleet: string }) {
    super(scope, id);
    const { topic } = props;
    this.alarms = watches(fleet, props).map(({ id: name, metric, statistic, threshold, minutes, mustExist, says }) => {
      // One datum for a quarter of an hour, or one for each minute.
      const isRare = name === 'Evicted';
      const alarm = new Alarm(this, name, {
        alarmDescription: `${says}.`,
        metric: new Metric({
          namespace: NAMESPACE,
          metricName: metric,
          dimensionsMap: { [FLEET_DIMENSION]: fleet },
          statistic,
          period: Duration.minutes(isRare ? minutes : 1),
        }),
        threshold,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluationPeriods: isRare ? 1 : minutes,
        treatMissingData: mustExist ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
      });
      if (topic) {
        const action = new SnsAction(topic);
        alarm.addAlarmAction(action);
        alarm.addOkAction(action);
      }
      return alarm;
    });
  }
}
