/** The construct with all options: it keeps the rules that hold without them, and each option has its effect. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { ManagedPolicy } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Architecture, Tracing } from 'aws-cdk-lib/aws-lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import type { GroupageProps } from '../../lib/groupage.ts';
import { Ops } from '../../lib/ops/ops.ts';
import { onlyKnownServicesMayInvoke, urlsAskForCredentials } from './rules/access.ts';
import { throttlesAreWatched } from './rules/alarms.ts';
import { failuresAreReportedByMessage, queuesHaveOneReader } from './rules/event-sources.ts';
import { functionsOf, statementsOfQueuePolicy, statementsOfRole } from './rules/flow.ts';
import { functionsReserveNothing, scheduledFunctionsEndBeforeTheNext } from './rules/functions.ts';
import {
  deadLettersAreSentAgain,
  messagesStayHiddenLongEnough,
  queuesOfTasksOutliveTheirStack,
  queuesTakeTlsOnly,
  workingQueuesHaveDeadLetterQueues,
} from './rules/queues.ts';
import {
  functionsWaitForTheirPolicies,
  functionsWriteTheirOwnLogsAlone,
  rolesBelongToOneFunction,
  rolesHaveNoManagedPolicies,
  rolesTrustLambdaAlone,
  statementsNameWhatTheyAllow,
} from './rules/roles.ts';
import {
  everythingIsEncryptedWith,
  everythingIsTagged,
  functionsAreIn,
  namesIn,
  rolesHaveTheBoundary,
  rolesUseTheKeyForWhatTheyDo,
} from './rules/surroundings.ts';
import { rowsExpireBy, tablesArePaidByRequest, tablesCanBeRestored, tablesOutliveTheirStack } from './rules/tables.ts';
import { at, idOf, listOf, ofType, type Template } from './rules/template.ts';
import { templateOf } from './synthesised.ts';
import { everyKindInput } from './templates.ts';
import { groupageIn, logicalId, theirStack } from './theirs.ts';

const SUBNETS = ['subnet-00000001', 'subnet-00000002'];
const vpcIn = (stack: Stack) =>
  Vpc.fromVpcAttributes(stack, 'Vpc', {
    vpcId: 'vpc-00000001',
    availabilityZones: ['a', 'b'],
    privateSubnetIds: SUBNETS,
  });

/** All options at once, with every kind of downstream and destination. */
const everythingIn = (app: App) => {
  const stack = new Stack(app, 'TheirStack');
  const key = new Key(stack, 'Key', { enableKeyRotation: true });
  const boundary = ManagedPolicy.fromManagedPolicyName(stack, 'Boundary', 'boundary');
  const groupage = groupageIn(stack, {
    config: everyKindInput,
    encryptionKey: key,
    vpc: vpcIn(stack),
    prefix: 'shop',
    removalPolicy: RemovalPolicy.DESTROY,
    logRetention: RetentionDays.ONE_WEEK,
    memorySizes: { api: 1_024 },
    architecture: Architecture.X86_64,
    tracing: Tracing.ACTIVE,
    tags: { team: 'logistics' },
    permissionsBoundary: boundary,
  });
  groupage.grantRegisterFromAccounts('111122223333');
  new Ops(stack, 'Ops', groupage);
  return { stack, key: logicalId(key), boundary: stack.resolve(boundary.managedPolicyArn) as unknown };
};

const { stack: full, key, boundary } = everythingIn(new App());
const template: Template = templateOf(full);

/** The statements of the key's policy. */
const keyStatements = (template: Template) =>
  ofType(template, 'AWS::KMS::Key').flatMap(([, { KeyPolicy }]) => at(KeyPolicy as object, 'Statement') as object[]);

describe('the construct with all options', () => {
  it.each(
    Object.entries({
      onlyKnownServicesMayInvoke,
      urlsAskForCredentials,
      throttlesAreWatched,
      failuresAreReportedByMessage,
      queuesHaveOneReader,
      functionsReserveNothing,
      scheduledFunctionsEndBeforeTheNext,
      deadLettersAreSentAgain,
      messagesStayHiddenLongEnough,
      workingQueuesHaveDeadLetterQueues,
      functionsWaitForTheirPolicies,
      functionsWriteTheirOwnLogsAlone,
      rolesBelongToOneFunction,
      rolesHaveNoManagedPolicies,
      rolesTrustLambdaAlone,
      statementsNameWhatTheyAllow,
      tablesArePaidByRequest,
      tablesCanBeRestored,
      rowsExpire: rowsExpireBy('ExpiresAt'),
      tablesGoWithTheirStack: tablesOutliveTheirStack(false),
      queuesGoWithTheirStack: queuesOfTasksOutliveTheirStack(false),
    }),
  )('keeps the rule %s', (_, rule) => expect(rule(template)).toEqual([]));

  it('encrypts tables, queues, dead letters and logs with the key', () => {
    expect(everythingIsEncryptedWith(key)(template)).toEqual([]);
  });

  it('lets each function use the key as it needs', () => {
    expect(rolesUseTheKeyForWhatTheyDo(key)(template)).toEqual([]);
  });

  it('runs functions in private subnets in one security group', () => {
    const [group, ...others] = ofType(template, 'AWS::EC2::SecurityGroup');
    expect(others).toEqual([]);
    expect(functionsAreIn(SUBNETS, [{ 'Fn::GetAtt': [group?.[0], 'GroupId'] }])(template)).toEqual([]);
    expect(group?.[1].SecurityGroupIngress).toBeUndefined();
  });

  it('tags all resources, and gives roles the boundary', () => {
    expect(everythingIsTagged('team', 'logistics')(template)).toEqual([]);
    expect(ofType(template, 'AWS::IAM::Role').length).toBeGreaterThan(0);
    expect(rolesHaveTheBoundary(boundary)(template)).toEqual([]);
  });

  it('begins names with the prefix', () => {
    for (const names of Object.values(namesIn(template))) {
      expect(names.length).toBeGreaterThan(0);
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) expect(name).toMatch(/^shop-[a-z-]{3,}$/);
    }
    expect(namesIn(template)['AWS::DynamoDB::Table']?.toSorted()).toEqual(
      ['audit', 'batch', 'batch-lock', 'fan-out', 'fleet', 'list', 'task'].map((name) => `shop-${name}`),
    );
  });

  it('sets log retention, memory and architecture as given', () => {
    for (const [, { RetentionInDays }] of ofType(template, 'AWS::Logs::LogGroup')) expect(RetentionInDays).toBe(7);
    for (const [id, { Architectures, MemorySize }] of functionsOf(template))
      expect([Architectures, MemorySize]).toEqual([['x86_64'], id.includes('ApiHandler') ? 1_024 : 512]);
  });

  it('opens the key to Logs, EventBridge and other accounts', () => {
    const [own, ...others] = keyStatements(template);
    expect(JSON.stringify(own)).toContain('"kms:*"');
    expect(others.map((each) => JSON.stringify(at(each, 'Principal')))).toEqual([
      expect.stringContaining('"logs."'),
      expect.stringContaining('events.amazonaws.com'),
      expect.stringContaining('111122223333'),
    ]);
    for (const each of others) {
      expect(at(each, 'Condition')).toBeDefined();
      expect(listOf(at(each, 'Action') as string[]).filter((action) => /[*?]/.test(action))).toEqual([]);
    }
  });

  it("passes cdk-nag's AwsSolutions pack as it is", () => {
    const app = new App();
    everythingIn(app);
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).not.toThrow();
  });
});

describe('the costs of a key', () => {
  /** The count of pairs of a function and a resource of a type on which it does one of these actions. */
  const pairs = (plain: Template, type: string, actions: RegExp): number =>
    functionsOf(plain).reduce((sum, [, { Role }]) => {
      const on = statementsOfRole(plain, idOf(Role))
        .filter(({ Action }) => listOf(Action).some((action) => actions.test(action)))
        .flatMap(({ Resource }) => listOf(Resource).map(idOf))
        .filter((id) => plain.Resources[id]?.Type === type);
      return sum + new Set(on).size;
    }, 0);

  it('are counted as the page says', () => {
    const stack = theirStack();
    groupageIn(stack);
    const plain = templateOf(stack);
    const tables = pairs(plain, 'AWS::DynamoDB::Table', /^dynamodb:/);
    const [senders, receivers] = [/^sqs:SendMessage$/, /^sqs:ReceiveMessage$/].map((action) =>
      pairs(plain, 'AWS::SQS::Queue', action),
    );
    const page = readFileSync(join(import.meta.dirname, '../../docs/reference/construct.md'), 'utf8');
    expect(page).toContain(`tables: ${tables} pairs of function and table`);
    expect(page).toContain(`queues: ${senders} pairs of sender and queue, ${receivers} of receiver and queue`);
  });
});

describe('the rules of options', () => {
  const broken = (change: (template: Template) => void): Template => {
    const copy = structuredClone(template);
    change(copy);
    return copy;
  };
  const change = (type: string, path: string, value: unknown) => (copy: Template) => {
    const [found] = ofType(copy, type);
    if (found) found[1][path] = value;
  };

  it.each([
    [
      'a table without the key',
      everythingIsEncryptedWith(key),
      change('AWS::DynamoDB::Table', 'SSESpecification', undefined),
    ],
    [
      'a queue with another key',
      everythingIsEncryptedWith(key),
      change('AWS::SQS::Queue', 'KmsMasterKeyId', 'alias/aws/sqs'),
    ],
    [
      'a queue with a short data key reuse period',
      everythingIsEncryptedWith(key),
      change('AWS::SQS::Queue', 'KmsDataKeyReusePeriodSeconds', 300),
    ],
    ['logs without the key', everythingIsEncryptedWith(key), change('AWS::Logs::LogGroup', 'KmsKeyId', undefined)],
    [
      'a function outside of the VPC',
      functionsAreIn(SUBNETS, []),
      change('AWS::Lambda::Function', 'VpcConfig', undefined),
    ],
    [
      'a role without the boundary',
      rolesHaveTheBoundary(boundary),
      change('AWS::IAM::Role', 'PermissionsBoundary', undefined),
    ],
    ['a queue without the tag', everythingIsTagged('team', 'logistics'), change('AWS::SQS::Queue', 'Tags', undefined)],
  ])('fail for %s', (_, rule, break_) => expect(rule(broken(break_)).length).toBeGreaterThan(0));

  it.each([
    ['for more than it needs', 'kms:Decrypt', 'kms:CreateGrant'],
    ['without a service in between', '"kms:ViaService"', '"kms:CallerAccount"'],
  ])('fail for a role that may use the key %s', (_, from, to) => {
    const copy = broken((each) => {
      const [, properties] = ofType(each, 'AWS::IAM::Policy')[0] ?? ['', {}];
      const text = JSON.stringify(properties);
      expect(text).toContain(from);
      Object.assign(properties, JSON.parse(text.replace(from, to)));
    });
    expect(rolesUseTheKeyForWhatTheyDo(key)(copy)).toHaveLength(1);
  });
});

describe('network interfaces', () => {
  const statements = functionsOf(template).map(([, { Role }]) =>
    statementsOfRole(template, idOf(Role)).filter(({ Action }) =>
      listOf(Action).some((each) => each.startsWith('ec2:')),
    ),
  );

  it("can be made by Lambda, but not by the function's code", () => {
    expect(statements.length).toBeGreaterThan(0);
    for (const each of statements)
      expect(each).toMatchObject([{ Resource: '*', Condition: { Null: { 'lambda:SourceFunctionArn': 'true' } } }]);
  });

  it('are not mentioned without a VPC', () => {
    const stack = theirStack();
    groupageIn(stack);
    expect(JSON.stringify(templateOf(stack))).not.toMatch(/ec2:|VpcConfig|SecurityGroup/);
  });
});

describe('traces', () => {
  const withTracing = (tracing?: Tracing): Template => {
    const stack = theirStack();
    groupageIn(stack, tracing ? { tracing } : {});
    return templateOf(stack);
  };

  it.each([Tracing.ACTIVE, Tracing.PASS_THROUGH])('are sent by functions that may send them: %s', (mode) => {
    const template = withTracing(mode);
    expect(functionsOf(template).length).toBeGreaterThan(0);
    for (const [, { Role, TracingConfig }] of functionsOf(template)) {
      expect(TracingConfig).toEqual({ Mode: mode });
      expect(statementsOfRole(template, idOf(Role))).toContainEqual({
        Effect: 'Allow',
        Action: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'],
        Resource: '*',
      });
    }
  });

  it.each([undefined, Tracing.DISABLED])('are not mentioned without the option: %s', (tracing) => {
    expect(JSON.stringify(withTracing(tracing))).not.toMatch(/xray|TracingConfig/);
  });
});

describe('the construct without options', () => {
  const plain = (props: Partial<GroupageProps> = {}): Template => {
    const stack = theirStack();
    groupageIn(stack, props);
    return templateOf(stack);
  };

  it('makes no keys, names, tags or boundaries', () => {
    expect(JSON.stringify(plain())).not.toMatch(
      /kms|Kms|KMS|PermissionsBoundary|"Tags"|TableName"|QueueName"|FunctionName":"/,
    );
  });

  it.each([{}, { tracing: Tracing.ACTIVE }])('passes cdk-nag with %o', (props) => {
    const app = new App();
    groupageIn(new Stack(app, 'TheirStack'), props);
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).not.toThrow();
  });

  it("lets no principal in by a queue's policy", () => {
    expect(queuesTakeTlsOnly(plain())).toEqual([]);
    const allowing = ofType(plain(), 'AWS::SQS::QueuePolicy').flatMap(([, properties]) =>
      statementsOfQueuePolicy(properties).filter(({ Effect }) => Effect === 'Allow'),
    );
    expect(allowing).toEqual([]);
  });
});
