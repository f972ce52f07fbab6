/** Reads what a function answered that was called with a batch: pure. */
import { isObject, parseJson } from '../batching/json-text.ts';
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

/** It threw, ran out of time or memory, or could not start. @param error `Handled` or `Unhandled` */
export const readFunctionError = (error: string, body: string): Answer => {
  const json = parseJson(body);
  const { errorType, errorMessage } = json.ok && isObject(json.value) ? json.value : {};
  const said = [errorType, errorMessage].filter((each) => typeof each === 'string' && each !== '').join(': ');
  return {
    kind: 'unavailable',
    reason: `its function failed (${error})`,
    ...(said === '' ? {} : { quote: said.slice(0, 200).toWellFormed() }),
    mayRetryAtOnce: true,
  };
};
