/** The parts of the HTTP API that all sections share: body limit, unknown paths and methods, errors. */
import { type ErrorHandler, Hono, type HonoRequest } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { UnknownOperation } from '../domain/config/resolved.ts';
import { InvalidCursor, NewerRow } from '../ports/rows.ts';
import { FanOutBusy, ListBusy } from '../steps/contention.ts';
import { isOutOfCapacity } from './shared/busy.ts';
import type { ApiDeps } from './shared/deps.ts';
import { BODY_MAX_BYTES, tooLarge } from './shared/input.ts';
import { METHODS } from './shared/methods.ts';
import { HttpProblem } from './shared/problem.ts';
import { reportingReadUnits } from './shared/read-units.ts';

/** Creates the routes of a section, below `/v1`. */
type Section = (deps: ApiDeps) => Hono;

type SectionName =
  | 'tasks'
  | 'failures'
  | 'batches'
  | 'targets'
  | 'operations'
  | 'limits'
  | 'about'
  | 'queues'
  | 'dead-letters'
  | 'doctor'
  | 'fan-outs'
  | 'lists'
  | 'fleets'
  | 'audit'
  | 'openapi.json';

/** One value for each section: the section's routes, or a function that loads them. */
export type Sections<S = Section> = Readonly<Record<SectionName, S>>;

/** The API with only the given sections. Requests for other sections get 404. */
export const apiOf = (deps: ApiDeps, sections: Partial<Sections>): Hono => {
  const app = new Hono();
  if (deps.readMeter) app.use(reportingReadUnits(deps.readMeter));
  app.use(bodyLimit({ maxSize: BODY_MAX_BYTES, onError: (context) => tooLarge(context).toResponse() }));
  for (const routes of Object.values(sections)) app.route('/v1', routes(deps));
  app.notFound(({ req }) => {
    const allowed = methodsOf(app, req.path);
    if (allowed !== '') return notAllowed(req, allowed);
    const hint = req.path.startsWith('/v1/') ? '' : ' (the API is under /v1)';
    return new HttpProblem(404, `there is no ${req.method} ${req.path}${hint}`).toResponse();
  });
  app.onError(answerTo(deps));
  return app;
};

/**
 * The documented methods of a path. A fixed path takes precedence over a path with an id in the same place:
 * `/v1/tasks/redrive` allows POST, although GET matches `redrive` as a task's id. HEAD is answered like GET, without a
 * body.
 */
const methodsOf = ({ router }: Hono, path: string): string => {
  const taken = METHODS.flatMap((method) =>
    router
      .match(method, path)[0]
      .flatMap(([[, route]]) => (route.method === method ? [{ method, on: route.path }] : [])),
  );
  const [said] = taken.map(({ on }) => on).sort((a, b) => fixedPart(b) - fixedPart(a) || b.length - a.length);
  // A route has several handlers.
  return [...new Set(taken.flatMap(({ method, on }) => (on === said ? [method] : [])))].join(', ');
};

/** The length of the part of a path before its first parameter. */
const fixedPart = (path: string): number => (path.includes(':') ? path.indexOf(':') : path.length);

const notAllowed = ({ path, method }: HonoRequest, allowed: string): Response => {
  const problem = new HttpProblem(405, `${path} allows ${allowed}, not ${method}`).toResponse();
  problem.headers.set('allow', allowed);
  return problem;
};

/** Maps an error to the API's answer. */
export const answerTo =
  ({ onError }: Pick<ApiDeps, 'onError'>): ErrorHandler =>
  (cause) => {
    if (cause instanceof HttpProblem) return cause.toResponse();
    if (cause instanceof UnknownOperation || cause instanceof NewerRow)
      return new HttpProblem(409, cause.message).toResponse();
    if (cause instanceof InvalidCursor)
      return new HttpProblem(400, cause.message, [{ path: 'cursor', reason: cause.message }]).toResponse();
    if (cause instanceof FanOutBusy || cause instanceof ListBusy) return later(cause.message);
    onError(cause);
    if (isOutOfCapacity(cause)) return later(OUT_OF_CAPACITY);
    return new HttpProblem(500, 'internal error: see the log of the API function').toResponse();
  };

const OUT_OF_CAPACITY =
  'DynamoDB or SQS throttled the request or did not answer. Part of the request may have been done. Send it again in a moment with the same id, token or claimId: nothing is done twice';

/** The 503 answer. The caller may repeat the request after one second. */
const later = (detail: string): Response => {
  const problem = new HttpProblem(503, detail).toResponse();
  problem.headers.set('retry-after', '1');
  return problem;
};
