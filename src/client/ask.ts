/** How the HTTP API is asked, what its answers say, and the errors of whoever asks: pure, whoever carries the requests. */

import { isObject, parseJson } from '../util/json-text.ts';
import { describeProblems, type Problem, reasonOf } from '../util/problems.ts';

/** How the calls that take several requests ask the API, whoever carries the requests: the client, or the command line. */

interface HowToAsk {
  /** @default POST */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Once it aborts the API is not asked again where no answer came; a request that is under way is answered. */
  readonly signal?: AbortSignal;
  /** The call's id, token or claimId, which may be made up: an error brings it along. */
  readonly name?: string;
}

/** Asks the API. Answers its JSON. @param body JSON text, or what becomes it; none where the call takes none */
export type Ask = (path: string, body?: object | string, how?: HowToAsk) => Promise<unknown>;

/** The API does not do what it was asked: asking again gets the same answer. */
export class ApiRefused extends Error {
  override readonly name = 'ApiRefused';
  /** 400 malformed, 403 not allowed, 404 unknown, 409 a state that forbids it. */
  readonly status: number;
  /** What is wrong with a request, and where. */
  readonly errors: readonly Problem[];
  constructor(status: number, detail: string, errors: readonly Problem[] = []) {
    super([detail, describeProblems(errors)].filter((text) => text !== '').join('\n'));
    this.status = status;
    this.errors = errors;
  }
}

/** The API did not answer, or only that it cannot, however often it was asked. What it was asked for may have been done. */
export class ApiUnavailable extends Error {
  override readonly name = 'ApiUnavailable';
  /** The last answer's: 429 or 5xx; undefined where none came. */
  readonly status: number | undefined;
  /** The id, token or claimId of the call, where it has one, also where it was made up: give it when you repeat the call. */
  readonly idOrToken: string | undefined;
  constructor(origin: string, tries: number, cause: unknown, idOrToken?: string) {
    const named = idOrToken === undefined ? '' : ` (${JSON.stringify(idOrToken)})`;
    const again = `the same call can be made again later, with the same id or token${named}, and does nothing twice`;
    super(`${origin} was asked ${tries} times, at last: ${reasonOf(cause)}; ${again}`, { cause });
    this.status = cause instanceof Busy ? cause.status : undefined;
    this.idOrToken = idOrToken;
  }
}

/** An answer after which asking again may help. */
export class Busy extends Error {
  override readonly name = 'Busy';
  readonly status: number;
  /** Milliseconds that it wants to be left alone: 0 where it does not say. */
  readonly pause: number;
  constructor(status: number, detail: string, pause: number) {
    super(`it answered ${status} (${detail})`);
    this.status = status;
    this.pause = pause;
  }
}

/** The JSON of an answer. @throws ApiRefused, and Busy where asking again may help */
export const readApiAnswer = async (response: Response): Promise<unknown> => {
  const text = await response.text();
  const json = parseJson(text);
  const answer = json.ok && isObject(json.value) ? json.value : undefined;
  if (response.ok && answer) return answer;
  const { detail = answer?.message ?? answer?.Message ?? text.slice(0, 200), errors } = answer ?? {};
  if (response.status === 429 || response.status >= 500)
    throw new Busy(response.status, String(detail), pauseIn(response.headers.get('retry-after')));
  const said = response.ok || response.status < 400 ? 'is it the API of Groupage?' : String(detail);
  throw new ApiRefused(response.status, `${response.status}: ${said}`, (errors ?? []) as readonly Problem[]);
};

/** What is asked for by `Retry-After`, in seconds. */
const pauseIn = (header: string | null): number => (/^\d{1,4}$/.test(header ?? '') ? Number(header) * 1_000 : 0);

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
