/** Rights that each grant gives on an instance and on its destinations: these, and no others. */
import { App, NestedStack, Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { AccountPrincipal, Role, ServicePrincipal, User } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { describe, expect, it } from 'vitest';
import { type CallbackTarget, FleetTable, type Groupage } from '../../lib/groupage.ts';
import { placed } from '../../src/domain/config/endpoints.ts';
import { ENVIRONMENT } from '../../src/domain/deployed/environment.ts';
import { functionsOf, type Statement, statementsOfQueuePolicy, statementsOfRole } from './rules/flow.ts';
import { at, idOf, listOf, ofType, type Template } from './rules/template.ts';
import { templateOf } from './synthesised.ts';
import { OPERATIONS } from './templates.ts';
import { groupageIn, logicalId, theirStack } from './theirs.ts';

const SEND = ['sqs:SendMessage', 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl'];
const USE = ['kms:Decrypt', 'kms:GenerateDataKey'];
const via = (service: string) => ({
  StringEquals: {
    'kms:ViaService': {
      'Fn::Join': ['', [`${service}.`, { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }]],
    },
  },
});

const allowedBy = (template: Template, queue: string): Statement[] =>
  ofType(template, 'AWS::SQS::QueuePolicy')
    .filter(([, { Queues }]) => listOf(Queues).map(idOf).includes(queue))
    .flatMap(([, properties]) => statementsOfQueuePolicy(properties))
    .filter(({ Effect }) => Effect === 'Allow');

describe('with an encryption key', () => {
  it.each<[string, (groupage: Groupage, role: Role) => { readonly success: boolean }, (groupage: Groupage) => string]>([
    ['a producer', (groupage, role) => groupage.grantRegister(role), ({ registerQueue }) => logicalId(registerQueue)],
    ['a job', (groupage, role) => groupage.grantComplete(role), ({ batchQueue }) => logicalId(batchQueue)],
  ])('%s may send, and use the key through SQS', (_, grant, queueOf) => {
    const stack = theirStack();
    const key = new Key(stack, 'Key');
    const role = new Role(stack, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    const groupage = groupageIn(stack, { encryptionKey: key });
    expect(grant(groupage, role).success).toBe(true);
    const template = templateOf(stack);
    const statements = statementsOfRole(template, logicalId(role));
    expect(statements.map(({ Action, Resource, Condition }) => [Action, idOf(Resource), Condition])).toEqual([
      [SEND, queueOf(groupage), undefined],
      [USE, logicalId(key), via('sqs')],
    ]);
  });
});

it('a fleet worker may use the encryption key through its table only', () => {
  const stack = theirStack();
  const key = new Key(stack, 'Key');
  const role = new Role(stack, 'Worker', { assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com') });
  new FleetTable(stack, 'Fleet', { encryptionKey: key, tableName: 'fleets' }).grantWork(role);
  const template = templateOf(stack);
  const [, use, ...others] = statementsOfRole(template, logicalId(role));
  expect(others).toEqual([]);
  expect([idOf(use?.Resource), use?.Condition]).toEqual([logicalId(key), via('dynamodb')]);
  expect(listOf(use?.Action)).toEqual(expect.arrayContaining(['kms:Decrypt', 'kms:GenerateDataKey']));
  expect(ofType(template, 'AWS::DynamoDB::Table').map(([, { TableName }]) => TableName)).toEqual(['fleets']);
});

describe('producers of other accounts', () => {
  it('may send to the register queue if their account is named', () => {
    const stack = theirStack();
    const key = new Key(stack, 'Key');
    const groupage = groupageIn(stack, { encryptionKey: key });
    groupage.grantRegisterFromAccounts('111122223333', '444455556666');
    const template = templateOf(stack);
    const AWS = ['111122223333', '444455556666'].map((account) => ({
      'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, `:iam::${account}:root`]],
    }));
    const queue = logicalId(groupage.registerQueue);
    expect(allowedBy(template, queue)).toEqual([
      { Effect: 'Allow', Action: SEND, Resource: { 'Fn::GetAtt': [queue, 'Arn'] }, Principal: { AWS } },
    ]);
    expect(lastOf(template, key)).toMatchObject({ Action: USE, Principal: { AWS }, Condition: via('sqs') });
  });

  it('may send if they belong to a named organization', () => {
    const stack = theirStack();
    const groupage = groupageIn(stack);
    groupage.grantRegisterFromOrganizations('o-abcdefghij', 'o-klmnopqrst');
    const allowed = allowedBy(templateOf(stack), logicalId(groupage.registerQueue));
    expect(allowed.map(({ Action, Principal, Condition }) => [Action, Principal, Condition])).toEqual(
      ['o-abcdefghij', 'o-klmnopqrst'].map((id) => [
        SEND,
        { AWS: '*' },
        { StringEquals: { 'aws:PrincipalOrgID': id } },
      ]),
    );
  });

  it('are refused if the account or organization is invalid', () => {
    const groupage = groupageIn(theirStack());
    expect(() => groupage.grantRegisterFromAccounts('1111')).toThrow(
      /the id of an account must be twelve digits, not "1111"/,
    );
    expect(() => groupage.grantRegisterFromAccounts('*')).toThrow(/twelve digits/);
    expect(() => groupage.grantRegisterFromAccounts()).toThrow(/name at least one account/);
    expect(() => groupage.grantRegisterFromOrganizations('*')).toThrow(
      /the id of an organization must be o-…, not "\*"/,
    );
  });

  it('cause a warning if an imported key must name them', () => {
    const stack = theirStack({ env: { account: '111122223333', region: 'eu-west-1' } });
    const key = Key.fromKeyArn(
      stack,
      'Key',
      'arn:aws:kms:eu-west-1:111122223333:key/12345678-1234-1234-1234-123456789012',
    );
    groupageIn(stack, { encryptionKey: key }).grantRegisterFromAccounts('444455556666');
    const warnings = Annotations.fromStack(stack).findWarning(
      '*',
      Match.stringLikeRegexp('the policy of TheirStack/Key'),
    );
    expect(warnings.map(({ entry: { data } }) => /"Action":\["[^"]+"/.exec(String(data))?.[0])).toHaveLength(2);
    expect(JSON.stringify(warnings)).toContain('444455556666');
  });
});

const lastOf = (template: Template, key: Key): unknown =>
  (at(template.Resources[logicalId(key)]?.Properties.KeyPolicy as object, 'Statement') as unknown[]).at(-1);

const CONFIG = {
  operations: OPERATIONS,
  destinations: {
    ops: { kind: 'queue' as const, name: 'ops' },
    news: { kind: 'topic' as const, name: 'news' },
    orders: { kind: 'event-bus' as const, name: 'orders' },
    hook: { kind: 'http' as const, url: 'https://parcels.example/hook', secret: { secretsManager: 'hook' } },
    old: { kind: 'http' as const, url: 'https://parcels.example/old', secret: { ssm: '/old' } },
  },
};

/** The rights of the callback function on resources outside of Groupage, and the destinations that it receives. */
const callbackFunction = (template: Template) => {
  const [, properties] = functionsOf(template).find(([id]) => id.includes('CallbackHandler')) ?? ['', {}];
  const statements = statementsOfRole(template, idOf(properties.Role));
  return { statements, told: at(properties, `Environment.Variables.${ENVIRONMENT.destinations}`) };
};

describe('a destination made in the app', () => {
  it.each<
    [string, keyof typeof CONFIG.destinations, (stack: Stack, key: Key) => CallbackTarget, string[], string, string[]]
  >([
    [
      'a queue',
      'ops',
      (stack, key) => new Queue(stack, 'To', { encryption: QueueEncryption.KMS, encryptionMasterKey: key }),
      ['sqs:GetQueueUrl', 'sqs:SendMessage'],
      'sqs',
      USE,
    ],
    ['a topic', 'news', (stack, key) => new Topic(stack, 'To', { masterKey: key }), ['sns:Publish'], 'sns', USE],
    ['an event bus', 'orders', (stack) => new EventBus(stack, 'To'), ['events:PutEvents'], '', []],
    [
      'a secret',
      'hook',
      (stack, key) => new Secret(stack, 'To', { encryptionKey: key }),
      ['secretsmanager:GetSecretValue'],
      'secretsmanager',
      ['kms:Decrypt'],
    ],
  ])('is reached by its generated name, with its key: %s', (_, name, make, actions, service, uses) => {
    const stack = theirStack();
    const key = new Key(stack, 'Key');
    const target = make(stack, key);
    expect(groupageIn(stack, { config: CONFIG }).grantCallbacks(name, target).success).toBe(true);
    const { statements, told } = callbackFunction(templateOf(stack));
    const on = (id: string) => statements.filter(({ Resource }) => idOf(Resource) === id);
    expect(on(logicalId(target)).map(({ Action }) => listOf(Action))).toEqual([actions]);
    expect(on(logicalId(key)).map(({ Action, Condition }) => [listOf(Action), Condition])).toEqual(
      uses.length === 0 ? [] : [[uses, via(service)]],
    );
    // No right on the name in the configuration may remain.
    expect(JSON.stringify(statements)).not.toMatch(new RegExp(`:${name === 'hook' ? 'secret:hook' : name}"`));
    expect(JSON.stringify(told)).toContain(logicalId(target));
  });

  it('is passed to the callback function together with the others', () => {
    const stack = theirStack();
    const groupage = groupageIn(stack, { config: CONFIG });
    groupage.grantCallbacks('ops', new Queue(stack, 'Ops'));
    groupage.grantCallbacks('orders', new EventBus(stack, 'Orders'));
    const { told } = callbackFunction(templateOf(stack));
    const parts = at(told as object, 'Fn::Join.1') as unknown[];
    const text = parts.map((part) => (typeof part === 'string' ? part : `arn:${idOf(part)}`)).join('');
    const arns = JSON.parse(text) as Record<string, string>;
    expect(Object.keys(arns)).toEqual(['ops', 'orders']);
    const places = placed(groupage.config.destinations, text);
    expect(places.ops).toEqual({ kind: 'queue', name: arns.ops });
    expect(places.orders).toEqual({ kind: 'event-bus', name: arns.orders });
    expect(places.news).toEqual({ kind: 'topic', name: 'news' });
  });

  it('is taken from the configuration if no grant gives another', () => {
    const stack = theirStack();
    const { config } = groupageIn(stack, { config: CONFIG });
    expect(callbackFunction(templateOf(stack)).told).toBeUndefined();
    expect(placed(config.destinations, undefined)).toBe(config.destinations);
    expect(placed(config.destinations, '{"hook":"arn:s"}').hook).toMatchObject({
      url: 'https://parcels.example/hook',
      secret: { secretsManager: 'arn:s' },
    });
  });

  it.each<[string, string, (stack: Stack) => CallbackTarget, RegExp]>([
    [
      'an unknown name',
      'nobody',
      (stack) => new Queue(stack, 'To'),
      /no destination "nobody": it has ops, news, orders, hook, old/,
    ],
    [
      'another kind',
      'ops',
      (stack) => new Topic(stack, 'To'),
      /ops is a queue in the configuration, but the target is a topic/,
    ],
    [
      'a secret for a queue',
      'ops',
      (stack) => new Secret(stack, 'To'),
      /ops is a queue in the configuration, but the target is a secret/,
    ],
    [
      'a secret instead of a parameter',
      'old',
      (stack) => new Secret(stack, 'To'),
      /the secret of the destination old is an SSM parameter/,
    ],
    ['a FIFO queue', 'ops', (stack) => new Queue(stack, 'To', { fifo: true }), /ops is FIFO/],
  ])('is refused with a reason: %s', (_, name, make, words) => {
    const stack = theirStack();
    const groupage = groupageIn(stack, { config: CONFIG });
    expect(() => groupage.grantCallbacks(name, make(stack))).toThrow(words);
  });

  it('is refused if it is given twice, or without destinations', () => {
    const stack = theirStack();
    const groupage = groupageIn(stack, { config: CONFIG });
    groupage.grantCallbacks('ops', new Queue(stack, 'One'));
    expect(() => groupage.grantCallbacks('ops', new Queue(stack, 'Two'))).toThrow(/ops already has a target/);
    const none = groupageIn(new Stack(new App(), 'Other'));
    expect(() => none.grantCallbacks('ops', new Queue(stack, 'Three'))).toThrow(
      /it has none, so add it under "destinations"/,
    );
  });
});

describe('a producer with a name', () => {
  const CONFIG = { operations: OPERATIONS, producers: { shop: ['AROA0000000000000SHOP'], crm: [] } };
  const roleIn = (stack: Stack, name = 'Producer') =>
    new Role(stack, name, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  const variables = (template: Template, setting: keyof typeof ENVIRONMENT) =>
    Object.fromEntries(
      functionsOf(template).flatMap(([name, properties]) => {
        const value = at(properties, `Environment.Variables.${ENVIRONMENT[setting]}`);
        return value === undefined ? [] : [[name, value]];
      }),
    );

  it('adds the id of its role to the functions that apply rules', () => {
    const stack = theirStack();
    const groupage = groupageIn(stack, { config: CONFIG });
    const [first, second] = [roleIn(stack, 'A'), roleIn(stack, 'B')];
    expect(groupage.grantRegister(first, { as: 'shop' }).success).toBe(true);
    groupage.grantRegister(second, { as: 'shop' });
    const idOfRole = (role: Role) => ({ 'Fn::GetAtt': [logicalId(role), 'RoleId'] });
    const text = { 'Fn::Join': ['', ['{"shop":["', idOfRole(first), '","', idOfRole(second), '"]}']] };
    const found = variables(templateOf(stack), 'producers');
    expect(Object.values(found)).toEqual([text, text]);
    expect(
      Object.keys(found)
        .map((name) => (/Register|Api/.exec(name) ?? [])[0])
        .toSorted(),
    ).toEqual(['Api', 'Register']);
  });

  it('is known beside the roles that pass senders on, and only those', () => {
    const stack = theirStack();
    const groupage = groupageIn(stack);
    const own = (['register', 'sweep', 'api'] as const).map((name) => groupage.flow.handlers.get(name)?.role as Role);
    const ids = own.flatMap((role, n) => [...(n === 0 ? [] : [',']), { 'Fn::GetAtt': [logicalId(role), 'RoleId'] }]);
    const found = Object.values(variables(templateOf(stack), 'ownRoles'));
    expect(found).toEqual(Array.from({ length: 3 }, () => ({ 'Fn::Join': ['', ids] })));
  });

  it('is refused with an unknown name, and without a unique id', () => {
    const stack = theirStack();
    const groupage = groupageIn(stack, { config: CONFIG });
    expect(() => groupage.grantRegister(roleIn(stack), { as: 'shpo' })).toThrow(
      /no producer "shpo" is configured: configured are shop, crm. Add "shpo": \[\] to "producers"/,
    );
    const imported = Role.fromRoleArn(stack, 'Imported', 'arn:aws:iam::111122223333:role/theirs');
    expect(() => groupage.grantRegister(imported, { as: 'shop' })).toThrow(
      /does not know the unique id of this producer.*look up the id \(aws iam get-role, get-user\), and write it under "producers.shop"/,
    );
    expect(groupage.grantRegister(imported).success).toBe(true);
    expect(() => groupage.grantRegister(new User(stack, 'User'), { as: 'shop' })).toThrow(
      /because CloudFormation returns no unique ids of users: .*get-user/,
    );
    expect(() => groupage.grantRegister(new AccountPrincipal('111122223333'), { as: 'shop' })).toThrow(
      /because it is no role: /,
    );
  });

  it('of another stack is refused, but not of a nested one', () => {
    const stack = theirStack();
    const groupage = groupageIn(stack, { config: CONFIG });
    const other = new Stack(App.of(stack), 'Shop');
    expect(() => groupage.grantRegister(roleIn(other), { as: 'shop' })).toThrow(
      /belongs to the stack Shop.*neither stack could be deployed first: create the role in the stack of Groupage; or grant without "as".*"producers\.shop"/,
    );
    groupage.grantRegister(roleIn(other, 'Nameless'));
    groupage.grantRegister(roleIn(new NestedStack(stack, 'Nested')), { as: 'shop' });
    const [text] = Object.values(variables(templateOf(stack), 'producers'));
    expect(JSON.stringify(text)).toMatch(/"Fn::GetAtt":\["Nested\w+","Outputs\./);
  });

  it('is refused if the environment of the functions has no more space', () => {
    const stack = theirStack();
    const groupage = groupageIn(stack, { config: CONFIG });
    const grant = () => {
      for (let n = 0; n < 100; n += 1) groupage.grantRegister(roleIn(stack, `Role${n}`), { as: 'crm' });
    };
    expect(grant).toThrow(/need \d+ bytes of the functions' environment, which has space for 300: grant further roles/);
  });
});
