/**
 * What a failed request to an AWS service means for a batch. The decision depends only on the name and status of the
 * error. Pure.
 */
import type { Millis } from '../ids.ts';
import type { Answer } from './downstream.ts';

/** Errors that the configuration or a missing permission causes, and not the tasks. */
const MISCONFIGURED =
  /^(?:ResourceNotFoundException|StateMachineDoesNotExist|StateMachineDeleting|StateMachineTypeNotSupported|InvalidArn|ValidationException|QueueDoesNotExist|AWS\.SimpleQueueService\.NonExistentQueue|AccessDenied(?:Exception)?|NotAuthorized|UnrecognizedClientException|InvalidParameterValueException|InvalidAddress|UnsupportedOperation|InvalidSecurity.*|InvalidRuntimeException|InvalidZipFileException|InvalidSecurityGroupIDException|InvalidSubnetIDException|KMS(?!Throttl).*|Kms(?!Throttl).*)$/i;
/** Lambda stopped a function because it was invoked about 16 times in one chain of functions and messages. */
const RECURSIVE = 'RecursiveInvocationException';
/** Errors that refuse a call for its size or content. The service may accept parts of the call. */
const SUSPECTS: Readonly<Record<string, 'an-item' | 'its-size'>> = {
  RequestTooLargeException: 'its-size',
  RequestEntityTooLargeException: 'its-size',
  InvalidExecutionInput: 'its-size',
  InvalidParameterValue: 'its-size',
  InvalidRequestContentException: 'an-item',
  InvalidMessageContents: 'an-item',
};
/** Errors of a service that receives too many requests. */
const THROTTLED = /Throttl|ThroughputExceeded|TooManyRequests|LimitExceeded|SlowDown|OverLimit/i;

/** A request to a service, and how it failed. */
export interface FailedRequest {
  readonly cause: unknown;
  /** The called resource, for users: `the function parcels`. */
  readonly what: string;
  readonly timeout: Millis;
  /** The signal that ends the request at its timeout. */
  readonly signal: AbortSignal;
}

interface AwsError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number };
  /** In seconds. Only Lambda sets it. */
  readonly retryAfterSeconds?: string;
}

/** Whether a service refused a request because it receives too many. */
export const isThrottled = ({ name, $metadata }: AwsError): boolean =>
  $metadata?.httpStatusCode === 429 || THROTTLED.test(name);

export const answerOfFailure = ({ cause, what, timeout, signal }: FailedRequest): Answer => {
  if (signal.aborted)
    return { kind: 'unavailable', reason: `no answer from ${what} within ${timeout} ms`, mayRetryAtOnce: true };
  const error: AwsError = cause instanceof Error ? cause : new Error(String(cause));
  const { name, message, $metadata, retryAfterSeconds } = error;
  // The message may repeat parts of the request, so only users who may see the task see the quote.
  const quote = message === '' ? {} : { quote: message.slice(0, 200).toWellFormed() };
  const status = $metadata?.httpStatusCode ?? 0;
  const suspect = SUSPECTS[name];
  if (suspect) return { kind: 'refused', suspect, reason: `${what} refuses the call (${name})`, ...quote };
  if (name === RECURSIVE)
    return misconfigured(
      `Lambda's loop detection stopped ${what} (${name}), because its messages led to its own calls about 16 times. If it registers tasks or reports jobs on purpose, set RecursiveLoop to Allow on it; otherwise end the loop`,
      quote,
    );
  if (MISCONFIGURED.test(name))
    return misconfigured(
      `${what} could not be called (${name}): check the operation's downstream and the function's permissions`,
      quote,
    );
  const throttles = isThrottled(error);
  const pause = Number(retryAfterSeconds ?? '');
  return {
    kind: 'unavailable',
    reason: `${what} ${throttles ? 'is throttled' : 'could not be reached'} (${name})`,
    ...quote,
    // The cause of an unknown client error would still be there, so do not retry at once.
    mayRetryAtOnce: !throttles && (status === 0 || status >= 500),
    ...(throttles ? { throttled: true as const } : {}),
    ...(pause > 0 ? { retryAfter: pause * 1_000 } : {}),
  };
};

/** Opens the circuit. The tasks wait until the configuration is fixed. */
const misconfigured = (reason: string, quote: { readonly quote?: string }): Answer => ({
  kind: 'unavailable',
  reason,
  ...quote,
  mayRetryAtOnce: false,
  misconfigured: true,
});
