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

describe('the kinds of queues', () => {
  it.each(SUBJECTS)(
    'are four that work flows through, their dead letters and the rejected one, and two more and dead letters for events, in $name',
    ({ template, tells = false }) => {
      const working = tells ? 5 : 4;
      expect(sourcesOf(template)).toHaveLength(working);
      expect(deadLetterQueuesOf(template).size).toBe(working);
      expect(queuesOf(template)).toHaveLength(2 * working + (tells ? 2 : 1));
    },
  );
});

promise(
  'every queue that a function works off has a dead-letter queue of its own, no other has one',
  workingQueuesHaveDeadLetterQueues,
  [
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
      /NewQueue: a function works it off/,
    ],
    [
      'a shared one',
      (template) => {
        const [, { Properties }] = find(template, QUEUE, /GroupQueue/);
        set(QUEUE, 'RedrivePolicy', Properties.RedrivePolicy, WORKING)(template);
      },
      /GroupDeadLetters.*takes the dead letters of .*ElectQueue.* and .*GroupQueue/,
    ],
    [
      'one that is worked off like any other',
      (template) => {
        const [, { Properties }] = find(template, QUEUE, WORKING);
        const { deadLetterTargetArn } = Properties.RedrivePolicy as { deadLetterTargetArn: object };
        add('NewSource', 'AWS::Lambda::EventSourceMapping', { EventSourceArn: deadLetterTargetArn })(template);
      },
      /ElectDeadLetters.*has no dead-letter queue/,
    ],
    [
      'a message that gets one try',
      set(QUEUE, 'RedrivePolicy.maxReceiveCount', 1, WORKING),
      /maxReceiveCount is 1, not 5/,
    ],
    [
      'a redrive policy where nothing can fail',
      (template) => {
        const [, { Properties }] = find(template, QUEUE, WORKING);
        set(QUEUE, 'RedrivePolicy', Properties.RedrivePolicy, /RejectedQueue/)(template);
      },
      /RejectedQueue.*no function works it off, yet it has dead letters/,
    ],
  ],
);

promise('every dead letter is sent again by a scheduled function that may take it away', deadLettersAreSentAgain, [
  [
    'one that nobody may delete',
    (template) => {
      const [, { Properties }] = find(template, 'AWS::IAM::Policy', /SweepHandler/);
      const text = JSON.stringify(Properties.PolicyDocument).replaceAll('sqs:DeleteMessage', 'sqs:GetQueueUrl');
      Properties.PolicyDocument = JSON.parse(text);
    },
    /ElectDeadLetters.*no scheduled function may take its messages/,
  ],
  ['ones for which somebody has to ask', remove('AWS::Events::Rule'), /ElectDeadLetters.*no scheduled function/],
]);

promise('every queue is encrypted, and keeps messages for fourteen days', queuesKeepMessagesEncrypted, [
  ['one in clear', set(QUEUE, 'SqsManagedSseEnabled', false), /SqsManagedSseEnabled is false/],
  ['one that says nothing', set(QUEUE, 'SqsManagedSseEnabled', undefined), /SqsManagedSseEnabled is undefined/],
  ['one that forgets', set(QUEUE, 'MessageRetentionPeriod', 345_600), /MessageRetentionPeriod is 345600/],
  ['one that delays everything', set(QUEUE, 'DelaySeconds', 5), /DelaySeconds is 5/],
]);

promise('every queue takes TLS only, by a statement about that very queue', queuesTakeTlsOnly, [
  ['a new queue without a policy', copy(QUEUE, /RejectedQueue/, 'NewQueue'), /NewQueue: may be used without TLS/],
  [
    'a statement about another queue',
    set(POLICY, 'PolicyDocument.Statement.0.Resource', { 'Fn::GetAtt': ['Other', 'Arn'] }),
    /may be used without TLS/,
  ],
  ['a policy that hangs on another queue', set(POLICY, 'Queues', [{ Ref: 'Other' }]), /may be used without TLS/],
  ['one that denies some calls', set(POLICY, 'PolicyDocument.Statement.0.Action', 'sqs:SendMessage'), /without TLS/],
  [
    'one that denies somebody',
    set(POLICY, 'PolicyDocument.Statement.0.Principal', { AWS: '111111111111' }),
    /without TLS/,
  ],
  [
    'one with a further condition',
    set(POLICY, 'PolicyDocument.Statement.0.Condition.StringEquals', { 'aws:PrincipalTag/a': 'b' }),
    /without TLS/,
  ],
  [
    'one that lets in any rule',
    set(POLICY, 'PolicyDocument.Statement.1', {
      Effect: 'Allow',
      Principal: { Service: 'events.amazonaws.com' },
      Action: 'sqs:SendMessage',
      Resource: '*',
    }),
    /lets somebody in/,
  ],
  [
    "one that lets in somebody else's rule",
    set(POLICY, 'PolicyDocument.Statement.1', {
      Effect: 'Allow',
      Principal: { Service: 'events.amazonaws.com' },
      Action: 'sqs:SendMessage',
      Resource: '*',
      Condition: { ArnEquals: { 'aws:SourceArn': ['arn:aws:events:eu-west-1:1:rule/theirs'] } },
    }),
    /lets somebody in/,
  ],
  [
    'one that lets somebody in',
    set(POLICY, 'PolicyDocument.Statement.1', { Effect: 'Allow', Principal: '*', Action: 'sqs:*', Resource: '*' }),
    /lets somebody in/,
  ],
]);

promise(
  "a message stays hidden for six timeouts, a leader's from its lease until soon after",
  messagesStayHiddenLongEnough,
  [
    ['a batch that comes back too soon', set(QUEUE, 'VisibilityTimeout', 60, /BatchQueue/), /BatchQueue.*is 60, not/],
    ['a guard that comes back late', set(QUEUE, 'VisibilityTimeout', 120, WORKING), /ElectQueue.*is 120, not 60/],
    ['a leader without an end in sight', set('AWS::Lambda::Function', 'Timeout', 50, /Elect/), /is 60, not 300/],
    ['a queue that says nothing', set(QUEUE, 'VisibilityTimeout', undefined, WORKING), /is undefined, not 60/],
  ],
);

/** Says of every queue what is said of those that are thrown away, or kept. */
const policies = (DeletionPolicy: string, UpdateReplacePolicy: string) => (template: object) => {
  for (const resource of Object.values(Reflect.get(template, 'Resources') as Record<string, { Type: string }>))
    if (resource.Type === QUEUE) Object.assign(resource, { DeletionPolicy, UpdateReplacePolicy });
};

promise(
  'a queue whose messages may be all that there is of a task outlives its stack in production, and in the construct',
  queuesOfTasksOutliveTheirStack(true),
  [
    ['ones that go with their stack', policies('Delete', 'Retain'), /RegisterDeadLetters.*DeletionPolicy is "Delete"/s],
    ['ones that go when replaced', policies('RetainExceptOnCreate', 'Delete'), /UpdateReplacePolicy is "Delete"/],
  ],
  SUBJECTS.filter((each) => each.kept),
);

promise(
  'no queue of another stage is left over',
  queuesOfTasksOutliveTheirStack(false),
  [['ones that stay', policies('RetainExceptOnCreate', 'Retain'), /DeletionPolicy is "RetainExceptOnCreate"/]],
  SUBJECTS.filter((each) => !each.kept),
);
