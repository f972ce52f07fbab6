/** Invalid props are refused at synth. The error names the construct, the fault and the fix. */
import { CfnParameter, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import { Port, SecurityGroup, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Alias, Key } from 'aws-cdk-lib/aws-kms';
import { describe, expect, it } from 'vitest';
import { FleetTable, type GroupageProps } from '../../lib/groupage.ts';
import { Ops } from '../../lib/ops/ops.ts';
import { idOf, ofType } from './rules/template.ts';
import { templateOf } from './synthesised.ts';
import { OPERATIONS } from './templates.ts';
import { groupageIn, logicalId, theirStack } from './theirs.ts';

const HERE = { env: { account: '111122223333', region: 'eu-west-1' } };
const keyIn = (region: string) => (stack: Stack) =>
  Key.fromKeyArn(stack, 'Key', `arn:aws:kms:${region}:111122223333:key/12345678-1234-1234-1234-123456789012`);
const vpcIn = (stack: Stack) =>
  Vpc.fromVpcAttributes(stack, 'Vpc', {
    vpcId: 'vpc-00000001',
    availabilityZones: ['a'],
    privateSubnetIds: ['subnet-00000001'],
  });

describe('an instance is refused with', () => {
  it.each<[string, (stack: Stack) => Partial<GroupageProps>, RegExp]>([
    [
      'subnets without a VPC',
      () => ({ vpcSubnets: { subnetType: SubnetType.PRIVATE_WITH_EGRESS } }),
      /vpcSubnets without vpc: set vpc too, or omit them/,
    ],
    [
      'security groups without a VPC',
      (stack) => ({ securityGroups: [new SecurityGroup(stack, 'Group', { vpc: vpcIn(stack) })] }),
      /securityGroups without vpc/,
    ],
    [
      'an empty list of security groups',
      (stack) => ({ vpc: vpcIn(stack), securityGroups: [] }),
      /securityGroups must have at least one element/,
    ],
    [
      'another removal policy',
      () => ({ removalPolicy: RemovalPolicy.SNAPSHOT }),
      /must be RemovalPolicy.RETAIN or RemovalPolicy.DESTROY, not snapshot/,
    ],
    [
      'a key of another region',
      (stack) => ({ encryptionKey: keyIn('us-east-1')(stack) }),
      /encryptionKey is in us-east-1, but the stack is in eu-west-1: use a key in eu-west-1/,
    ],
    [
      'an alias instead of the key itself',
      (stack) => ({ encryptionKey: Alias.fromAliasName(stack, 'Alias', 'alias/shop') }),
      /encryptionKey is an alias.*: pass the key itself/,
    ],
    [
      'a prefix that is too long',
      () => ({ prefix: 'p'.repeat(41) }),
      /prefix must be a letter followed by up to 39 letters.* not "p{41}"/,
    ],
    ['a prefix with a hyphen at its end', () => ({ prefix: 'shop-' }), /not "shop-"/],
    ['a prefix with a dot, which queues cannot have', () => ({ prefix: 'shop.eu' }), /not "shop.eu"/],
    [
      'a prefix that is a deploy-time token',
      (stack) => ({ prefix: new CfnParameter(stack, 'Prefix').valueAsString }),
      /prefix must be known at synth/,
    ],
    [
      'a service that the command line cannot parse',
      () => ({ service: 'my shop' }),
      /service must have 1 to 128 letters.* not "my shop"/,
    ],
    [
      'too little memory',
      () => ({ memorySizes: { api: 64 } }),
      /memorySizes\["api"\] must be a whole number of megabytes from 128 to 10240, not 64/,
    ],
    ['a fraction of a megabyte', () => ({ memorySizes: { sweep: 512.5 } }), /not 512.5/],
  ])('%s', (_, props, words) => {
    const stack = theirStack(HERE);
    const given = props(stack);
    const make = () => groupageIn(stack, given);
    expect(make).toThrow(
      expect.objectContaining({
        name: 'InvalidProps',
        path: expect.stringMatching(/^TheirStack\/Groupage/),
        message: expect.stringMatching(words),
      }),
    );
  });

  it.each<[string, (token: string) => object, string]>([
    [
      'a function',
      (token) => ({ operations: { ship: { target: ['depot'], downstream: { kind: 'lambda', function: token } } } }),
      'operations.ship.downstream.function',
    ],
    [
      'a part of a URL',
      (token) => ({
        operations: { ship: { ...OPERATIONS.ship, downstream: { kind: 'http', url: `https://a.example/${token}` } } },
      }),
      'operations.ship.downstream.url',
    ],
    [
      'a header',
      (token) => ({
        operations: {
          ship: {
            ...OPERATIONS.ship,
            downstream: { kind: 'http', url: 'https://a.example/', headers: { 'X-Tenant': token } },
          },
        },
      }),
      'operations.ship.downstream.headers.X-Tenant',
    ],
    ['a topic for alarms', (token) => ({ operations: OPERATIONS, alarms: { topic: token } }), 'alarms.topic'],
  ])('%s as a deploy-time token in its configuration', (_, config, path) => {
    const stack = theirStack();
    const token = new CfnParameter(stack, 'Name').valueAsString;
    expect(() => groupageIn(stack, { config: config(token) as GroupageProps['config'] })).toThrow(
      `TheirStack/Groupage: ${path} of the configuration is only known at deployment`,
    );
  });

  it('a state machine of another account, if the stack names one', () => {
    const stateMachine = 'arn:aws:states:eu-west-1:999999999999:stateMachine:pack';
    const downstream = { kind: 'step-functions', stateMachine } as const;
    const config: GroupageProps['config'] = { operations: { pack: { target: ['depot'], downstream } } };
    expect(() => groupageIn(theirStack(HERE), { config })).toThrow(
      /operations\.pack\.downstream\.stateMachine is in account 999999999999, .* call a function of account 999999999999/,
    );
    groupageIn(theirStack(), { config });
    groupageIn(theirStack({ env: { ...HERE.env, account: '999999999999', region: 'us-east-1' } }), { config });
  });

  it('a prefix that another instance of the stack has', () => {
    const stack = theirStack();
    groupageIn(stack, { prefix: 'shop' });
    expect(() => groupageIn(stack, { prefix: 'shop', service: 'returns' }, 'Returns')).toThrow(
      /would have the names of those of TheirStack\/Groupage: give one of the two another prefix/,
    );
  });

  it('a second dashboard of one instance', () => {
    const stack = theirStack();
    const groupage = groupageIn(stack);
    new Ops(stack, 'Ops', groupage);
    expect(() => new Ops(stack, 'Again', groupage)).toThrow(
      /TheirStack\/Ops\/Dashboard is a dashboard of the same instance: create one Ops/,
    );
  });

  it('connections without a VPC', () => {
    const stack = theirStack();
    expect(() => groupageIn(stack).connections).toThrow(/the functions have no connections without a VPC/);
  });

  it('invalid props of a fleet table too', () => {
    const stack = theirStack(HERE);
    expect(() => new FleetTable(stack, 'Fleet', { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE })).toThrow(
      /must be RemovalPolicy.RETAIN or RemovalPolicy.DESTROY/,
    );
    expect(() => new FleetTable(stack, 'Other', { encryptionKey: keyIn('us-east-1')(stack) })).toThrow(/us-east-1/);
  });
});

describe('an instance accepts', () => {
  it.each<[string, (stack: Stack) => Partial<GroupageProps>]>([
    ['the longest prefix', () => ({ prefix: `p${'x'.repeat(39)}` })],
    ['a prefix of one letter', () => ({ prefix: 'p' })],
    [
      'a runbook as a deploy-time token, since only alarms use it',
      (stack) => ({
        config: {
          operations: OPERATIONS,
          alarms: { runbook: `https://${new CfnParameter(stack, 'Host').valueAsString}/` },
        },
      }),
    ],
    ['a key of the same region', (stack) => ({ encryptionKey: keyIn('eu-west-1')(stack) })],
    [
      'security groups of the stack',
      (stack) => {
        const vpc = vpcIn(stack);
        return { vpc, securityGroups: [new SecurityGroup(stack, 'Group', { vpc })] };
      },
    ],
  ])('%s', (_, props) => {
    const stack = theirStack(HERE);
    const given = props(stack);
    groupageIn(stack, given);
    const names = JSON.stringify(templateOf(stack)).match(/"(?:QueueName|FunctionName)":"([^"]+)"/g) ?? [];
    for (const name of names) expect(name.length).toBeLessThanOrEqual('"FunctionName":""'.length + 64);
  });

  it('a connection from all functions to a resource of the VPC', () => {
    const stack = theirStack(HERE);
    const vpc = vpcIn(stack);
    const groupage = groupageIn(stack, { vpc });
    const service = new SecurityGroup(stack, 'Service', { vpc });
    service.connections.allowFrom(groupage, Port.HTTPS);
    const rules = ofType(templateOf(stack), 'AWS::EC2::SecurityGroupIngress');
    expect(rules.map(([, { GroupId, SourceSecurityGroupId }]) => [idOf(GroupId), idOf(SourceSecurityGroupId)])).toEqual(
      [[logicalId(service), expect.stringMatching(/^GroupageFlowSecurityGroup/)]],
    );
  });
});
