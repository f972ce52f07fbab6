/** Reads what several commands are given. */
import { InvalidArgumentError } from 'commander';
import { isTokenOfCalls, TOKEN_OF_CALLS_RULE } from '../../../src/client/fan-out-calls.ts';

/** Of no id the API would understand its list. */
export const someId = (text: string): string => {
  if (text === '') throw new InvalidArgumentError('It takes the id of a task.');
  return text;
};

/** A part of a path: of an empty one, `.` or `..` the API would understand something else. @param what it is, in words */
export const somePart =
  (what: string) =>
  (text: string): string => {
    if (/^\.{0,2}$/.test(text)) throw new InvalidArgumentError(`It takes ${what}.`);
    return text;
  };

/** How often something is looked at, in seconds. */
export const everyOption = (text: string): number => {
  const value = Number(text);
  if (!(value >= 0.2)) throw new InvalidArgumentError('It takes a number of seconds from 0.2.');
  return value;
};

/** Said before it is asked for: the calls' tokens are longer. */
export const tokenOfCalls = (text: string): string => {
  if (!isTokenOfCalls(text)) throw new InvalidArgumentError(`It takes ${TOKEN_OF_CALLS_RULE}.`);
  return text;
};

/** Names tasks, each with a number after it: an id of a task has 128 characters. */
export const tokenOfTasks = (text: string): string => {
  if (!/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$/.test(text))
    throw new InvalidArgumentError(
      'It takes 1 to 100 characters of A-Z a-z 0-9 . _ : @ -, the first a letter or digit.',
    );
  return text;
};

/** How many of something. */
export const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('It takes a whole number from 1.');
  return value;
};
