/** What it means for a batch when a service of AWS does not do as it was asked. Pure: goes by what errors say of themselves. */
import type { Millis } from '../ids.ts';
import type { Answer } from './downstream.ts';

/** The configuration or a right is at fault, and not the tasks. */
const MISCONFIGURED =
  /^(?:ResourceNotFoundException|StateMachineDoesNotExist|StateMachineDeleting|StateMachineTypeNotSupported|InvalidArn|ValidationException|QueueDoesNotExist|AWS\.SimpleQueueService\.NonExistentQueue|AccessDenied(?:Exception)?|NotAuthorized|UnrecognizedClientException|InvalidParameterValueException|InvalidAddress|UnsupportedOperation|InvalidSecurity.*|InvalidRuntimeException|InvalidZipFileException|InvalidSecurityGroupIDException|InvalidSubnetIDException|KMS(?!Throttl).*|Kms(?!Throttl).*)$/i;
/** It takes no call of this size or content; parts of it, perhaps. */
const SUSPECTS: Readonly<Record<string, 'an-item' | 'its-size'>> = {
  RequestTooLargeException: 'its-size',
  RequestEntityTooLargeException: 'its-size',
  InvalidExecutionInput: 'its-size',
  InvalidParameterValue: 'its-size',
  InvalidRequestContentException: 'an-item',
  InvalidMessageContents: 'an-item',
};
/** It asks for a pause. */
const THROTTLED = /Throttl|ThroughputExceeded|TooManyRequests|LimitExceeded|SlowDown|OverLimit/i;

/** A request that was sent to a service, and how it ended. */
export interface FailedRequest {
  readonly cause: unknown;
  /** Whom the service was asked to call, for people: `the function parcels`. */
  readonly what: string;
  readonly timeout: Millis;
  /** Ends the request at its timeout. */
  readonly signal: AbortSignal;
}

interface AwsError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number };
  /** Seconds, of Lambda. */
  readonly retryAfterSeconds?: string;
}

/** Whether a service says that it gets more requests than it takes. */
export const isThrottled = ({ name, $metadata }: AwsError): boolean =>
  $metadata?.httpStatusCode === 429 || THROTTLED.test(name);

export const answerOfFailure = ({ cause, what, timeout, signal }: FailedRequest): Answer => {
  if (signal.aborted)
    return { kind: 'unavailable', reason: `no answer from ${what} within ${timeout} ms`, mayRetryAtOnce: true };
  const error: AwsError = cause instanceof Error ? cause : new Error(String(cause));
  const { name, message, $metadata, retryAfterSeconds } = error;
  // A message may repeat the request: for whoever may see the task.
  const quote = message === '' ? {} : { quote: message.slice(0, 200).toWellFormed() };
  const status = $metadata?.httpStatusCode ?? 0;
  const suspect = SUSPECTS[name];
  if (suspect) return { kind: 'refused', suspect, reason: `${what} cannot take it (${name})`, ...quote };
  if (MISCONFIGURED.test(name)) return misconfigured(`${what} could not be called (${name})`, quote);
  const throttles = isThrottled(error);
  const pause = Number(retryAfterSeconds ?? '');
  return {
    kind: 'unavailable',
    reason: `${what} ${throttles ? 'is throttled' : 'could not be reached'} (${name})`,
    ...quote,
    // Of a mistake that nobody here knows, more of the same is no cure.
    mayRetryAtOnce: !throttles && (status === 0 || status >= 500),
    ...(throttles ? { throttled: true as const } : {}),
    ...(pause > 0 ? { retryAfter: pause * 1_000 } : {}),
  };
};

/** Tasks wait until it is mended. */
const misconfigured = (reason: string, quote: { readonly quote?: string }): Answer => ({
  kind: 'unavailable',
  reason: `${reason}: check the operation's downstream and the function's rights`,
  ...quote,
  mayRetryAtOnce: false,
  misconfigured: true,
});
