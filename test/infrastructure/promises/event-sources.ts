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

promise('event sources report failures by message', failuresAreReportedByMessage, [
  [
    'a source that returns the whole batch',
    set(SOURCE, 'FunctionResponseTypes', undefined),
    /FunctionResponseTypes is undefined/,
  ],
]);

promise('messages reach their function at once', messagesArriveAtOnceAndAll, [
  ['a batching window', set(SOURCE, 'MaximumBatchingWindowInSeconds', 1, /Elect/), /waits to fill a batch/],
  ['a filter', set(SOURCE, 'FilterCriteria', { Filters: [] }), /FilterCriteria is/],
  ['a disabled source', set(SOURCE, 'Enabled', false), /is switched off/],
  ['a batch size too large for the timeout', set(SOURCE, 'BatchSize', 100), /BatchSize is 100/],
]);

describe('batched register messages', () => {
  const template = ours('gathered', { ...aConfig(), register: { maxMessages: 100, maxWait: 5_000 } });
  const of = (type: string, path: RegExp) => find(template, type, path)[1].Properties;

  it('follow the configuration, and stay hidden for a longer time', () => {
    expect(of(SOURCE, /Register/)).toMatchObject({ BatchSize: 100, MaximumBatchingWindowInSeconds: 5 });
    expect(of('AWS::SQS::Queue', /RegisterQueue/)).toMatchObject({ VisibilityTimeout: 125 });
  });

  it('keep every rule, and add no window to other queues', () => {
    const rules = [messagesArriveAtOnceAndAll, messagesStayHiddenLongEnough, failuresAreReportedByMessage];
    expect(rules.flatMap((rule) => rule(template))).toEqual([]);
    expect(JSON.stringify(template).match(/MaximumBatchingWindowInSeconds/g)).toHaveLength(1);
  });
});

promise('concurrency is limited at every event source', concurrencyIsLimitedAtTheSource, [
  ['a source without a limit', set(SOURCE, 'ScalingConfig', undefined), /MaximumConcurrency is undefined/],
  ["a limit below Lambda's minimum", set(SOURCE, 'ScalingConfig.MaximumConcurrency', 1), /MaximumConcurrency is 1/],
  ["a limit beyond an account's quota", set(SOURCE, 'ScalingConfig.MaximumConcurrency', 900), /may take 1150 of/],
]);

promise('every working queue has one reader', queuesHaveOneReader, [
  ['two readers', copy(SOURCE, /ElectQueue/, 'NewSource'), /ElectQueue.* has several readers/],
  ['a function outside of the template', set(SOURCE, 'FunctionName', { Ref: 'Elsewhere' }), /to Elsewhere, which/],
]);

promise('functions with a queue allow recursive messages', messagesMayComeBack, [
  [
    'a leader that Lambda would stop',
    set('AWS::Lambda::Function', 'RecursiveLoop', undefined, /GroupHandler/),
    /GroupHandler.*RecursiveLoop is undefined, not "Allow" \(its messages come back to it\)/,
  ],
  [
    'stopped follow-ups',
    set('AWS::Lambda::Function', 'RecursiveLoop', 'Terminate', /RegisterHandler/),
    /RegisterHandler.*RecursiveLoop is "Terminate"/,
  ],
  [
    'a function without a queue',
    set('AWS::Lambda::Function', 'RecursiveLoop', 'Allow', /ApiHandler/),
    /ApiHandler.*RecursiveLoop is "Allow", not undefined/,
  ],
]);

describe('message loops', () => {
  const loops = (template: Parameters<typeof isInLoop>[0]): string[] =>
    functionsOf(template).flatMap(([id]) =>
      isInLoop(template, id) ? [(/(\w+)Handler/.exec(id)?.[1] ?? '').replace(/^.*Flow/, '')] : [],
    );

  it.each(SUBJECTS)('run through the register, elect, group and batch functions in $name', ({ template }) =>
    expect(loops(template)).toEqual(['Register', 'Elect', 'Group', 'Batch']),
  );

  it('are also found through other functions', () => {
    const template = structuredClone(SUBJECTS[0]?.template ?? { Resources: {} });
    const [register] = find(template, 'AWS::SQS::Queue', /RegisterQueue/);
    const statement = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: { 'Fn::GetAtt': [register, 'Arn'] } };
    const statementsOf = (handler: RegExp): { Resource: unknown }[] => {
      const [, { Properties }] = find(template, 'AWS::IAM::Policy', handler);
      return (Properties.PolicyDocument as { Statement: { Resource: unknown }[] }).Statement;
    };
    // Remove the register function's right to send to its own queue, which continuations of triggers use.
    for (const own of statementsOf(/RegisterHandler/))
      if (JSON.stringify(own).includes('sqs:SendMessage') && Array.isArray(own.Resource))
        own.Resource = own.Resource.filter((resource) => !JSON.stringify(resource).includes(register));
    expect(loops(template)).toEqual(['Elect', 'Group', 'Batch']);
    statementsOf(/BatchHandler/).push(statement);
    expect(loops(template)).toEqual(['Register', 'Elect', 'Group', 'Batch']);
  });
});
