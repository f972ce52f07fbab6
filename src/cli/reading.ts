/** Reads what several commands are given. */
import { InvalidArgumentError } from 'commander';

/** Of no id the API would understand its list. */
export const someId = (text: string): string => {
  if (text === '') throw new InvalidArgumentError('It takes the id of a task.');
  return text;
};
