/**
 * How clients call the HTTP API, and how they read its answers and errors. The function that sends the requests is
 * passed in, so this file is pure.
 */

import { isObject, parseJson } from '../util/json-text.ts';
import { describeProblems, type Problem, reasonOf } from '../util/problems.ts';

/** Options of one API call. The client and the command line share them. */
interface HowToAsk {
  /** @default POST */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** After the signal aborts, a request that got no answer is not repeated. A request in flight is still awaited. */
  readonly signal?: AbortSignal;
  /** Id, token or claimId of the call, which the client may have generated. The error ApiUnavailable contains it. */
  readonly name?: string;
}

/**
 * Sends a request to the API and returns the JSON of its answer.
 * @param body JSON text, or an object to serialise; absent if the call takes no body
 */
export type Ask = (path: string, body?: object | string, how?: HowToAsk) => Promise<unknown>;

/** The API refused the call. The same call would be refused again. */
export class ApiRefused extends Error {
  override readonly name = 'ApiRefused';
  /** HTTP status: 400 malformed, 403 not allowed, 404 unknown, 409 not allowed in the current state. */
  readonly status: number;
  /** The faults of the request, each with its path. */
  readonly errors: readonly Problem[];
  constructor(status: number, detail: string, errors: readonly Problem[] = []) {
    super([detail, describeProblems(errors)].filter((text) => text !== '').join('\n'));
    this.status = status;
    this.errors = errors;
  }
}

/**
 * All attempts of a call failed: the API sent no answer, or answered 429 or 5xx. The API may still have done the call,
 * so repeat the call with the same id or token.
 */
export class ApiUnavailable extends Error {
  override readonly name = 'ApiUnavailable';
  /** HTTP status of the last answer: 429 or 5xx. Undefined if the last attempt got no answer. */
  readonly status: number | undefined;
  /** Id, token or claimId of the call, even if the client generated it. Pass it when you repeat the call. */
  readonly idOrToken: string | undefined;
  constructor(origin: string, tries: number, cause: unknown, idOrToken?: string) {
    const named = idOrToken === undefined ? '' : ` (${JSON.stringify(idOrToken)})`;
    const again = `repeat the same call later with the same id or token${named}: nothing is done twice`;
    super(`${origin} failed in ${tries} attempts, the last time with: ${reasonOf(cause)}; ${again}`, { cause });
    this.status = cause instanceof Busy ? cause.status : undefined;
    this.idOrToken = idOrToken;
  }
}

/** The API is busy or failing. A later attempt may succeed. */
export class Busy extends Error {
  override readonly name = 'Busy';
  readonly status: number;
  /** Pause that the answer asks for (`Retry-After`), in milliseconds. 0 if the answer asks for no pause. */
  readonly pause: number;
  constructor(status: number, detail: string, pause: number) {
    super(`the API answered ${status} (${detail})`);
    this.status = status;
    this.pause = pause;
  }
}

/**
 * Reads the JSON of an answer.
 * @throws ApiRefused
 * @throws Busy if a later attempt may succeed
 */
export const readApiAnswer = async (response: Response): Promise<unknown> => {
  const text = await response.text();
  const json = parseJson(text);
  const answer = json.ok && isObject(json.value) ? json.value : undefined;
  if (response.ok && answer) return answer;
  const { detail = answer?.message ?? answer?.Message ?? text.slice(0, 200), errors } = answer ?? {};
  if (response.status === 429 || response.status >= 500)
    throw new Busy(response.status, String(detail), pauseIn(response.headers.get('retry-after')));
  const said =
    response.ok || response.status < 400
      ? 'the Groupage API does not answer like this; check the address'
      : String(detail);
  throw new ApiRefused(response.status, `${response.status}: ${said}`, (errors ?? []) as readonly Problem[]);
};

/** Reads the pause in `Retry-After`, in milliseconds. 0 if the header is absent or not a whole number of seconds. */
const pauseIn = (header: string | null): number => (/^\d{1,4}$/.test(header ?? '') ? Number(header) * 1_000 : 0);

/**
 * An addition failed part-way: some jobs or items were added, and others may not have been. `cause` has the reason:
 * ApiUnavailable, ApiRefused, UnsendableJob, or an error of the iterable that gave the jobs. To continue, add the same
 * jobs again from the first one, with `token`. Nothing is added twice.
 *
 * ```ts
 * await list.add(jobs, { token: error.token });
 * ```
 */
export class NotAllAdded extends Error {
  override readonly name = 'NotAllAdded';
  /** Token of the addition, from the caller or generated. */
  readonly token: string;
  /** Number of jobs or items that were certainly added. */
  readonly added: number;
  constructor(token: string, added: number, cause: unknown) {
    super(
      `at least ${added} were added, and possibly more: ${reasonOf(cause)}. To add the rest, repeat the same addition with the token ${JSON.stringify(token)}; nothing is added twice`,
      { cause },
    );
    this.token = token;
    this.added = added;
  }
}

/** The error of a failed addition: the cause itself if nothing can have been added, otherwise NotAllAdded. */
export const notAllAdded = (token: string, added: number, cause: unknown): unknown =>
  added > 0 || cause instanceof ApiUnavailable ? new NotAllAdded(token, added, cause) : cause;
