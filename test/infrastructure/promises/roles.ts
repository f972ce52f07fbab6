import { describe, expect, it } from 'vitest';
import { aConfig } from '../../factories/factories.ts';
import { copy, find, promise, set } from '../promise.ts';
import {
  functionsWaitForTheirPolicies,
  functionsWriteTheirOwnLogsAlone,
  rolesBelongToOneFunction,
  rolesHaveNoManagedPolicies,
  rolesTrustLambdaAlone,
  statementsNameWhatTheyAllow,
} from '../rules/roles.ts';
import type { Template } from '../rules/template.ts';
import { ours } from '../templates.ts';

const ROLE = 'AWS::IAM::Role';
const POLICY = 'AWS::IAM::Policy';

/** Adds a statement to the first policy. */
const allow =
  (Action: string | string[], Resource: unknown) =>
  (template: Template): void => {
    const { PolicyDocument } = find(template, POLICY)[1].Properties;
    (PolicyDocument as { Statement: object[] }).Statement.push({ Effect: 'Allow', Action, Resource });
  };

promise('each role belongs to one function', rolesBelongToOneFunction, [
  [
    'two functions with one role',
    copy('AWS::Lambda::Function', /ElectHandler/, 'NewFunction'),
    /is not the role of one function/,
  ],
  ['a role without a function', copy(ROLE, /ElectHandler/, 'NewRole'), /NewRole: is not the role of one function/],
  ['a role of another stack', set('AWS::Lambda::Function', 'Role', 'arn:elsewhere'), /role is not in the template/],
  ['a shared policy', set(POLICY, 'Roles', [{ Ref: 'A' }, { Ref: 'B' }]), /is not the policy of one role/],
]);

promise('every role trusts Lambda alone', rolesTrustLambdaAlone, [
  [
    'another principal',
    set(ROLE, 'AssumeRolePolicyDocument.Statement.0.Principal', { AWS: '*' }),
    /is trusted to .*"AWS":"\*"/,
  ],
  [
    'a second principal',
    set(ROLE, 'AssumeRolePolicyDocument.Statement.1', { Effect: 'Allow', Principal: '*', Action: 'sts:AssumeRole' }),
    /is trusted to/,
  ],
]);

promise('no role has a managed policy', rolesHaveNoManagedPolicies, [
  [
    'a role that has one',
    set(ROLE, 'ManagedPolicyArns', ['arn:aws:iam::aws:policy/ReadOnlyAccess']),
    /ManagedPolicyArns is/,
  ],
]);

promise('every statement names what it allows', statementsNameWhatTheyAllow, [
  ['all actions', allow('dynamodb:*', { 'Fn::GetAtt': ['T', 'Arn'] }), /unexplained wildcard in .*dynamodb:\*/],
  ['all resources', allow('sqs:SendMessage', '*'), /unexplained wildcard/],
  ['all indexes', allow('dynamodb:Query', { 'Fn::Join': ['', [{ Ref: 'T' }, '/index/*']] }), /unexplained wildcard/],
  [
    'secrets by prefix',
    allow('secretsmanager:GetSecretValue', 'arn:aws:secretsmanager:r:1:secret:parcels-*'),
    /unexplained wildcard/,
  ],
  [
    "a function's name with wildcards",
    allow('lambda:InvokeFunction', 'arn:aws:lambda:r:1:function:parcels-??????'),
    /unexplained wildcard/,
  ],
  [
    'NotAction',
    (template) =>
      (find(template, POLICY)[1].Properties.PolicyDocument as { Statement: object[] }).Statement.push({
        Effect: 'Allow',
        NotAction: 'iam:PassRole',
        Resource: 'r',
      }),
    /unexplained wildcard/,
  ],
  [
    'an inline policy that allows everything',
    set(ROLE, 'Policies', [{ PolicyDocument: { Statement: { Effect: 'Allow', Action: '*', Resource: '*' } } }]),
    /unexplained wildcard/,
  ],
]);

promise('functions write their own logs only', functionsWriteTheirOwnLogsAlone, [
  [
    "another function's log group",
    allow('logs:PutLogEvents', { 'Fn::GetAtt': ['Other', 'Arn'] }),
    /may write logs into .*Other/,
  ],
  [
    'a right beyond writing',
    allow('logs:DeleteLogGroup', { 'Fn::GetAtt': ['Own', 'Arn'] }),
    /has the rights .*logs:DeleteLogGroup/,
  ],
  [
    'a role without the right to write logs',
    set(POLICY, 'PolicyDocument', { Statement: [] }),
    /has the rights none on logs/,
  ],
]);

promise('functions depend on the policies of their roles', functionsWaitForTheirPolicies, [
  [
    'a function without dependencies',
    (template) => {
      Object.assign(find(template, 'AWS::Lambda::Function', /ElectHandler/)[1], { DependsOn: [] });
    },
    /ElectHandlerFunction.*may exist before FlowElectHandlerRoleDefaultPolicy/,
  ],
]);

describe('the batch handler', () => {
  /** The batch handler's actions on the table of locks. */
  const actionsOnLocks = (template: Template): string[] => {
    const [table] = find(template, 'AWS::DynamoDB::Table', /BatchLock/);
    const { PolicyDocument } = find(template, POLICY, /BatchHandler/)[1].Properties;
    const { Statement } = PolicyDocument as { Statement: { Action: string | string[]; Resource: unknown }[] };
    return Statement.filter(({ Resource }) => JSON.stringify(Resource).includes(table)).flatMap(({ Action }) => Action);
  };

  it('has rights on merged results only if an operation merges', () => {
    const merging = ours('dev', aConfig({ merge: { keys: 'inputs[].id' } }));
    const actions = ['dynamodb:BatchGetItem', 'dynamodb:BatchWriteItem'];
    expect(actionsOnLocks(merging)).toEqual(expect.arrayContaining(actions));
    for (const action of actions) expect(actionsOnLocks(ours('dev'))).not.toContain(action);
  });
});
