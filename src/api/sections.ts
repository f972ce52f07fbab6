/** What all of the HTTP API has in common, whichever of its sections there are. */
import { type ErrorHandler, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { UnknownOperation } from '../domain/config/resolved.ts';
import { InvalidCursor, NewerRow } from '../ports/rows.ts';
import { FanOutBusy, ListBusy } from '../steps/turns.ts';
import { isOutOfCapacity } from './busy.ts';
import type { ApiDeps } from './deps.ts';
import { HttpProblem } from './problem.ts';
import { tellingReadUnits } from './read-units.ts';

/** What a function URL takes at the most. */
const BODY_MAX_BYTES = 6 * 1_024 * 1_024;

/** The routes under `/v1/` and a section's name. */
type Section = (deps: ApiDeps) => Hono;

type SectionName =
  | 'tasks'
  | 'failures'
  | 'batches'
  | 'targets'
  | 'operations'
  | 'about'
  | 'queues'
  | 'dead-letters'
  | 'doctor'
  | 'fan-outs'
  | 'lists'
  | 'fleets'
  | 'openapi.json';

/** All sections, each as it is made or as it is loaded. */
export type Sections<S = Section> = Readonly<Record<SectionName, S>>;

/** What each path takes; whatever comes with another method gets to hear it. */
const METHODS = [
  ['/v1/tasks', 'GET, POST'],
  ['/v1/tasks/redrive', 'GET, POST, DELETE'],
  ['/v1/tasks/:id', 'GET, DELETE'],
  ['/v1/failures', 'GET'],
  ['/v1/batches', 'GET'],
  ['/v1/batches/:id{.+}/complete', 'POST'],
  ['/v1/batches/:id{.+}', 'GET'],
  ['/v1/targets', 'GET'],
  ['/v1/targets/flush', 'POST'],
  ['/v1/operations', 'GET'],
  ['/v1/operations/:name', 'GET'],
  ['/v1/operations/:name/pause', 'POST'],
  ['/v1/operations/:name/resume', 'POST'],
  ['/v1/about', 'GET'],
  ['/v1/queues', 'GET'],
  ['/v1/dead-letters', 'GET'],
  ['/v1/dead-letters/:queue/redrive', 'POST'],
  ['/v1/doctor/targets', 'GET, POST'],
  ['/v1/doctor/batches', 'GET, POST'],
  ['/v1/fan-outs', 'GET, POST'],
  ['/v1/fan-outs/acks', 'GET, POST, DELETE'],
  ['/v1/fan-outs/:id', 'GET, DELETE'],
  ['/v1/fan-outs/:id/failed', 'GET'],
  ['/v1/fan-outs/:id/items', 'POST'],
  ['/v1/fan-outs/:id/seal', 'POST'],
  ['/v1/lists', 'GET, POST'],
  ['/v1/lists/:id', 'GET, DELETE'],
  ['/v1/lists/:id/jobs', 'GET, POST'],
  ['/v1/lists/:id/seal', 'POST'],
  ['/v1/lists/:id/cancel', 'POST'],
  ['/v1/lists/:id/triggers', 'POST'],
  ['/v1/lists/:id/claims', 'POST'],
  ['/v1/lists/:id/claims/:claim', 'PUT'],
  ['/v1/lists/:id/claims/:claim/complete', 'POST'],
  ['/v1/lists/:id/claims/:claim/release', 'POST'],
  ['/v1/fleets', 'GET'],
  ['/v1/fleets/:name', 'GET'],
  ['/v1/fleets/:name/separate-checkpoints', 'POST'],
  ['/v1/fleets/:name/nodes/:node/drain', 'POST'],
  ['/v1/fleets/:name/partitions/:partition', 'GET'],
  ['/v1/fleets/:name/partitions/:partition/move', 'POST'],
  ['/v1/openapi.json', 'GET'],
] as const;

/** The API with some of its sections: what is asked of the others is not there. */
export const apiOf = (deps: ApiDeps, sections: Partial<Sections>): Hono => {
  const app = new Hono();
  const tooLarge = new HttpProblem(
    413,
    `the body has more than ${BODY_MAX_BYTES} bytes: send fewer tasks, or jobs, at once`,
  );
  if (deps.readMeter) app.use(tellingReadUnits(deps.readMeter));
  app.use(bodyLimit({ maxSize: BODY_MAX_BYTES, onError: () => tooLarge.toResponse() }));
  for (const [name, routes] of Object.entries(sections)) app.route(`/v1/${name}`, routes(deps));
  for (const [path, methods] of METHODS)
    app.all(path, ({ req }) => {
      const problem = new HttpProblem(405, `${req.path} takes ${methods}, not ${req.method}`).toResponse();
      problem.headers.set('allow', methods);
      return problem;
    });
  app.notFound(({ req }) => {
    const hint = req.path.startsWith('/v1/') ? '' : ' (the API is under /v1)';
    return new HttpProblem(404, `there is no ${req.method} ${req.path}${hint}`).toResponse();
  });
  app.onError(answerTo(deps));
  return app;
};

/** What a failure is answered with. */
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
    return new HttpProblem(500, 'something went wrong here; the log says what').toResponse();
  };

const OUT_OF_CAPACITY =
  'DynamoDB or SQS is throttled, or did not answer: ask again in a moment. Some of it may have been done: asked for again with the same id, token or claimId it is not done twice';

/** Nothing was done, or may be asked for again: in a second, say. */
const later = (detail: string): Response => {
  const problem = new HttpProblem(503, detail).toResponse();
  problem.headers.set('retry-after', '1');
  return problem;
};
