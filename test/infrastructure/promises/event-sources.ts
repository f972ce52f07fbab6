import { describe, expect, it } from 'vitest';
import { aConfig } from '../../factories/factories.ts';
import { copy, find, promise, set } from '../promise.ts';
import {
  concurrencyIsLimitedAtTheSource,
  failuresAreReportedByMessage,
  messagesArriveAtOnceAndAll,
  queuesHaveOneReader,
} from '../rules/event-sources.ts';
import { functionsOf, isInLoop } from '../rules/flow.ts';
import { messagesMayComeBack } from '../rules/functions.ts';
import { messagesStayHiddenLongEnough } from '../rules/queues.ts';
import { ours, SUBJECTS } from '../templates.ts';

const SOURCE = 'AWS::Lambda::EventSourceMapping';

promise('every event source brings back only the messages that failed', failuresAreReportedByMessage, [
  ['one that brings back all', set(SOURCE, 'FunctionResponseTypes', undefined), /FunctionResponseTypes is undefined/],
]);

promise('every message reaches its function, at once', messagesArriveAtOnceAndAll, [
  ['a window', set(SOURCE, 'MaximumBatchingWindowInSeconds', 1, /Elect/), /waits to fill a batch/],
  ['a filter', set(SOURCE, 'FilterCriteria', { Filters: [] }), /FilterCriteria is/],
  ['one that is switched off', set(SOURCE, 'Enabled', false), /is switched off/],
  ['more messages than there is time for', set(SOURCE, 'BatchSize', 100), /BatchSize is 100/],
]);

describe('register messages that are gathered', () => {
  const template = ours('gathered', { ...aConfig(), register: { maxMessages: 100, maxWait: 5_000 } });
  const of = (type: string, path: RegExp) => find(template, type, path)[1].Properties;

  it('come as many, as late as the configuration says, and are hidden for so much longer', () => {
    expect(of(SOURCE, /Register/)).toMatchObject({ BatchSize: 100, MaximumBatchingWindowInSeconds: 5 });
    expect(of('AWS::SQS::Queue', /RegisterQueue/)).toMatchObject({ VisibilityTimeout: 125 });
  });

  it('break no promise, and no other messages wait for company', () => {
    const rules = [messagesArriveAtOnceAndAll, messagesStayHiddenLongEnough, failuresAreReportedByMessage];
    expect(rules.flatMap((rule) => rule(template))).toEqual([]);
    expect(JSON.stringify(template).match(/MaximumBatchingWindowInSeconds/g)).toHaveLength(1);
  });
});

promise('concurrency is limited at every event source', concurrencyIsLimitedAtTheSource, [
  ['one without limit', set(SOURCE, 'ScalingConfig', undefined), /MaximumConcurrency is undefined/],
  ['less than Lambda takes', set(SOURCE, 'ScalingConfig.MaximumConcurrency', 1), /MaximumConcurrency is 1/],
  ['more than an account can spare', set(SOURCE, 'ScalingConfig.MaximumConcurrency', 900), /may take 1150 of/],
]);

promise('every working queue has one reader', queuesHaveOneReader, [
  ['two', copy(SOURCE, /ElectQueue/, 'NewSource'), /ElectQueue.* has several readers/],
  ['a function from elsewhere', set(SOURCE, 'FunctionName', { Ref: 'Elsewhere' }), /to Elsewhere, which/],
]);

promise('messages may come back to every function with a queue, and reach no other', messagesMayComeBack, [
  [
    'a leader whose messages Lambda would stop',
    set('AWS::Lambda::Function', 'RecursiveLoop', undefined, /GroupHandler/),
    /GroupHandler.*RecursiveLoop is undefined, not "Allow" \(its messages come back to it\)/,
  ],
  [
    'a function whose follow-ups Lambda would stop',
    set('AWS::Lambda::Function', 'RecursiveLoop', 'Terminate', /RegisterHandler/),
    /RegisterHandler.*RecursiveLoop is "Terminate"/,
  ],
  [
    'a function without a queue that says so',
    set('AWS::Lambda::Function', 'RecursiveLoop', 'Allow', /ApiHandler/),
    /ApiHandler.*RecursiveLoop is "Allow", not undefined/,
  ],
]);

describe('the loops', () => {
  const loops = (template: Parameters<typeof isInLoop>[0]): string[] =>
    functionsOf(template).flatMap(([id]) =>
      isInLoop(template, id) ? [(/(\w+)Handler/.exec(id)?.[1] ?? '').replace(/^.*Flow/, '')] : [],
    );

  it.each(SUBJECTS)(
    'are of whoever goes on with a trigger, finds leaders, leads, or handles batches, in $name',
    ({ template }) => expect(loops(template)).toEqual(['Register', 'Elect', 'Group', 'Batch']),
  );

  it('are found through other functions too', () => {
    const template = structuredClone(SUBJECTS[0]?.template ?? { Resources: {} });
    const [register] = find(template, 'AWS::SQS::Queue', /RegisterQueue/);
    const statement = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: { 'Fn::GetAtt': [register, 'Arn'] } };
    const statementsOf = (handler: RegExp): { Resource: unknown }[] => {
      const [, { Properties }] = find(template, 'AWS::IAM::Policy', handler);
      return (Properties.PolicyDocument as { Statement: { Resource: unknown }[] }).Statement;
    };
    // Without what it sends itself, when it goes on with a trigger.
    for (const own of statementsOf(/RegisterHandler/))
      if (JSON.stringify(own).includes('sqs:SendMessage') && Array.isArray(own.Resource))
        own.Resource = own.Resource.filter((resource) => !JSON.stringify(resource).includes(register));
    expect(loops(template)).toEqual(['Elect', 'Group', 'Batch']);
    statementsOf(/BatchHandler/).push(statement);
    expect(loops(template)).toEqual(['Register', 'Elect', 'Group', 'Batch']);
  });
});
