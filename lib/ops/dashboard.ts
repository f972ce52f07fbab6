/** The dashboard. It answers five questions, in the order in which a person on call asks them. */
import { Aws, Duration, Stack, Token } from 'aws-cdk-lib';
import { type Alarm, AlarmStatusWidget, Dashboard, PeriodOverride, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Config } from '../../src/domain/config/resolved.ts';
import { allLimits, usersOf } from '../../src/domain/limits/limits.ts';
import type { Flow } from '../flow.ts';
import { InvalidProps } from '../invalid-props.ts';
import { LIMITS_SHOWN, QUESTIONS, type Watched } from './graphs.ts';

/**
 * The most metrics of a dashboard, and how many of them each operation, each destination and all else (queues, functions
 * and tables) need at most.
 */
const METRICS = { most: 2_500, operation: 39, destination: 4, rest: 150 };
/** The number of operations that a dashboard has space for: 60 without destinations and limits. */
const spaceFor = (config: Config): number => {
  const limits = allLimits(config).slice(0, LIMITS_SHOWN);
  // One metric of the limit itself, and the calls and the weight of each operation that uses it.
  const ofLimits = limits.reduce((sum, [name]) => sum + 1 + 2 * usersOf(config, name).length, 0);
  const left = METRICS.most - METRICS.rest - METRICS.destination * Object.keys(config.destinations).length - ofLimits;
  return Math.max(0, Math.floor(left / METRICS.operation));
};
/** The largest number of alarms in one widget. */
const ALARMS_MAX = 100;
const FULL_WIDTH = 24;

interface OpsDashboardProps extends Omit<Watched, 'operations'> {
  readonly alarms: readonly Alarm[];
}

export class OpsDashboard extends Construct {
  /** The dashboard. Its name contains the region, because CloudWatch lists the dashboards of all regions together. */
  readonly dashboard: Dashboard;
  readonly #flow: Flow;
  readonly #name: string;

  /** @throws InvalidProps for a second dashboard of the same instance. */
  constructor(scope: Construct, id: string, { alarms, ...props }: OpsDashboardProps) {
    super(scope, id);
    this.#flow = props.flow;
    this.#name = this.#nameOf(props.flow);
    const all = Object.values(props.config.operations);
    const watched = { ...props, operations: all.slice(0, spaceFor(props.config)) };
    // This construct id must not change: with another id, an upgrade would delete the dashboard that has this name.
    this.dashboard = new Dashboard(new Construct(this, 'Factory'), 'Dashboard', {
      dashboardName: `${this.#name}-${Aws.REGION}`,
      defaultInterval: Duration.hours(3),
      periodOverride: PeriodOverride.INHERIT,
    });
    for (let from = 0; from < alarms.length; from += ALARMS_MAX) {
      const some = alarms.slice(from, from + ALARMS_MAX);
      this.dashboard.addWidgets(
        new AlarmStatusWidget({ title: 'Alarms', alarms: some, width: FULL_WIDTH, height: rowsOf(some.length) }),
      );
    }
    if (all.length > watched.operations.length)
      this.#heading(`Of ${all.length} operations, these graphs show the first ${watched.operations.length}`);
    for (const [title, graphs] of QUESTIONS) {
      this.#heading(title);
      this.dashboard.addWidgets(...graphs(watched));
    }
  }

  #heading(text: string): void {
    this.dashboard.addWidgets(new TextWidget({ markdown: `### ${text}`, width: FULL_WIDTH, height: 1 }));
  }

  /**
   * The name of the dashboard: the stack's name, or if there are several instances, a name that is different for each
   * of them in all stacks. A `_` separates its parts, because no stack name contains a `_`.
   */
  #nameOf(flow: Flow): string {
    const { stackName } = Stack.of(this);
    const others = this.#others();
    const same = others.find((each) => each.#flow === flow);
    if (same)
      throw new InvalidProps(
        this,
        `${same.node.path} is a dashboard of the same instance: create one Ops for each instance`,
      );
    const names = [
      ...(flow.service === Stack.of(flow).stackName ? [stackName] : []),
      ...(Token.isUnresolved(flow.service) ? [] : [flow.service.replace(/[./]/g, '_')]),
    ];
    const free = names.find((name) => others.every((each) => each.#name !== name));
    return free ?? `${stackName}_${flow.node.addr.slice(-8)}`;
  }

  /** Other dashboards in the same stack that were created before this one. */
  #others(): OpsDashboard[] {
    const stack = Stack.of(this);
    const isOther = (each: unknown): each is OpsDashboard =>
      each instanceof OpsDashboard && each !== this && Stack.of(each) === stack;
    return stack.node.findAll().filter(isOther);
  }
}

/** Height of the alarm widget. One row shows five alarms. */
const rowsOf = (alarms: number): number => 1 + Math.ceil(alarms / 5);
