/**
 * Answers without `results`. Those of other protocols that report a failure with the status 200 are recognised, but
 * Groupage does not read which items failed. Pure.
 */
import { isObject } from '../../util/json-text.ts';

/** What to change in a downstream whose answers Groupage does not read. */
export const HINT = 'answer {"results":[…]}, see docs/reference/downstream-call.md';

/** Members that are empty, zero or false if all went well. */
const FAILURES = [
  // Functions that Lambda calls for a queue or stream.
  'batchItemFailures',
  // Batch calls of AWS: SQS and SNS, EventBridge, Kinesis, Firehose, DynamoDB, S3, ECS.
  'Failed',
  'FailedEntryCount',
  'FailedRecordCount',
  'FailedPutCount',
  'UnprocessedItems',
  'UnprocessedKeys',
  'Errors',
  'failures',
  // The bulk calls of Elasticsearch and OpenSearch (`errors: true`), JSON:API, GraphQL, JSON-RPC.
  'errors',
  'error',
  // An error that a function returned instead of throwing it.
  'errorMessage',
] as const;

/** Members that are false if something failed. */
const DENIED = ['success', 'ok'] as const;

/**
 * The member by which an answer without `results` reports a failure. Undefined if the answer reports none. The name is
 * one of ours, and no text of the downstream.
 */
export const failureIn = (body: Record<string, unknown>): string | undefined => {
  const member = FAILURES.find((name) => Object.hasOwn(body, name) && !isNothing(body[name]));
  if (member !== undefined) return `\`${member}\``;
  const denied = DENIED.find((name) => body[name] === false);
  if (denied !== undefined) return `\`${denied}\``;
  return isFailedResponse(body) ? '`statusCode`' : undefined;
};

/** Counts are of no failure if all of them are zero: `{"count": 0}`. */
const isNothing = (value: unknown): boolean => (isObject(value) ? Object.values(value).every(isEmpty) : isEmpty(value));

const isEmpty = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) ? Object.keys(value).length === 0 : !value || value === '0';
};

/** A function's answer for an API Gateway. The results in its `body` are not read. */
const isFailedResponse = ({ statusCode, body }: Record<string, unknown>): boolean =>
  Number.isInteger(Number(statusCode ?? Number.NaN)) &&
  (Number(statusCode) >= 300 || (typeof body === 'string' && body.includes('"results"')));
