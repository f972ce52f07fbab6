/** Failures after which the same request may work in a moment: DynamoDB or SQS has no capacity now, or gives no answer. Pure. */
import { isThrottled } from '../../domain/downstream/aws-failure.ts';

interface AwsError extends Error {
  readonly $fault?: 'client' | 'server';
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** The adapters repeated until they gave up; or no answer came in time. */
const GIVEN_UP = new Set(['GaveUp', 'TimeIsUp', 'TimeoutError', 'RequestTimeout', 'RequestTimeoutException']);

export const isOutOfCapacity = (cause: unknown): boolean => {
  if (!(cause instanceof Error)) return false;
  const { name, $fault, $metadata }: AwsError = cause;
  const isTheirs = $fault === 'server' || ($metadata?.httpStatusCode ?? 0) >= 500;
  return GIVEN_UP.has(name) || isTheirs || isThrottled(cause);
};
