/** Parsers of arguments and options that several commands share. */
import { InvalidArgumentError } from 'commander';
import { isTokenOfCalls, TOKEN_OF_CALLS_RULE } from '../../../src/client/fan-out-calls.ts';

/** An empty id would address the list of all tasks. */
export const someId = (text: string): string => {
  if (text === '') throw new InvalidArgumentError('Give the id of a task.');
  return text;
};

/**
 * Parses one segment of a path. An empty segment, `.` and `..` would address another route. @param what its name in the
 * error message
 */
export const somePart =
  (what: string) =>
  (text: string): string => {
    if (/^\.{0,2}$/.test(text)) throw new InvalidArgumentError(`Give ${what}.`);
    return text;
  };

/** Parses the number of seconds between two requests. */
export const everyOption = (text: string): number => {
  const value = Number(text);
  if (!(value >= 0.2)) throw new InvalidArgumentError('Give a number of seconds, at least 0.2.');
  return value;
};

/** Parses a token. It is checked before the first request, because each request adds a suffix to the token. */
export const tokenOfCalls = (text: string): string => {
  if (!isTokenOfCalls(text)) throw new InvalidArgumentError(`Give ${TOKEN_OF_CALLS_RULE}.`);
  return text;
};

/** Parses the prefix of task ids. In each id, a line number follows the prefix. An id of a task has at most 128 characters. */
export const tokenOfTasks = (text: string): string => {
  if (!/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$/.test(text))
    throw new InvalidArgumentError(
      'Give 1 to 100 characters of A-Z a-z 0-9 . _ : @ -. The first must be a letter or digit.',
    );
  return text;
};

/** Parses a whole number of at least 1. */
export const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('Give a whole number, at least 1.');
  return value;
};
