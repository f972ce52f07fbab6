/** To operate a flow: the dashboard and the alarms of it (docs/operating.md). */
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { type Config, NO_ALARMS } from '../../src/config/resolved.ts';
import type { Flow } from '../flow.ts';
import type { Tables } from '../tables.ts';
import { Alarms } from './alarm.ts';
import { OpsDashboard } from './dashboard.ts';
import { measuredIn } from './measured.ts';
import { watchesOf, watchesOfLimits } from './watches.ts';

export interface OpsProps {
  readonly config: Config;
  readonly flow: Flow;
  readonly tables: Tables;
}

/**
 * The dashboard, and an alarm for all that a person should see to. Alarms tell `alarms.topic` of the configuration;
 * without one, whatever actions are added to {@link Ops.alarms}.
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
}

const tablesOf = ({ task, batchLock, batch, fanOut, list, fleet }: Tables): Readonly<Record<string, Table>> => ({
  task,
  batchLock,
  batch,
  fanOut,
  list,
  fleet: fleet.table,
});
