/** The error of an addition, to a list or to a fan-out, that ended before all was added. */
import { reasonOf } from '../util/problems.ts';
import { ApiUnavailable } from './api-answer.ts';

/**
 * Some jobs, or items, were added, or may have been, and others were not. The error's `cause` says why: ApiUnavailable,
 * ApiRefused, UnsendableJob, or an error of the iterable that gave the jobs. To go on, add the same again from the first
 * on, with `token`: nothing is added twice.
 *
 * ```ts
 * await list.add(jobs, { token: error.token });
 * ```
 */
export class NotAllAdded extends Error {
  override readonly name = 'NotAllAdded';
  /** Names the addition, as its caller did or as it was made up. */
  readonly token: string;
  /** How many jobs, or items, are there for certain. */
  readonly added: number;
  constructor(token: string, added: number, cause: unknown) {
    super(
      `${added} were added, and more may have been: ${reasonOf(cause)}; the same addition with the token ${JSON.stringify(token)} adds the rest, and none twice`,
      { cause },
    );
    this.token = token;
    this.added = added;
  }
}

/** What an addition that failed throws: the cause itself where nothing was added, and nothing can have been. */
export const notAllAdded = (token: string, added: number, cause: unknown): unknown =>
  added > 0 || cause instanceof ApiUnavailable ? new NotAllAdded(token, added, cause) : cause;
