import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { type IGrantable, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { describe, expect, it } from 'vitest';
import type { FleetAlarmsProps } from '../../lib/fleet-alarms.ts';
import { FleetTable, type FleetTableProps } from '../../lib/groupage.ts';
import { dynamoDBFleets } from '../../src/aws/dynamodb-fleets.ts';
import { FLEET_METRICS } from '../../src/domain/fleets/metrics.ts';
import type { Fleets } from '../../src/ports/fleets.ts';
import { aNode, fleet, held, nodeOf, partition } from '../factories/fleets.ts';
import { usesOf } from '../permissions/uses.ts';
import { statementsOfRole } from './rules/flow.ts';
import { rowsExpireBy, tablesCanBeRestored, tablesOutliveTheirStack } from './rules/tables.ts';
import { idOf, ofType } from './rules/template.ts';
import { templateOf } from './synthesised.ts';

const synthesised = (props: FleetTableProps = {}, grant: (fleets: FleetTable, role: IGrantable) => void = () => {}) => {
  const stack = new Stack(new App(), 'TheirStack');
  const fleets = new FleetTable(stack, 'Fleet', props);
  const role = new Role(stack, 'Worker', { assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com') });
  grant(fleets, role);
  const template = templateOf(stack);
  return { template, statements: statementsOfRole(template, stack.getLogicalId(role.node.defaultChild as never)) };
};

/** The IAM actions that a call of the store needs. */
const actionsOf = async (use: (fleets: Fleets) => Promise<unknown>): Promise<string[]> => {
  const actions: string[] = [];
  const send = async (command: { input: object }): Promise<object> => {
    actions.push(...usesOf(command.constructor.name, command.input).map(({ action }) => action));
    return {};
  };
  await use(dynamoDBFleets({ send, config: { systemClockOffset: 0 } } as unknown as DynamoDBDocumentClient, 'T'));
  return actions;
};

/**
 * The id of `new FleetTable(stack, 'Fleet')` directly below a stack. Never change it: users' stacks have deployed it.
 */
const ID = 'FleetTable4A611C9B';

const NAME = fleet('f');
const LEASE = { partition: partition('p'), fence: 1, owner: nodeOf('a') };

/** Every call that a node makes in its life. */
const WORK: {
  readonly [Call in Exclude<keyof Fleets, 'names' | 'checkpointOf' | 'drain' | 'separate' | 'pin'>]: (
    fleets: Fleets,
  ) => unknown;
} = {
  join: (fleets) => fleets.join(NAME, aNode()),
  beat: (fleets) => fleets.beat(NAME, aNode({ beat: 1 })),
  read: (fleets) => fleets.read(NAME),
  evict: (fleets) => fleets.evict(NAME, nodeOf('a'), 1, 0),
  take: (fleets) => fleets.take(NAME, LEASE, nodeOf('b'), 0),
  ask: (fleets) => fleets.ask(NAME, LEASE, nodeOf('b')),
  decline: (fleets) => fleets.decline(NAME, held(LEASE), nodeOf('b')),
  handOver: (fleets) => fleets.handOver(NAME, held(LEASE), nodeOf('b'), 0),
  checkpoint: (fleets) => fleets.checkpoint(NAME, held(LEASE), 'x', 1),
  open: (fleets) => fleets.open(NAME, LEASE),
  leave: (fleets) => fleets.leave(NAME, nodeOf('a')),
};
/** The calls that operators make. */
const OPERATE: {
  readonly [Call in 'names' | 'read' | 'checkpointOf' | 'drain' | 'separate' | 'pin']: (fleets: Fleets) => unknown;
} = {
  names: (fleets) => fleets.names(),
  read: (fleets) => fleets.read(NAME),
  checkpointOf: (fleets) => fleets.checkpointOf(NAME, partition('p')),
  separate: (fleets) => fleets.separate(NAME),
  drain: (fleets) => fleets.drain(NAME, nodeOf('a'), true),
  pin: (fleets) => fleets.pin(NAME, partition('p'), nodeOf('a')),
};

describe('a fleet table', () => {
  it('is one table with the same properties as the other tables', () => {
    const { template } = synthesised();
    expect(Object.values(template.Resources).map(({ Type }) => Type)).toEqual([
      'AWS::DynamoDB::Table',
      'AWS::IAM::Role',
    ]);
    expect(ofType(template, 'AWS::DynamoDB::Table')).toMatchObject([
      [
        ID,
        {
          BillingMode: 'PAY_PER_REQUEST',
          KeySchema: [
            { AttributeName: 'Fleet', KeyType: 'HASH' },
            { AttributeName: 'Entry', KeyType: 'RANGE' },
          ],
          AttributeDefinitions: [
            { AttributeName: 'Fleet', AttributeType: 'S' },
            { AttributeName: 'Entry', AttributeType: 'S' },
          ],
        },
      ],
    ]);
    for (const rule of [tablesOutliveTheirStack(true), tablesCanBeRestored, rowsExpireBy('ExpiresAt')])
      expect(rule(template)).toEqual([]);
  });

  it('is deleted with its stack only if removalPolicy says so', () => {
    expect(tablesOutliveTheirStack(false)(synthesised({ removalPolicy: RemovalPolicy.DESTROY }).template)).toEqual([]);
  });

  it.each([
    ['a worker', WORK, (table: FleetTable, role: IGrantable) => table.grantWork(role)],
    ['an operator', OPERATE, (table: FleetTable, role: IGrantable) => table.grantOperate(role)],
  ])('grants %s exactly the actions that the store needs, on this table', async (_, calls, grant) => {
    const { statements } = synthesised({}, grant);
    const used = new Set<string>();
    for (const call of Object.values(calls))
      for (const action of await actionsOf(async (fleets) => call(fleets))) used.add(action);
    expect(statements).toHaveLength(1);
    const [{ Action, Resource } = { Action: [], Resource: '' }] = statements;
    expect([...Action].toSorted()).toEqual([...used].toSorted());
    expect(idOf(Resource)).toBe(ID);
  });
});

describe('the alarms of a fleet', () => {
  const alarmsOf = (props: FleetAlarmsProps = {}) => {
    const stack = new Stack(new App(), 'TheirStack');
    new FleetTable(stack, 'Fleet').addAlarms('flights', props);
    return ofType(templateOf(stack), 'AWS::CloudWatch::Alarm').map(([, properties]) => properties);
  };

  it('watch metrics that workers write, by fleet', () => {
    const alarms = alarmsOf({ maxCheckpointAge: Duration.minutes(2) });
    expect(alarms.map(({ MetricName, Threshold }) => [MetricName, Threshold])).toEqual([
      ['PartitionsUnworked', 1],
      ['HandlersStuck', 1],
      ['HandlersFinished', 1],
      ['NodesEvicted', 1],
      ['CheckpointAge', 120_000],
    ]);
    for (const alarm of alarms) {
      expect(FLEET_METRICS).toHaveProperty(alarm.MetricName as string);
      expect(alarm).toMatchObject({ Namespace: 'Groupage', Dimensions: [{ Name: 'fleet', Value: 'flights' }] });
      expect(alarm.AlarmDescription).toMatch(/flights.*(: |\. ).*\.$/);
    }
  });

  it('go off if no worker writes for the allowed time', () => {
    const [unworked, ...others] = alarmsOf({ unworkedFor: Duration.minutes(9) });
    expect(unworked).toMatchObject({ EvaluationPeriods: 9, Period: 60, TreatMissingData: 'breaching' });
    for (const other of others) expect(other).toMatchObject({ TreatMissingData: 'notBreaching' });
  });

  it('notify a topic, and refuse a name that no fleet can have', () => {
    const stack = new Stack(new App(), 'TheirStack');
    const fleets = new FleetTable(stack, 'Fleet');
    const topic = new Topic(stack, 'Topic');
    const alarms = fleets.addAlarms('flights', { topic });
    expect(
      ofType(templateOf(stack), 'AWS::CloudWatch::Alarm').every(
        ([, { AlarmActions }]) => (AlarmActions as unknown[]).length === 1,
      ),
    ).toBe(true);
    expect(alarms).toHaveLength(4);
    expect(() => fleets.addAlarms('no spaces')).toThrow(/fleet must be a text/);
  });
});
