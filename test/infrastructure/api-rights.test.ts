/** The limited rights of callers of the API: what their roles may do, and the limits in the environment of the API's function. */
import { App, Stack } from 'aws-cdk-lib';
import {
  AccountPrincipal,
  AnyPrincipal,
  ArnPrincipal,
  CompositePrincipal,
  Group,
  type IGrantable,
  OrganizationPrincipal,
  PrincipalWithConditions,
  Role,
  ServicePrincipal,
  User,
} from 'aws-cdk-lib/aws-iam';
import { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, it } from 'vitest';
import { LIMITS_MAX_BYTES } from '../../lib/api-callers.ts';
import type { Groupage } from '../../lib/groupage.ts';
import { ENVIRONMENT } from '../../src/domain/deployed/environment.ts';
import { parseLimits } from '../../src/domain/deployed/limits.ts';
import { functionsOf, statementsOfRole } from './rules/flow.ts';
import { at, idOf, listOf, type Template } from './rules/template.ts';
import { templateOf } from './synthesised.ts';
import { OPERATIONS } from './templates.ts';
import { groupageIn, logicalId, theirStack } from './theirs.ts';

const trusting = { assumedBy: new ServicePrincipal('lambda.amazonaws.com') };
const ACCOUNT = '111122223333';
/** An ARN as it is deployed: a reference to a resource names that resource. */
const deployed = (part: unknown): string => {
  if (typeof part === 'string') return part;
  const pseudo = (part as { readonly Ref?: string }).Ref;
  if (pseudo === 'AWS::Partition') return 'aws';
  if (pseudo === 'AWS::AccountId') return ACCOUNT;
  const id = idOf(part);
  return `arn:aws:iam::${ACCOUNT}:${id.startsWith('User') ? 'user' : 'role'}/${id}`;
};

const variablesOf = (template: Template): Record<string, unknown> => {
  const [, properties] = functionsOf(template).find(([id]) => id.includes('ApiHandler')) ?? ['', {}];
  return at(properties, 'Environment.Variables') as Record<string, unknown>;
};

/** The limits that the API's function reads. */
const limitsIn = (stack: Stack) => {
  const value = variablesOf(templateOf(stack))[ENVIRONMENT.limits];
  if (value === undefined) return undefined;
  const parts = typeof value === 'string' ? [value] : (at(value as object, 'Fn::Join.1') as unknown[]);
  return Object.fromEntries(parseLimits(parts.map(deployed).join('')));
};

const named = (arn: string) => `${ACCOUNT}:role/${arn}`.toLowerCase();

describe('a grant of a part of the API', () => {
  it.each<[string, (groupage: Groupage, to: IGrantable) => unknown]>([
    ['grantRead', (groupage, to) => groupage.grantRead(to)],
    ['grantOperate', (groupage, to) => groupage.grantOperate(to)],
  ])('%s lets a role invoke the function through its URL only', (_, grant) => {
    const stack = theirStack();
    const role = new Role(stack, 'Caller', trusting);
    grant(groupageIn(stack), role);
    const template = templateOf(stack);
    const statements = statementsOfRole(template, logicalId(role));
    // A direct invocation could forge the identity in the event.
    expect(statements.map(({ Action, Condition }) => [Action, Condition])).toEqual([
      ['lambda:InvokeFunctionUrl', { StringEquals: { 'lambda:FunctionUrlAuthType': 'AWS_IAM' } }],
      ['lambda:InvokeFunction', { Bool: { 'lambda:InvokedViaFunctionUrl': true } }],
    ]);
    for (const { Resource } of statements) expect(idOf(listOf(Resource)[0])).toContain('ApiHandlerFunction');
  });

  it('lets a role call an HTTP API, and not invoke its function', () => {
    const stack = theirStack();
    const role = new Role(stack, 'Caller', trusting);
    groupageIn(stack, { api: 'http-api' }).grantRead(role);
    const statements = statementsOfRole(templateOf(stack), logicalId(role));
    expect(statements.map(({ Action }) => Action)).toEqual(['execute-api:Invoke']);
    expect(limitsIn(stack)).toEqual({ [named(logicalId(role))]: 'read' });
  });

  it('tells the function the limits of roles and users', () => {
    const stack = theirStack();
    const groupage = groupageIn(stack);
    const role = new Role(stack, 'Caller', trusting);
    const user = new User(stack, 'User');
    const service = groupage.flow.functions.get('sweep') as Lambda;
    groupage.grantRead(role);
    groupage.grantOperate(user);
    groupage.grantRead(service);
    groupage.grantOperate(Role.fromRoleArn(stack, 'Sso', 'arn:aws:iam::111122223333:role/aws-reserved/OnCall'));
    groupage.grantRead(Role.fromRoleName(stack, 'Named', 'Auditor'));
    groupage.grantRead(new ArnPrincipal('arn:aws:iam::444455556666:role/Partner'));
    expect(limitsIn(stack)).toEqual({
      [named(logicalId(role))]: 'read',
      [`${ACCOUNT}:user/${logicalId(user)}`.toLowerCase()]: 'operate',
      [named(logicalId(service.role as Role))]: 'read',
      [named('oncall')]: 'operate',
      [named('auditor')]: 'read',
      '444455556666:role/partner': 'read',
    });
  });

  it.each<[string, (groupage: Groupage, to: IGrantable) => unknown, Record<string, string>]>([
    ['read, then operate', (groupage, to) => [groupage.grantRead(to), groupage.grantOperate(to)], { right: 'operate' }],
    ['operate, then read', (groupage, to) => [groupage.grantOperate(to), groupage.grantRead(to)], { right: 'operate' }],
    ['read, then all', (groupage, to) => [groupage.grantRead(to), groupage.grantApi(to)], {}],
    ['all, then operate', (groupage, to) => [groupage.grantApi(to), groupage.grantOperate(to)], {}],
  ])('of several grants, the largest counts: %s', (_, grant, { right }) => {
    const stack = theirStack();
    const role = new Role(stack, 'Caller', trusting);
    grant(groupageIn(stack), role);
    expect(limitsIn(stack) ?? {}).toEqual(right === undefined ? {} : { [named(logicalId(role))]: right });
  });

  it('adds nothing to the function without limited callers', () => {
    const stack = theirStack();
    groupageIn(stack).grantApi(new Role(stack, 'Caller', trusting));
    expect(limitsIn(stack)).toBeUndefined();
  });

  it.each<[string, (stack: Stack) => IGrantable]>([
    ['a service', () => new ServicePrincipal('lambda.amazonaws.com')],
    ['an account', () => new AccountPrincipal('444455556666')],
    [
      'an account with conditions',
      () => new PrincipalWithConditions(new AccountPrincipal(ACCOUNT), { Bool: { a: 1 } }),
    ],
    ['an organization', () => new OrganizationPrincipal('o-abcdefghij')],
    ['anybody', () => new AnyPrincipal()],
    ['a group', (stack) => new Group(stack, 'Group')],
    ['an imported group', (stack) => Group.fromGroupName(stack, 'Group', 'ops')],
    ['the ARN of a session', () => new ArnPrincipal(`arn:aws:sts::${ACCOUNT}:assumed-role/ops/me`)],
    ['two roles at once', () => new CompositePrincipal(arnOf('one'), arnOf('two'))],
    [
      'an imported function without its role',
      (stack) => Lambda.fromFunctionArn(stack, 'Fn', `arn:aws:lambda:eu-west-1:${ACCOUNT}:function:theirs`),
    ],
  ])('is refused for %s, with a way out', (_, principal) => {
    const stack = theirStack();
    const groupage = groupageIn(stack);
    const caller = principal(stack);
    expect(() => groupage.grantRead(caller)).toThrow(
      /TheirStack\/Groupage\/Flow: grantRead and grantOperate are for roles and users.*give all rights with grantApi/,
    );
    expect(() => groupage.grantRead(caller)).not.toThrow(/Token\[/);
  });

  it('is refused above the size of the environment', () => {
    const stack = theirStack();
    const groupage = groupageIn(stack);
    const words = /name too many callers: their ARNs may take \d+ of 580 bytes.*Grant to fewer roles/;
    const grants = (count: number, role: (n: number) => IGrantable) => () => {
      for (let n = 0; n < count; n++) groupage.grantRead(role(n));
    };
    expect(grants(5, (n) => new Role(stack, `Caller${n}`, trusting))).not.toThrow();
    expect(grants(20, (n) => arnOf(`a-role-with-a-longer-name-${n}`))).toThrow(words);
  });
});

const arnOf = (name: string) => new ArnPrincipal(`arn:aws:iam::${ACCOUNT}:role/${name}`);

describe('a caller of another stack', () => {
  const two = () => {
    const app = new App();
    const stack = new Stack(app, 'TheirStack');
    return { app, groupage: groupageIn(stack), stack, other: new Stack(app, 'Other') };
  };

  it('is limited if its role has a name', () => {
    const { app, groupage, stack, other } = two();
    groupage.grantRead(new Role(other, 'Caller', { ...trusting, roleName: 'Auditor' }));
    groupage.grantApi(new Role(other, 'Free', trusting));
    expect(() => app.synth()).not.toThrow();
    expect(limitsIn(stack)).toEqual({ [named('auditor')]: 'read' });
  });

  it('is refused if its role has a generated name', () => {
    const { groupage, other } = two();
    expect(() => groupage.grantOperate(new Role(other, 'Caller', trusting))).toThrow(/give the role or user a name/);
  });
});

it('the environment of the API has room for the limits, with names as long as they can be', () => {
  const stack = theirStack({ env: { account: ACCOUNT, region: 'ap-southeast-1' } });
  const prefix = 'p'.repeat(40);
  const destinations = { ops: { kind: 'queue' as const, name: 'ops' } };
  groupageIn(stack, { prefix, config: { operations: OPERATIONS, destinations } });
  const variables = variablesOf(templateOf(stack));
  const queue = `https://sqs.ap-southeast-1.amazonaws.com/${ACCOUNT}/`.length + 80;
  const sizes = Object.entries(variables).map(([name, value]) => {
    const known = typeof value === 'string' ? value.length : name.endsWith('_URL') ? queue : 128;
    return name.length + known;
  });
  expect(sizes.reduce((sum, size) => sum + size, 0) + ENVIRONMENT.limits.length + LIMITS_MAX_BYTES).toBeLessThan(4_096);
});
