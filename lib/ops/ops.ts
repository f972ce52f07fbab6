/** The dashboard and alarms with which a person operates a flow (docs/how-to/operate.md). */
import { Alarm, ComparisonOperator, type IAlarmAction, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { type AlarmPolicy, type Config, NO_ALARMS } from '../../src/domain/config/resolved.ts';
import type { Flow } from '../flow.ts';
import { measuredIn } from '../instance-metrics.ts';
import { InvalidProps } from '../invalid-props.ts';
import type { PublishedNames } from '../published-names.ts';
import type { Tables } from '../tables.ts';
import { watchesOf } from './alarms.ts';
import { OpsDashboard } from './dashboard.ts';
import { resourcesOf } from './resources.ts';
import type { AlarmId, Watch } from './watch.ts';

export interface OpsProps {
  readonly config: Config;
  readonly flow: Flow;
  readonly tables: Tables;
  /**
   * The published names of all resources of `flow` and `tables`. Only Groupage's own CDK app sets it.
   * @default - references of CDK, which are exports if `flow` is in another stack
   */
  readonly names?: PublishedNames;
}

/**
 * The dashboard, and an alarm for every problem that a person must solve. The alarms notify `alarms.topic` of the
 * configuration, and perform the actions that are added to this construct.
 *
 * ```ts
 * const ops = new Ops(this, 'Ops', groupage);
 * ops.addAlarmAction(new SnsAction(onCall));
 * ops.alarm('Late-ship').addAlarmAction(new SnsAction(logistics));
 * ```
 */
export class Ops extends Construct {
  readonly alarms: readonly Alarm[];
  readonly dashboard: OpsDashboard;

  constructor(scope: Construct, id: string, { config, flow, tables, names }: OpsProps) {
    super(scope, id);
    const measured = measuredIn(flow);
    const resources = resourcesOf(flow, tables, names?.readIn(this) ?? ((name) => name));
    // This construct always creates alarms. `alarms: null` in the configuration only means that the CDK app has no ops
    // stack.
    const policy = config.alarms ?? NO_ALARMS;
    const watches = watchesOf(config, policy, flow, resources, measured);
    this.alarms = new Alarms(this, 'Alarms', { watches, policy }).alarms;
    this.dashboard = new OpsDashboard(this, 'Dashboard', {
      config,
      flow,
      resources,
      measured,
      alarms: this.alarms,
    });
  }

  /** Adds actions for when any alarm goes into ALARM. */
  addAlarmAction(...actions: IAlarmAction[]): void {
    for (const alarm of this.alarms) alarm.addAlarmAction(...actions);
  }

  /** Adds actions for when any alarm returns to OK. */
  addOkAction(...actions: IAlarmAction[]): void {
    for (const alarm of this.alarms) alarm.addOkAction(...actions);
  }

  /**
   * One of the alarms by its id.
   *
   * @throws InvalidProps if there is no alarm for an operation, limit, destination, queue, function, table or index of that
   * name.
   */
  alarm(id: AlarmId): Alarm {
    const alarm = this.alarms.find(({ node }) => node.id === id);
    if (alarm) return alarm;
    const ids = this.alarms.map(({ node }) => node.id);
    throw new InvalidProps(this, `there is no alarm ${JSON.stringify(id)}: there are ${ids.join(', ')}`);
  }
}

interface AlarmsProps {
  readonly watches: readonly Watch[];
  readonly policy: AlarmPolicy;
}

/**
 * Creates the alarms. Each alarm uses one metric and no metric math, because an alarm is billed by its metrics. An
 * alarm on a sum costs as much as one alarm for each metric, but does not show which metric is the cause.
 */
class Alarms extends Construct {
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
        // Missing data means that nothing happened. An alarm with `below` must go off in that case.
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
