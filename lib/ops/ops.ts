/** To operate a flow: the dashboard and the alarms of it (docs/operating.md). */
import type { Alarm, IAlarmAction } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { type Config, NO_ALARMS } from '../../src/domain/config/resolved.ts';
import type { Flow } from '../flow.ts';
import { InvalidProps } from '../invalid-props.ts';
import type { Tables } from '../tables.ts';
import { type AlarmId, Alarms } from './alarm.ts';
import { OpsDashboard } from './dashboard.ts';
import { measuredIn } from './measured.ts';
import { watchesOf, watchesOfLimits } from './watches.ts';

export interface OpsProps {
  readonly config: Config;
  readonly flow: Flow;
  readonly tables: Tables;
}

/**
 * The dashboard, and an alarm for all that a person should see to. Alarms tell `alarms.topic` of the configuration, and
 * whatever actions are added here.
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

  constructor(scope: Construct, id: string, { config, flow, tables }: OpsProps) {
    super(scope, id);
    const measured = measuredIn(flow);
    const byName = tablesOf(tables);
    // Whoever makes this construct wants alarms, whatever the configuration says of a stack of their own.
    const policy = config.alarms ?? NO_ALARMS;
    const watches = [...watchesOf(config, policy, flow, measured), ...watchesOfLimits(flow, byName)];
    this.alarms = new Alarms(this, 'Alarms', { watches, policy }).alarms;
    this.dashboard = new OpsDashboard(this, 'Dashboard', {
      config,
      flow,
      tables: byName,
      measured,
      alarms: this.alarms,
    });
  }

  /** What happens when any of the alarms goes on. */
  addAlarmAction(...actions: IAlarmAction[]): void {
    for (const alarm of this.alarms) alarm.addAlarmAction(...actions);
  }

  /** What happens when any of the alarms goes off. */
  addOkAction(...actions: IAlarmAction[]): void {
    for (const alarm of this.alarms) alarm.addOkAction(...actions);
  }

  /**
   * One of the alarms, by what it watches.
   *
   * @throws InvalidProps where there is none of an operation, destination, queue, function or table of that name
   */
  alarm(id: AlarmId): Alarm {
    const alarm = this.alarms.find(({ node }) => node.id === id);
    if (alarm) return alarm;
    const ids = this.alarms.map(({ node }) => node.id);
    throw new InvalidProps(this, `there is no alarm ${JSON.stringify(id)}: there are ${ids.join(', ')}`);
  }
}

const tablesOf = ({ task, batchLock, batch, fanOut, list, fleet }: Tables): Readonly<Record<string, Table>> => ({
  task,
  batchLock,
  batch,
  fanOut,
  list,
  fleet: fleet.table,
});
