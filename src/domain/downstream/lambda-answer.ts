/** Reads what a function answered that was called with a batch: pure. */
import { isObject, parseJson } from '../../util/json-text.ts';
import type { Answer, Call } from './downstream.ts';
import { readAnswer } from './http-answer.ts';

/** A function that returns nothing answers `null`; it has no status to say that it reports later. */
export const readPayload = (body: string, { items }: Call): Answer => {
  const json = parseJson(body);
  const value = json.ok ? json.value : undefined;
  if (isObject(value) && value.pending === true) return { kind: 'pending' };
  const answer = { status: 200, contentType: 'application/json', retryAfter: undefined };
  return readAnswer({ ...answer, body: value === null ? '' : body }, items);
};

/** The most that a function may return: 6 MiB and a little, as Lambda says itself. */
export const RESPONSE_MAX_BYTES = 6_291_556;
/** What Lambda says of a function that has done its work, but returned more. */
export const RESPONSE_TOO_LARGE = 'Function.ResponseSizeTooLarge';

/** It threw, ran out of time or memory, or could not start. @param error `Handled` or `Unhandled` */
export const readFunctionError = (error: string, body: string): Answer => {
  const json = parseJson(body);
  const { errorType, errorMessage } = json.ok && isObject(json.value) ? json.value : {};
  const said = [errorType, errorMessage].filter((each) => typeof each === 'string' && each !== '').join(': ');
  const quote = said === '' ? {} : { quote: said.slice(0, 200).toWellFormed() };
  if (errorType === RESPONSE_TOO_LARGE)
    return {
      kind: 'refused',
      suspect: 'its-answer',
      reason: 'its function returned more than Lambda hands on',
      ...quote,
    };
  return { kind: 'unavailable', reason: `its function failed (${error})`, ...quote, mayRetryAtOnce: true };
};
