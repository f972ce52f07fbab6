import { describe, expect, it } from 'vitest';
import { add, copy, find, promise, remove, set } from '../promise.ts';
import { deadLetterQueuesOf, queuesOf, sourcesOf } from '../rules/flow.ts';
import {
  deadLettersAreSentAgain,
  messagesStayHiddenLongEnough,
  queuesKeepMessagesEncrypted,
  queuesOfTasksOutliveTheirStack,
  queuesTakeTlsOnly,
  workingQueuesHaveDeadLetterQueues,
} from '../rules/queues.ts';
import { SUBJECTS } from '../templates.ts';

const QUEUE = 'AWS::SQS::Queue';
const POLICY = 'AWS::SQS::QueuePolicy';
const WORKING = /ElectQueue[0-9A-F]{8}$/;

describe('the queues', () => {
  it.each(SUBJECTS)('are the working, dead-letter and final ones, in $name', ({ template, tells = false }) => {
    const working = tells ? 5 : 4;
    expect(sourcesOf(template)).toHaveLength(working);
    expect(deadLetterQueuesOf(template).size).toBe(working);
    expect(queuesOf(template)).toHaveLength(2 * working + (tells ? 2 : 1));
  });
});

promise('only queues with a reader have dead letters', workingQueuesHaveDeadLetterQueues, [
  [
    'a working queue without one',
    set(QUEUE, 'RedrivePolicy', undefined, WORKING),
    /ElectQueue.*has no dead-letter queue/,
  ],
  [
    'a new working queue without one',
    (template) => {
      add('NewQueue', QUEUE)(template);
      add('NewSource', 'AWS::Lambda::EventSourceMapping', { EventSourceArn: { 'Fn::GetAtt': ['NewQueue', 'Arn'] } })(
        template,
      );
    },
    /NewQueue: a function reads it/,
  ],
  [
    'a shared dead-letter queue',
    (template) => {
      const [, { Properties }] = find(template, QUEUE, /GroupQueue/);
      set(QUEUE, 'RedrivePolicy', Properties.RedrivePolicy, WORKING)(template);
    },
    /GroupDeadLetters.*takes the dead letters of .*ElectQueue.* and .*GroupQueue/,
  ],
  [
    'a dead-letter queue with a reader',
    (template) => {
      const [, { Properties }] = find(template, QUEUE, WORKING);
      const { deadLetterTargetArn } = Properties.RedrivePolicy as { deadLetterTargetArn: object };
      add('NewSource', 'AWS::Lambda::EventSourceMapping', { EventSourceArn: deadLetterTargetArn })(template);
    },
    /ElectDeadLetters.*has no dead-letter queue/,
  ],
  ['a single receive', set(QUEUE, 'RedrivePolicy.maxReceiveCount', 1, WORKING), /maxReceiveCount is 1, not 5/],
  [
    'a redrive policy on a final queue',
    (template) => {
      const [, { Properties }] = find(template, QUEUE, WORKING);
      set(QUEUE, 'RedrivePolicy', Properties.RedrivePolicy, /RejectedQueue/)(template);
    },
    /RejectedQueue.*no function reads it, yet it has a dead-letter queue/,
  ],
]);

promise('a scheduled function can send each dead letter again', deadLettersAreSentAgain, [
  [
    'a missing right to delete',
    (template) => {
      const [, { Properties }] = find(template, 'AWS::IAM::Policy', /SweepHandler/);
      const text = JSON.stringify(Properties.PolicyDocument).replaceAll('sqs:DeleteMessage', 'sqs:GetQueueUrl');
      Properties.PolicyDocument = JSON.parse(text);
    },
    /ElectDeadLetters.*no scheduled function may take its messages/,
  ],
  ['a missing schedule', remove('AWS::Events::Rule'), /ElectDeadLetters.*no scheduled function/],
]);

promise('queues are encrypted and keep messages for 14 days', queuesKeepMessagesEncrypted, [
  ['a queue without encryption', set(QUEUE, 'SqsManagedSseEnabled', false), /SqsManagedSseEnabled is false/],
  ['a queue without the setting', set(QUEUE, 'SqsManagedSseEnabled', undefined), /SqsManagedSseEnabled is undefined/],
  ['a shorter retention', set(QUEUE, 'MessageRetentionPeriod', 345_600), /MessageRetentionPeriod is 345600/],
  ['a delay', set(QUEUE, 'DelaySeconds', 5), /DelaySeconds is 5/],
]);

promise('queues deny access without TLS', queuesTakeTlsOnly, [
  ['a new queue without a policy', copy(QUEUE, /RejectedQueue/, 'NewQueue'), /NewQueue: may be used without TLS/],
  [
    'a statement on another queue',
    set(POLICY, 'PolicyDocument.Statement.0.Resource', { 'Fn::GetAtt': ['Other', 'Arn'] }),
    /may be used without TLS/,
  ],
  ['a policy of another queue', set(POLICY, 'Queues', [{ Ref: 'Other' }]), /may be used without TLS/],
  ['a denial of some actions', set(POLICY, 'PolicyDocument.Statement.0.Action', 'sqs:SendMessage'), /without TLS/],
  [
    'a denial for one account',
    set(POLICY, 'PolicyDocument.Statement.0.Principal', { AWS: '111111111111' }),
    /without TLS/,
  ],
  [
    'a further condition',
    set(POLICY, 'PolicyDocument.Statement.0.Condition.StringEquals', { 'aws:PrincipalTag/a': 'b' }),
    /without TLS/,
  ],
  [
    'a permission for every rule',
    set(POLICY, 'PolicyDocument.Statement.1', {
      Effect: 'Allow',
      Principal: { Service: 'events.amazonaws.com' },
      Action: 'sqs:SendMessage',
      Resource: '*',
    }),
    /lets another principal in/,
  ],
  [
    'a rule of another account',
    set(POLICY, 'PolicyDocument.Statement.1', {
      Effect: 'Allow',
      Principal: { Service: 'events.amazonaws.com' },
      Action: 'sqs:SendMessage',
      Resource: '*',
      Condition: { ArnEquals: { 'aws:SourceArn': ['arn:aws:events:eu-west-1:1:rule/theirs'] } },
    }),
    /lets another principal in/,
  ],
  [
    'a permission for everyone',
    set(POLICY, 'PolicyDocument.Statement.1', { Effect: 'Allow', Principal: '*', Action: 'sqs:*', Resource: '*' }),
    /lets another principal in/,
  ],
]);

promise("visibility timeouts fit the functions' timeouts", messagesStayHiddenLongEnough, [
  ['a short visibility of batches', set(QUEUE, 'VisibilityTimeout', 60, /BatchQueue/), /BatchQueue.*is 60, not/],
  ['a long visibility of guards', set(QUEUE, 'VisibilityTimeout', 120, WORKING), /ElectQueue.*is 120, not 60/],
  ["a leader's timeout that differs", set('AWS::Lambda::Function', 'Timeout', 50, /Elect/), /is 60, not 300/],
  ['a queue without the setting', set(QUEUE, 'VisibilityTimeout', undefined, WORKING), /is undefined, not 60/],
]);

/** Sets both policies of every queue. */
const policies = (DeletionPolicy: string, UpdateReplacePolicy: string) => (template: object) => {
  for (const resource of Object.values(Reflect.get(template, 'Resources') as Record<string, { Type: string }>))
    if (resource.Type === QUEUE) Object.assign(resource, { DeletionPolicy, UpdateReplacePolicy });
};

promise(
  'queues that hold tasks outlive a kept stack',
  queuesOfTasksOutliveTheirStack(true),
  [
    ['queues deleted with the stack', policies('Delete', 'Retain'), /RegisterDeadLetters.*DeletionPolicy is "Delete"/s],
    ['queues deleted when replaced', policies('RetainExceptOnCreate', 'Delete'), /UpdateReplacePolicy is "Delete"/],
  ],
  SUBJECTS.filter((each) => each.kept),
);

promise(
  'no queue outlives a stage that is not kept',
  queuesOfTasksOutliveTheirStack(false),
  [['retained queues', policies('RetainExceptOnCreate', 'Retain'), /DeletionPolicy is "RetainExceptOnCreate"/]],
  SUBJECTS.filter((each) => !each.kept),
);
