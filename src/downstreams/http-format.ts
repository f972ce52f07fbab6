/** What differs between the HTTP calls of batch APIs: their format, and how they are authorized. */
import type { Auth, Method } from '../domain/config/http-format.ts';
import type { Answer, Call } from '../domain/downstream/downstream.ts';
import type { HttpAnswer } from '../domain/downstream/http-answer.ts';
import type { HttpCall } from '../domain/downstream/http-request.ts';
import type { Surroundings } from './http-headers.ts';

/** What the calls of a batch API need in addition to their target. */
export interface CallSurroundings extends Surroundings {
  /**
   * Signs a request with Signature Version 4, with the credentials of the process.
   * @default - calls that need it fail
   */
  readonly sign?: (request: HttpRequest, as: Extract<Auth, { kind: 'sigv4' }>) => Promise<HttpRequest>;
  /** Sends a request. @default - `fetch` */
  readonly send?: typeof fetch;
}

export interface HttpRequest {
  readonly url: string;
  readonly method: Method;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Authorizer {
  /** @throws SecretUnreadable, NotAuthorized, or the reason of the signal */
  authorize(request: HttpRequest, signal: AbortSignal): Promise<HttpRequest>;
  /** Forgets the token of a request that the API refused with 401. Returns whether another token can be got. */
  renews(refused: HttpRequest): boolean;
}

/** The call could not be authorized, and was not made. The message names the cause, and no secret. */
export class NotAuthorized extends Error {
  override readonly name = 'NotAuthorized';
  readonly answer: Answer;
  constructor(answer: Extract<Answer, { kind: 'unavailable' }>) {
    super(answer.reason);
    this.answer = answer;
  }
}

/** The format of a batch API's calls and answers. */
export interface HttpFormat {
  /** Writes a call. An answer means that it cannot be sent, and why. */
  write(call: Call): HttpCall | Answer;
  read(written: HttpCall, answer: HttpAnswer): Answer;
  /** Completes the answer of a call that could not be sent or got no answer. */
  unanswered(written: HttpCall, answer: Answer): Answer;
  readonly authorizer: Authorizer;
}
