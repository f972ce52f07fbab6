/** How the console's server reaches the API. */
import { reasonOf } from '../batching/problems.ts';
import { CommandFailure } from '../failure.ts';

/**
 * Makes a call of the API. The request's path is the API's own (`/v1/…`), its host says nothing.
 *
 * @throws CommandFailure when it could not be made: why, in words.
 */
export type CallApi = (request: Request) => Promise<Response>;

/** Of each answer: what the reads that it took consumed, in read units of DynamoDB. */
const READ_UNITS = 'groupage-read-units';

/**
 * What a call is taken to have cost that does not say it: an API that was deployed with an earlier version. Most calls
 * cost less, so that the console asks more seldom than it could.
 */
const UNKNOWN_READ_UNITS = 25;

export const readUnitsOf = ({ headers }: Response): number => {
  const units = Number(headers.get(READ_UNITS) ?? UNKNOWN_READ_UNITS);
  return Number.isFinite(units) && units >= 0 ? units : UNKNOWN_READ_UNITS;
};

/** Why a call could not be made. What went wrong with the connection is said by the error's cause. */
export const troubleOf = (cause: unknown): string => {
  if (cause instanceof CommandFailure || !(cause instanceof Error)) return reasonOf(cause);
  if (cause.name === 'TimeoutError') return 'the API does not answer in time';
  return `the API does not answer (${reasonOf(cause.cause ?? cause)})`;
};
