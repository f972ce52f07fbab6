import type { Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { groupageApp } from '../../lib/app.ts';
import { stackNames } from '../../lib/stage.ts';
import { type Config, NO_ALARMS } from '../../src/domain/config/resolved.ts';
import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import { METRICS } from '../../src/domain/events/metrics.ts';
import { configFrom } from '../end-to-end/operations.ts';
import { aConfig, operationName } from '../factories/factories.ts';
import { metricsOfDashboards, widgetsOf } from './rules/dashboard.ts';
import { ofType } from './rules/template.ts';
import { templateOf, type Whole } from './synthesised.ts';
import { context, everyKind, everyKindInput, noCode, ours } from './templates.ts';

describe('the ops stack', () => {
  const names = stackNames('dev');
  const app = groupageApp({
    config: everyKind,
    stage: 'dev',
    context,
    builtinCloudFormationValidation: false,
    code: noCode,
  });
  const [data, flow, ops] = [names.data, names.flow, names.ops].map((name) =>
    templateOf(app.node.findChild(name) as Stack),
  );

  it('exports and imports nothing, so that other stacks can replace resources', () => {
    expect(JSON.stringify(ops)).not.toMatch(/Fn::ImportValue|Fn::GetStackOutput/);
    expect(JSON.stringify(flow?.Outputs)).not.toContain('"Export"');
    // The functions depend on data by an export, which CloudFormation protects.
    expect(JSON.stringify(data?.Outputs)).toContain('"Export"');
  });

  it('reads names at each deployment, also with an unchanged template', () => {
    const published = ofType(flow as Whole, 'AWS::SSM::Parameter').map(([, { Name, Type }]) => [Name, Type]);
    expect(published).toEqual([['/Groupage-dev-Flow/names', 'StringList']]);
    // CloudFormation always fetches the value of such a parameter again, and cdk never skips such a stack.
    expect(Object.values(ops?.Parameters ?? {})).toContainEqual({
      Type: 'AWS::SSM::Parameter::Value<List<String>>',
      Default: '/Groupage-dev-Flow/names',
    });
    expect((app.node.findChild(names.ops) as Stack).dependencies.map(({ stackName }) => stackName)).toEqual([
      names.flow,
    ]);
  });

  it('has names that fit into the parameter, however long they are', () => {
    const [[, { Value } = { Value: {} }] = ['', { Value: {} }]] = ofType(flow as Whole, 'AWS::SSM::Parameter');
    const [, list] = (Value as { 'Fn::Join': [string, object[]] })['Fn::Join'];
    const lengths = list.map((name) => ('Fn::GetAtt' in name ? 80 : 'Ref' in name ? 64 : 255));
    expect(lengths.reduce<number>((sum, each) => sum + each + 1, 0)).toBeLessThanOrEqual(4_096);
  });
});

it("a dashboard stays within CloudWatch's limits, and says how many operations it leaves out", () => {
  const many = Array.from({ length: 70 }, (_, n) => ({ operation: operationName(`op-${n}`) }));
  const template = ours('dev', aConfig(...many));
  expect(metricsOfDashboards(template).length).toBeLessThanOrEqual(2_500);
  const texts = widgetsOf(template).flatMap(({ properties: { markdown } }) => markdown ?? []);
  expect(texts).toContain('### Of 70 operations, these graphs show the first 60');
  for (const { properties } of widgetsOf(template)) {
    expect(properties.metrics?.length ?? 0).toBeLessThanOrEqual(500);
    expect(properties.alarms?.length ?? 0).toBeLessThanOrEqual(100);
  }
  const shown = widgetsOf(template).flatMap(({ properties: { alarms = [] } }) => alarms);
  expect(shown).toHaveLength(ofType(template, 'AWS::CloudWatch::Alarm').length);
});

it('the ops stack has space for 100 operations', () => {
  const many = Array.from({ length: 100 }, (_, n) => ({ operation: operationName(`op-${n}`) }));
  expect(Object.keys(ours('dev', aConfig(...many)).Resources).length).toBeLessThanOrEqual(500);
});

it('a dashboard with many destinations shows fewer operations', () => {
  const downstream = { kind: 'http', url: 'https://example.com/' } as const;
  const merging = { target: ['depot'], merge: { keys: 'inputs[].id' }, downstream };
  const named = <T>(name: string, count: number, value: T) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}-${n}`, value]));
  const config = configFrom({
    operations: named('op', 60, merging),
    destinations: named('to', 80, { kind: 'queue', name: 'ops' } as const),
  });
  const widgets = widgetsOf(ours('dev', config));
  const lines = widgets.reduce((sum, { properties }) => sum + (properties.metrics?.length ?? 0), 0);
  expect(lines).toBeGreaterThan(2_200);
  expect(lines).toBeLessThanOrEqual(2_500);
});

describe('the dashboard shows', () => {
  const merging: ConfigInput['operations'][string] = {
    target: ['depot'],
    batch: { maxWeight: 2_000 },
    downstream: { kind: 'lambda', function: 'parcels' },
    merge: { keys: 'inputs[].id' },
  };
  const config = configFrom({
    ...everyKindInput,
    operations: { merging: { ...merging, limits: ['account', 'vendor'] } },
  });
  const shown = metricsOfDashboards(ours('dev', config));
  const valuesOf = (metric: string, dimension: string) =>
    shown.flatMap(({ name, dimensions }) => (name === metric ? [dimensions[dimension]] : []));

  it('every metric, except those that the others imply', () => {
    const names = new Set(shown.map(({ name }) => name));
    // A batch that did not fail succeeded.
    expect(Object.keys(METRICS).filter((name) => !names.has(name))).toEqual(['BatchesSucceeded']);
  });

  it('what each limit without a key allows, beside what its operations use', () => {
    const titles = widgetsOf(ours('dev', config)).flatMap(({ properties: { title, annotations } }) =>
      title?.includes('under the limit') ? [[title, annotations?.horizontal?.map(({ value }) => value)]] : [],
    );
    expect(titles).toEqual([
      ['Calls under the limit vendor, by operation', [50]],
      ['Weight of calls under the limit vendor, by operation', [450_000]],
    ]);
    expect(valuesOf('LimitWait', 'limit')).toEqual(['vendor', 'account']);
  });

  it('rejected messages without a configured operation', () =>
    expect(valuesOf('TasksRejected', 'operation')).toEqual(['merging', '-']));

  it('units and throttled requests of every index', () => {
    for (const metric of [
      'ConsumedReadCapacityUnits',
      'ConsumedWriteCapacityUnits',
      'ReadThrottleEvents',
      'WriteThrottleEvents',
    ])
      expect(new Set(valuesOf(metric, 'GlobalSecondaryIndexName'))).toEqual(
        new Set([undefined, 'FailedByTarget', 'Targets', 'ByTarget', 'UnderWay', 'ByCheckAt']),
      );
  });

  it('resent messages of every queue, also of queues without a function', () =>
    expect(valuesOf('DeadLettersRevived', 'queue')).toEqual([
      'register',
      'elect',
      'group',
      'batch',
      'callback',
      'rejected',
      'given-up',
    ]));
});

it('without alarms there is no ops stack, and functions and queues stay the same', () => {
  const app = (alarms: Config['alarms']) =>
    groupageApp({
      config: { ...aConfig(), alarms },
      stage: 'dev',
      context,
      builtinCloudFormationValidation: false,
      code: noCode,
    });
  const { ops, flow } = stackNames('dev');
  expect(app(null).node.tryFindChild(ops)).toBeUndefined();
  expect(app(NO_ALARMS).node.tryFindChild(ops)).toBeDefined();
  const [without, withOps] = [app(null), app(NO_ALARMS)].map((each) => templateOf(each.node.findChild(flow) as Stack));
  expect(without?.Resources).toEqual(withOps?.Resources);
});
