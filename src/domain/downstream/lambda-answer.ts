/** Reads the answer of a function that was called with a batch. Pure. */
import { isObject, parseJson } from '../../util/json-text.ts';
import type { Answer, Call } from './downstream.ts';
import { readAnswer, usageOf } from './http-answer.ts';

/**
 * The answer in a function's payload. A function that returns nothing answers `null`. `pending` works in any answer,
 * because a function's answer has no HTTP status.
 */
export const readPayload = (body: string, { items }: Call, requireResults: boolean | null): Answer => {
  const json = parseJson(body);
  const value = json.ok ? json.value : undefined;
  if (isObject(value) && value.pending === true) return { kind: 'pending', ...usageOf(value.usage) };
  const answer = { status: 200, contentType: 'application/json', retryAfter: undefined };
  return readAnswer({ ...answer, body: value === null ? '' : body }, items, requireResults);
};

/** The largest answer of a function: 6 MiB and a little, according to Lambda's error message. */
export const RESPONSE_MAX_BYTES = 6_291_556;
/** Lambda's error type for a function that has done its work but returned more. */
export const RESPONSE_TOO_LARGE = 'Function.ResponseSizeTooLarge';

/**
 * The answer if the function threw, ran out of time or memory, or could not start. @param error `Handled` or
 * `Unhandled`
 */
export const readFunctionError = (error: string, body: string): Answer => {
  const json = parseJson(body);
  const { errorType, errorMessage } = json.ok && isObject(json.value) ? json.value : {};
  const said = [errorType, errorMessage].filter((each) => typeof each === 'string' && each !== '').join(': ');
  const quote = said === '' ? {} : { quote: said.slice(0, 200).toWellFormed() };
  if (errorType === RESPONSE_TOO_LARGE)
    return {
      kind: 'refused',
      suspect: 'its-answer',
      reason: "the function's answer is larger than Lambda allows",
      ...quote,
    };
  return { kind: 'unavailable', reason: `the function failed (${error})`, ...quote, mayRetryAtOnce: true };
};
