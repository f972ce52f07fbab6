import { App, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { describe, expect, it } from 'vitest';
import { Groupage } from '../../lib/groupage.ts';
import { statementsOfRole } from './rules/flow.ts';
import { tablesOutliveTheirStack } from './rules/tables.ts';
import { idOf } from './rules/template.ts';
import { templateOf } from './synthesised.ts';
import { OPERATIONS } from './templates.ts';

describe('the construct Groupage', () => {
  it('deletes its data with the stack only if removalPolicy says so', () => {
    const stack = new Stack(new App(), 'TheirStack');
    new Groupage(stack, 'Groupage', { config: { operations: OPERATIONS }, removalPolicy: RemovalPolicy.DESTROY });
    expect(tablesOutliveTheirStack(false)(templateOf(stack))).toEqual([]);
  });

  it('lets a producer send register messages, and nothing else', () => {
    const stack = new Stack(new App(), 'TheirStack');
    const producer = new Role(stack, 'Producer', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    const groupage = new Groupage(stack, 'Groupage', { config: { operations: OPERATIONS } });
    groupage.grantRegister(producer);
    const template = templateOf(stack);
    const allowed = statementsOfRole(template, stack.getLogicalId(producer.node.defaultChild as never)).map(
      ({ Action, Resource }) => [Action, idOf(Resource)],
    );
    expect(allowed).toEqual([
      [['sqs:SendMessage', 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl'], 'GroupageFlowRegisterQueue9E02D6CB'],
    ]);
  });

  it('lets a job report how its batch ended, and nothing else', () => {
    const stack = new Stack(new App(), 'TheirStack');
    const job = new Role(stack, 'Job', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    const groupage = new Groupage(stack, 'Groupage', { config: { operations: OPERATIONS } });
    groupage.grantComplete(job);
    const template = templateOf(stack);
    const allowed = statementsOfRole(template, stack.getLogicalId(job.node.defaultChild as never));
    const queue = stack.getLogicalId(groupage.batchQueue.node.defaultChild as never);
    expect(allowed.map(({ Action, Resource }) => [Action, idOf(Resource)])).toEqual([
      [['sqs:SendMessage', 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl'], queue],
    ]);
  });

  it('lets a service call the API by its URL, and nothing else', () => {
    const stack = new Stack(new App(), 'TheirStack');
    const service = new Role(stack, 'Service', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    const groupage = new Groupage(stack, 'Groupage', { config: { operations: OPERATIONS } });
    groupage.grantApi(service);
    const template = templateOf(stack);
    const allowed = statementsOfRole(template, stack.getLogicalId(service.node.defaultChild as never));
    expect(allowed.map(({ Action, Resource, Condition }) => [Action, idOf(Resource), Condition])).toEqual([
      [
        'lambda:InvokeFunctionUrl',
        'GroupageFlowApiHandlerFunction7C6E3EB9',
        { StringEquals: { 'lambda:FunctionUrlAuthType': 'AWS_IAM' } },
      ],
      [
        'lambda:InvokeFunction',
        'GroupageFlowApiHandlerFunction7C6E3EB9',
        { Bool: { 'lambda:InvokedViaFunctionUrl': true } },
      ],
    ]);
    expect(stack.resolve(groupage.apiUrl)).toEqual({
      'Fn::Join': ['', [{ 'Fn::GetAtt': ['GroupageFlowApiHandlerFunctionFunctionUrl8604C4AA', 'FunctionUrl'] }, 'v1']],
    });
  });

  it('refuses an invalid configuration, and names the error', () => {
    const stack = new Stack(new App(), 'TheirStack');
    const broken = { operations: { ship: { ...OPERATIONS.ship, target: 'depot' } } };
    expect(() => new Groupage(stack, 'Groupage', { config: broken as never })).toThrow(
      /TheirStack\/Groupage: the configuration is invalid:\noperations\.ship\.target must be a list/,
    );
  });
});
