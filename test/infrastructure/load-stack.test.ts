/** The stack that verify:aws deploys beside a stage. */
import { App, type Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { groupageApp } from '../../lib/app.ts';
import { stackNames } from '../../lib/stage.ts';
import { LoadStack, tagStacks, UNTIL_TAG } from '../../tools/verify-aws/deployed/load-stack.ts';
import { configOf } from '../../tools/verify-aws/loads/plan.ts';
import { ofType } from './rules/template.ts';
import { templateOf } from './synthesised.ts';
import { context, noCode } from './templates.ts';

const synthesised = (token?: string) => {
  const stack: Stack = new LoadStack(new App(), 'Groupage-verify-1-Load', {
    functionName: 'groupage-verify-1',
    token,
  });
  return templateOf(stack);
};

describe('the stack of a verify:aws run', () => {
  it('has the configured downstream function and no public address', () => {
    const template = synthesised();
    expect(ofType(template, 'AWS::Lambda::Function').map(([, properties]) => properties.FunctionName)).toEqual([
      'groupage-verify-1',
    ]);
    expect(ofType(template, 'AWS::Lambda::Url')).toEqual([]);
  });

  it('has a public relay, whose token is in no output', () => {
    const template = synthesised('0123456789abcdef');
    expect(ofType(template, 'AWS::Lambda::Url')).toHaveLength(1);
    expect(JSON.stringify(template.Outputs)).not.toContain('0123456789abcdef');
  });

  it('leaves nothing behind, and grants nothing on all resources', () => {
    const template = synthesised('0123456789abcdef');
    for (const resource of Object.values(template.Resources)) expect(resource.DeletionPolicy).not.toBe('Retain');
    const policies = ofType(template, 'AWS::IAM::Policy').map(([, properties]) => JSON.stringify(properties));
    expect(policies.length).toBeGreaterThan(0);
    expect(policies.filter((policy) => policy.includes('"Resource":"*"'))).toEqual([]);
  });
});

it('all stacks of a verify:aws run have the tag by which a later run finds them', () => {
  const [stage, until] = ['verify-abc123', '2026-11-27T05:00:00.000Z'];
  const app = groupageApp({ config: configOf('f'), stage, context, code: noCode });
  const load = `Groupage-${stage}-Load`;
  new LoadStack(app, load, { functionName: 'f' });
  tagStacks(app, until);
  const tags = app.synth().stacks.map(({ stackName, tags }) => [stackName, tags[UNTIL_TAG]]);
  expect(Object.fromEntries(tags)).toEqual(
    Object.fromEntries([...Object.values(stackNames(stage)), load].map((name) => [name, until])),
  );
});
