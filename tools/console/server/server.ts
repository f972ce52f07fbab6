/**
 * The console's server: the page at `/`, the page's own data under `/console`, and the API under `/v1`. It has no
 * login. It listens on the loopback address only, behind the checks of all local servers.
 */

import { serveStatic } from '@hono/node-server/serve-static';
import { Hono, type MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { HttpProblem } from '../../../src/api/shared/problem.ts';
import { NoConfiguration } from './advice/advise.ts';
import type { Advising } from './advice/advising.ts';
import { troubleOf } from './call.ts';
import type { Find } from './find.ts';
import { live } from './live.ts';
import type { MetricsFeed } from './metrics-feed.ts';
import type { BuiltPage } from './page-build.ts';
import type { Rounds } from './rounds.ts';
import type { About } from './shapes.ts';

export interface ConsoleParts {
  readonly about: () => Promise<About>;
  readonly rounds: Rounds;
  readonly metrics: MetricsFeed;
  readonly find: Find;
  readonly advise: Advising;
  readonly page: Promise<BuiltPage>;
}

/** The length of the longest Target, in characters. */
const QUERY_LENGTH_MAX = 1_100;

/**
 * The content security policy. It allows only resources of this origin: no inline scripts or styles, no frames, no form
 * targets.
 */
const POLICY = {
  defaultSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
  objectSrc: ["'none'"],
};

export const consoleApp = ({ about, rounds, metrics, find, advise, page }: ConsoleParts): Hono => {
  const app = new Hono();
  app.use(secureHeaders({ contentSecurityPolicy: POLICY, xFrameOptions: 'DENY', strictTransportSecurity: false }));
  app.get('/console/about', async (context) => {
    context.header('cache-control', 'no-store');
    return context.json(await inWords(about));
  });
  app.get('/console/search', async (context) => {
    const query = (context.req.query('q') ?? '').trim();
    if (query.length > QUERY_LENGTH_MAX) throw new HttpProblem(400, 'the searched text is longer than any name');
    context.header('cache-control', 'no-store');
    return context.json(await inWords(() => find(query, context.req.query('full') === '1')));
  });
  app.get('/console/advice', async (context) => {
    const operation = context.req.query('operation') ?? '';
    context.header('cache-control', 'no-store');
    return context.json(await inWords(() => advise(operation)));
  });
  app.get('/console/live', live(rounds, metrics));
  app.all('/v1/*', ({ req }) => inWords(() => rounds.call(req.raw)));
  app.use(pageFiles(page));
  app.notFound(({ req }) =>
    new HttpProblem(
      404,
      `there is no ${req.method} ${req.path}. The console is at /, and the API is under /v1`,
    ).toResponse(),
  );
  app.onError((cause) => {
    if (cause instanceof HttpProblem) return cause.toResponse();
    console.error(cause);
    return new HttpProblem(
      500,
      'the server of the console failed. The terminal in which it runs shows the error',
    ).toResponse();
  });
  return app;
};

/** @throws HttpProblem if the API cannot be called. */
const inWords = async <T>(ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof NoConfiguration) throw new HttpProblem(404, cause.message);
    throw new HttpProblem(502, troubleOf(cause));
  }
};

/** The path of files whose names contain a hash of their content. Browsers may cache these files for a year. */
const NAMED_BY_CONTENT = '/assets/';

/** Serves the files of the built page. Waits while the page is being built. */
const pageFiles = (page: Promise<BuiltPage>): MiddlewareHandler => {
  const files = page.then((built) => (built.ok ? serveStatic({ root: built.folder }) : undefined));
  return async (context, next) => {
    const serve = await files;
    if (!serve) return context.req.path === '/' ? notBuilt(await page) : next();
    const answer = await serve(context, next);
    // If no file matches the path, `answer` is the answer of another handler.
    if (answer instanceof Response)
      answer.headers.set(
        'cache-control',
        context.req.path.startsWith(NAMED_BY_CONTENT) ? 'public, max-age=31536000, immutable' : 'no-cache',
      );
    return answer;
  };
};

const notBuilt = (page: BuiltPage): Response =>
  new HttpProblem(503, page.ok ? 'the page is built' : page.reason).toResponse();
