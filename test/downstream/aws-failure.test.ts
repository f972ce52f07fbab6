/** The effect of each error of an AWS service on a batch. */
import { describe, expect, it } from 'vitest';
import { answerOfFailure } from '../../src/domain/downstream/aws-failure.ts';
import type { Answer } from '../../src/domain/downstream/downstream.ts';

const answerTo = (name: string, fields: object = {}, signal = new AbortController().signal): Answer => {
  const cause = Object.assign(new Error('Rate exceeded'), { name, ...fields });
  return answerOfFailure({ cause, what: 'the function parcels', timeout: 1_000, signal });
};
const status = (httpStatusCode: number) => ({ $metadata: { httpStatusCode } });

describe('an error of an AWS service', () => {
  it.each([
    'ThrottlingException',
    'Throttling',
    'TooManyRequestsException',
    'RequestThrottled',
    'KmsThrottled',
    'KMSThrottlingException',
    'ExecutionLimitExceeded',
    'EC2ThrottledException',
    'OverLimit',
    'SlowDown',
  ])('%s throttles the batch, without an immediate retry', (name) => {
    const answer = answerTo(name, status(400));
    expect(answer).toMatchObject({ kind: 'unavailable', throttled: true, mayRetryAtOnce: false });
    expect(answer).not.toHaveProperty('misconfigured');
  });

  it.each([
    'ResourceNotFoundException',
    'StateMachineDoesNotExist',
    'StateMachineDeleting',
    'AWS.SimpleQueueService.NonExistentQueue',
    'QueueDoesNotExist',
    'AccessDenied',
    'AccessDeniedException',
    'UnrecognizedClientException',
    'KMSAccessDeniedException',
    'KMSDisabledException',
    'KMSNotFoundException',
    'KmsDisabled',
    'KmsAccessDenied',
    'InvalidSecurity',
    'InvalidSecurityGroupIDException',
  ])('%s is a wrong configuration, for a person to correct', (name) =>
    expect(answerTo(name, status(400))).toMatchObject({ misconfigured: true, mayRetryAtOnce: false }),
  );

  it('RecursiveInvocationException names its remedy', () => {
    const answer = answerTo('RecursiveInvocationException', status(400));
    expect(answer).toMatchObject({ kind: 'unavailable', misconfigured: true, mayRetryAtOnce: false });
    expect(answer).toMatchObject({
      reason: expect.stringMatching(
        /^Lambda's loop detection stopped the function parcels .*set RecursiveLoop to Allow/,
      ),
    });
    expect(answerTo('AccessDeniedException', status(400))).toMatchObject({
      reason: expect.stringMatching(/check the operation's downstream and the function's permissions$/),
    });
  });

  it.each([
    ['RequestTooLargeException', 'its-size'],
    ['RequestEntityTooLargeException', 'its-size'],
    ['InvalidExecutionInput', 'its-size'],
    ['InvalidParameterValue', 'its-size'],
    ['InvalidRequestContentException', 'an-item'],
    ['InvalidMessageContents', 'an-item'],
  ])('%s is the fault of the call: %s', (name, suspect) =>
    expect(answerTo(name, status(400))).toMatchObject({ kind: 'refused', suspect }),
  );

  it.each([
    [undefined, true],
    [400, false],
    [429, false],
    [499, false],
    [500, true],
    [503, true],
  ])('that is unknown, with status %s, is retried at once: %s', (code, mayRetryAtOnce) =>
    expect(answerTo('Odd', code === undefined ? {} : status(code))).toMatchObject({
      kind: 'unavailable',
      mayRetryAtOnce,
    }),
  );

  it('with status 429 throttles, for as long as Lambda says', () => {
    expect(answerTo('Odd', status(429))).toMatchObject({ throttled: true });
    expect(answerTo('Odd', { ...status(429), retryAfterSeconds: '3' })).toMatchObject({ retryAfter: 3_000 });
    for (const retryAfterSeconds of [undefined, '0', '-1', 'soon'])
      expect(answerTo('Odd', { ...status(429), retryAfterSeconds })).not.toHaveProperty('retryAfter');
  });

  it('after the timeout is reported as a timeout, without a quote', () => {
    expect(answerTo('AbortError', {}, AbortSignal.abort())).toEqual({
      kind: 'unavailable',
      reason: 'no answer from the function parcels within 1000 ms',
      mayRetryAtOnce: true,
    });
  });

  it('is quoted with its first 200 characters', () => {
    expect(answerTo('Odd', { message: 'x'.repeat(201) })).toMatchObject({ quote: 'x'.repeat(200) });
    expect(answerTo('Odd', { message: '' })).not.toHaveProperty('quote');
  });
});
