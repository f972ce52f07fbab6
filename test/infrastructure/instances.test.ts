/** Several instances in one stack or account: their names, and how the command line finds each. */
import { App, CfnOutput, CfnParameter, Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { Ops } from '../../lib/ops/ops.ts';
import { executionPrefix } from '../../src/domain/config/endpoints.ts';
import { ENVIRONMENT } from '../../src/domain/deployed/environment.ts';
import { instanceIn, instancesOf, parseInstance } from '../../tools/account/instances.ts';
import { metricsOfAlarms, metricsOfDashboards } from './rules/dashboard.ts';
import { functionsOf } from './rules/flow.ts';
import { at, ofType, type Template as Resources } from './rules/template.ts';
import { templateOf, type Whole } from './synthesised.ts';
import { groupageIn, theirStack } from './theirs.ts';

const MACHINE = {
  operations: {
    ship: { target: ['depot'], downstream: { kind: 'step-functions' as const, stateMachine: 'parcels' } },
  },
};

/** The instance names that the functions of an instance receive. */
const toldTo = (template: Resources, instance: string): unknown[] => [
  ...new Set(
    functionsOf(template)
      .filter(([id]) => id.startsWith(instance))
      .map(([, properties]) => JSON.stringify(at(properties, `Environment.Variables.${ENVIRONMENT.stack}`))),
  ),
];

/** A deployed stack, with the fields that the command line reads. */
const deployed = (name: string, { Outputs = {} }: Whole) => ({
  name,
  id: `arn:${name}`,
  status: 'CREATE_COMPLETE',
  description: '',
  tags: {},
  outputs: Object.fromEntries(
    Object.entries(Outputs).map(([key, { Value }]) => [key, typeof Value === 'string' ? Value : JSON.stringify(Value)]),
  ),
});

describe('two instances in one stack', () => {
  const stack = theirStack();
  const [first, second] = [groupageIn(stack, { config: MACHINE }), groupageIn(stack, { config: MACHINE }, 'Orders')];
  new Ops(stack, 'Ops', first);
  new Ops(stack, 'OrdersOps', second);
  const template = templateOf(stack);

  it('are named by the stack, and by the stack and an id', () => {
    expect([first.service, second.service]).toEqual(['TheirStack', 'TheirStack/Orders']);
    expect(toldTo(template, 'Groupage')).toEqual(['{"Ref":"AWS::StackName"}']);
    expect(toldTo(template, 'Orders')).toEqual(['"TheirStack/Orders"']);
  });

  it('have metrics, alarms and dashboards of their own', () => {
    const services = (prefix: string): unknown[] => [
      ...new Set(
        metricsOfAlarms(template)
          .filter(({ where, namespace }) => where.startsWith(prefix) && namespace === 'Groupage')
          .map(({ dimensions }) => dimensions.service),
      ),
    ];
    expect([services('OpsAlarms'), services('OrdersOpsAlarms')]).toEqual([['TheirStack'], ['TheirStack/Orders']]);
    const shown = metricsOfDashboards(template).filter(({ namespace }) => namespace === 'Groupage');
    expect(new Set(shown.map(({ dimensions }) => dimensions.service))).toEqual(
      new Set(['TheirStack', 'TheirStack/Orders']),
    );
    const names = ofType(template, 'AWS::CloudWatch::Dashboard').map(([, { DashboardName }]) =>
      String(at(DashboardName as object, 'Fn::Join.1.0')),
    );
    expect(names).toEqual(['TheirStack-', 'TheirStack_Orders-']);
  });

  it('name executions differently, and receive their own events', () => {
    const prefixes = ofType(template, 'AWS::Events::Rule').flatMap(([id, { EventPattern }]) =>
      EventPattern ? [[id, at(EventPattern as object, 'detail.name') as { prefix: string }[]] as const] : [],
    );
    const tags = functionsOf(template).flatMap(([, properties]) => {
      const tag = at(properties, `Environment.Variables.${ENVIRONMENT.executions}`);
      return tag === undefined ? [] : [String(tag)];
    });
    expect(tags).toHaveLength(1);
    const [[, own] = ['', []], [, others] = ['', []]] = prefixes;
    expect(own).toEqual([{ prefix: executionPrefix('ship') }]);
    expect(others).toEqual([{ prefix: executionPrefix('ship', tags[0]) }]);
    expect(others[0]?.prefix.startsWith(own[0]?.prefix ?? '')).toBe(false);
  });

  it('are found by the command line under their own names', () => {
    const found = deployed('TheirStack', template);
    expect(instancesOf(found).toSorted()).toEqual(['TheirStack', 'TheirStack/Orders']);
    for (const [typed, handler, service] of [
      ['TheirStack', 'GroupageFlowApiHandler', 'TheirStack'],
      ['TheirStack/Orders', 'OrdersFlowApiHandler', 'TheirStack/Orders'],
    ] as const) {
      const named = parseInstance(typed);
      expect(named?.stack).toBe('TheirStack');
      const instance = instanceIn(found, named?.id ?? 'none');
      expect([instance?.service, instance?.apiUrl]).toEqual([service, expect.stringContaining(handler)]);
    }
  });
});

describe('the name of an instance', () => {
  it('is its prefix, or its service if that is given', () => {
    const stack = theirStack();
    const names = [{ prefix: 'shop' }, { prefix: 'returns', service: 'returns.eu' }].map(
      (props, n) => groupageIn(stack, props, `G${n}`).service,
    );
    expect(names).toEqual(['shop', 'returns.eu']);
    const found = deployed('TheirStack', templateOf(stack));
    expect([instanceIn(found, '')?.service, instanceIn(found, 'G1')?.service]).toEqual(names);
  });

  it('is the name of its stack if it is alone in the stack', () => {
    const app = new App();
    const [one, other] = ['One', 'Other'].map((id) => groupageIn(new Stack(app, id)));
    expect([one?.service, other?.service]).toEqual(['One', 'Other']);
  });

  it('keeps executions apart if names of operations are long', () => {
    const long = 'o'.repeat(64);
    // The rest of an execution's name takes 44 characters and up to three digits; a name may have 80.
    expect(executionPrefix(long).length).toBeLessThanOrEqual(33);
    expect(executionPrefix(long, '12345678').length).toBeLessThanOrEqual(33);
  });

  it('is refused if another has it, since metrics would mix', () => {
    const stack = theirStack();
    groupageIn(stack, { service: 'shop' });
    expect(() => groupageIn(stack, { prefix: 'shop' }, 'Orders')).toThrow(
      /^TheirStack\/Orders: its metrics would mix with those of TheirStack\/Groupage, which has the service "shop" too/,
    );
  });
});

describe('outputs of an instance', () => {
  it('are left out with outputs: false', () => {
    const stack = theirStack();
    groupageIn(stack, { outputs: false });
    expect(templateOf(stack).Outputs).toBeUndefined();
    const found = deployed('TheirStack', templateOf(stack));
    expect([instancesOf(found), instanceIn(found, '')]).toEqual([[], undefined]);
  });

  it('are refused if the stack already has an output of the same name', () => {
    const stack = theirStack();
    const groupage = groupageIn(stack);
    new CfnOutput(stack, 'ApiUrl', { value: groupage.apiUrl });
    expect(() => templateOf(stack)).toThrow(
      /TheirStack\/ApiUrl is an output that Groupage makes too: remove it, or create Groupage with outputs: false/,
    );
  });
});

describe("an instance's name", () => {
  const ARN = 'arn:aws:cloudformation:eu-west-1:111122223333:stack/Shop/6f1e-2a';

  it.each([
    ['Shop', { stack: 'Shop', id: '' }],
    ['Shop/Orders', { stack: 'Shop', id: 'Orders' }],
    [ARN, { stack: ARN, id: '' }],
    [`${ARN}/Orders`, { stack: ARN, id: 'Orders' }],
    ['Shop/', undefined],
    ['Shop/a/b', undefined],
    ['/Orders', undefined],
    ['', undefined],
  ])('is parsed: %s', (text, named) => expect(parseInstance(text)).toEqual(named));

  it('is not taken from an output that only ends like one', () => {
    expect(
      instancesOf({ ...deployed('Shop', { Resources: {} }), outputs: { PaymentsApiUrl: 'https://x', ApiUrl2: 'y' } }),
    ).toEqual([]);
  });
});

describe('dashboards of several instances', () => {
  const dashboards = (stack: Stack): string[] =>
    ofType(templateOf(stack), 'AWS::CloudWatch::Dashboard').map(([, { DashboardName }]) =>
      JSON.stringify(DashboardName),
    );

  it('have unique names, whichever stacks the instances are in', () => {
    const app = new App();
    const [shop, returns, ops] = ['Shop', 'Returns', 'Ops'].map((id) => new Stack(app, id)) as [Stack, Stack, Stack];
    new Ops(ops, 'A', groupageIn(shop));
    new Ops(ops, 'B', groupageIn(returns));
    new Ops(ops, 'C', groupageIn(returns, { service: 'a/b' }, 'C'));
    new Ops(ops, 'D', groupageIn(returns, { service: 'a.b' }, 'D'));
    expect(dashboards(ops)).toEqual([
      expect.stringContaining('"Ops-"'),
      expect.stringContaining('"Returns-"'),
      expect.stringContaining('"a_b-"'),
      expect.stringMatching(/"Ops_[0-9a-f]{8}-"/),
    ]);
  });

  it('have a valid name if the service is a deploy-time token', () => {
    const stack = theirStack();
    const service = new CfnParameter(stack, 'Service').valueAsString;
    new Ops(stack, 'Ops', groupageIn(stack, { service }));
    expect(dashboards(stack)).toEqual([expect.stringMatching(/"TheirStack_[0-9a-f]{8}-"/)]);
  });
});
