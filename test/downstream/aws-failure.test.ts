/** What each error of an AWS service means for a batch. */
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
  ])('%s asks for a pause: tasks wait, and nothing is asked at once', (name) => {
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
  ])('%s is for a person to correct: tasks wait', (name) =>
    expect(answerTo(name, status(400))).toMatchObject({ misconfigured: true, mayRetryAtOnce: false }),
  );

  it.each([
    ['RequestTooLargeException', 'its-size'],
    ['RequestEntityTooLargeException', 'its-size'],
    ['InvalidExecutionInput', 'its-size'],
    ['InvalidParameterValue', 'its-size'],
    ['InvalidRequestContentException', 'an-item'],
    ['InvalidMessageContents', 'an-item'],
  ])('%s says that the call is at fault: %s', (name, suspect) =>
    expect(answerTo(name, status(400))).toMatchObject({ kind: 'refused', suspect }),
  );

  it.each([
    [undefined, true],
    [400, false],
    [429, false],
    [499, false],
    [500, true],
    [503, true],
  ])('that nobody knows, with the status %s, is retried at once: %s', (code, mayRetryAtOnce) =>
    expect(answerTo('Odd', code === undefined ? {} : status(code))).toMatchObject({
      kind: 'unavailable',
      mayRetryAtOnce,
    }),
  );

  it('with the status 429 asks for a pause, whatever its name; Lambda says for how many seconds', () => {
    expect(answerTo('Odd', status(429))).toMatchObject({ throttled: true });
    expect(answerTo('Odd', { ...status(429), retryAfterSeconds: '3' })).toMatchObject({ retryAfter: 3_000 });
    for (const retryAfterSeconds of [undefined, '0', '-1', 'soon'])
      expect(answerTo('Odd', { ...status(429), retryAfterSeconds })).not.toHaveProperty('retryAfter');
  });

  it('after the timeout is one, and quotes nothing', () => {
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
