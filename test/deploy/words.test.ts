import { describe, expect, it } from 'vitest';
import { stageProblem } from '../../lib/stage.ts';
import { causesOf, type Happened, invalidOf } from '../../tools/deploy/causes.ts';
import { headingOf, nextSteps, staysOf, warningsOf } from '../../tools/deploy/words.ts';
import { aConfig, aDownstream } from '../factories/factories.ts';

describe('the cause of a failure', () => {
  const STACK = {
    LogicalResourceId: 'Flow',
    PhysicalResourceId: 'arn:stack',
    ResourceType: 'AWS::CloudFormation::Stack',
  };
  const event = (of: Happened): Happened => ({ StackId: 'arn:stack', PhysicalResourceId: 'one', ...of });
  const failed = (LogicalResourceId: string, reason: string, ResourceStatus = 'CREATE_FAILED'): Happened =>
    event({ LogicalResourceId, ResourceType: 'AWS::SQS::Queue', ResourceStatus, ResourceStatusReason: reason });

  it("is the first failure, not a later cancellation or the stack's event", () => {
    expect(
      causesOf([
        event({ ...STACK, ResourceStatus: 'CREATE_IN_PROGRESS' }),
        failed('Taken', 'the name is taken'),
        failed('Other', 'Resource creation cancelled'),
        event({ ...STACK, ResourceStatus: 'ROLLBACK_FAILED', ResourceStatusReason: 'failed to create: [Taken]' }),
        failed('Stubborn', 'cannot be removed', 'DELETE_FAILED'),
      ]),
    ).toEqual(['Taken (AWS::SQS::Queue): the name is taken']);
  });

  it('is of this operation, not of an earlier one', () => {
    expect(
      causesOf([
        event({ ...STACK, ResourceStatus: 'UPDATE_IN_PROGRESS' }),
        failed('Before', 'long mended', 'UPDATE_FAILED'),
        event({ ...STACK, ResourceStatus: 'UPDATE_IN_PROGRESS' }),
        failed('Now', 'too many', 'UPDATE_FAILED'),
      ]),
    ).toEqual(['Now (AWS::SQS::Queue): too many']);
  });

  it("is otherwise the stack's own reason, or a failed removal", () => {
    expect(causesOf([event({ ...STACK, ResourceStatus: 'CREATE_FAILED', ResourceStatusReason: 'why' })])).toEqual([
      'Flow (AWS::CloudFormation::Stack): why',
    ]);
    expect(causesOf([failed('Bucket', 'not empty', 'DELETE_FAILED')])).toEqual(['Bucket (AWS::SQS::Queue): not empty']);
    expect(causesOf([])).toEqual([]);
  });

  it('is the invalid part of the template if no resource was tried', () => {
    expect(
      invalidOf([
        { LogicalResourceId: 'Q', ResourceType: 'T', ValidationPath: '/a', ValidationStatusReason: 'exists' },
      ]),
    ).toEqual(['Q (T): /a exists']);
  });
});

it('a stage name has letters, digits and hyphens, and prod is in lower case', () => {
  for (const stage of ['dev', 'prod', 'team-a', 'A1', 'x'.repeat(32)]) expect(stageProblem(stage)).toBeUndefined();
  for (const stage of ['', 'a_b', '-a', 'a-', 'a b', 'ä', 'x'.repeat(33), 'a/b'])
    expect(stageProblem(stage)).toContain('letters, digits and hyphens');
  expect(stageProblem('Prod')).toContain('in lower case');
});

it('a deployment warns of an unreachable downstream, and of data deleted with its stack', () => {
  expect(warningsOf('dev', aConfig())).toEqual([
    expect.stringMatching(/a Lambda function cannot reach/),
    expect.stringContaining('the tables of dev are deleted'),
  ]);
  expect(warningsOf('prod', aConfig())).toHaveLength(1);
});

it('the next steps name the stack for the command line', () => {
  const outputs = { ApiUrl: 'https://a/', RegisterQueueUrl: 'https://q' };
  const ops = { name: 'Groupage-dev-Ops', outputs: { DashboardName: 'Groupage-dev-Ops-eu-west-1' } };
  const steps = nextSteps('dev', [{ name: 'Groupage-dev-Flow', outputs }, ops]);
  expect(steps).toContain('--stack Groupage-dev-Flow');
  expect(steps).toMatch(/dashboard +Groupage-dev-Ops-eu-west-1/);
});

it('a warning shows a URL without its credentials and query', () => {
  const downstream = aDownstream({ url: 'http://user:word@localhost:9100/batch?key=s3cret' });
  const [said] = warningsOf('prod', aConfig({ downstream }));
  expect(said).toContain('http://localhost:9100/batch,');
  expect(said).not.toMatch(/s3cret|word/);
});

it('destroy says what stays of a stage that keeps its data', () => {
  const name = 'Groupage-prod-Data';
  expect(staysOf('prod', { name, status: 'CREATE_COMPLETE' })).toContain('uses them again');
  expect(staysOf('prod', { name, status: 'DELETE_FAILED' })).not.toMatch(/uses them again|npm run destroy/);
});

it('a heading announces the causes, or says where to find them', () => {
  const heading = (causes: readonly string[], interrupted: boolean) => headingOf('It ended', { causes, interrupted });
  expect([heading(['full'], false), heading(['full'], true)]).toEqual(['\nIt ended:', '\nIt ended:']);
  expect([heading([], true), heading([], false)]).toEqual(['\nIt ended.', '\nIt ended, see above.']);
});
