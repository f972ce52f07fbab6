/**
 * Recognises errors after which the caller can retry: DynamoDB or SQS throttled the request, failed, or did not answer.
 * Pure.
 */
import { isThrottled } from '../../domain/downstream/aws-failure.ts';

interface AwsError extends Error {
  readonly $fault?: 'client' | 'server';
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Names of timeouts, and of the errors that adapters throw when they stop retrying. */
const GIVEN_UP = new Set(['GaveUp', 'TimeIsUp', 'TimeoutError', 'RequestTimeout', 'RequestTimeoutException']);

export const isOutOfCapacity = (cause: unknown): boolean => {
  if (!(cause instanceof Error)) return false;
  const { name, $fault, $metadata }: AwsError = cause;
  const isTheirs = $fault === 'server' || ($metadata?.httpStatusCode ?? 0) >= 500;
  return GIVEN_UP.has(name) || isTheirs || isThrottled(cause);
};
