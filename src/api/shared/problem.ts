/** Errors of the HTTP API as problem+json (RFC 9457). */
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Problem } from '../../util/problems.ts';

const TITLES = {
  400: 'Bad request',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  413: 'Too large',
  500: 'Internal error',
  502: 'Bad gateway',
  503: 'Busy',
} as const;

/** Maximum number of errors in one answer, because Lambda limits an answer to 6 MB. */
const ERRORS_SHOWN = 1_000;

/** An error that the API answers as problem+json. Its detail says what is wrong and, where possible, what to do. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly status: keyof typeof TITLES & ContentfulStatusCode;
  readonly errors: readonly Problem[];
  constructor(status: keyof typeof TITLES & ContentfulStatusCode, detail: string, errors: readonly Problem[] = []) {
    super(detail);
    this.status = status;
    this.errors = errors;
  }

  toResponse(): Response {
    const { status, message: detail, errors } = this;
    const body = {
      type: 'about:blank',
      title: TITLES[status],
      status,
      detail,
      ...(errors.length > 0 ? { errors: errors.slice(0, ERRORS_SHOWN) } : {}),
      ...(errors.length > ERRORS_SHOWN ? { errorsInAll: errors.length } : {}),
    };
    return Response.json(body, { status, headers: { 'content-type': 'application/problem+json' } });
  }
}
