/**
 * The console's server: the page at `/`, what it needs beside the API under `/console`, and the API itself under `/v1`. It
 * asks of nobody who he is: it listens on the loopback address alone, behind the guard of everything local.
 */

import { serveStatic } from '@hono/node-server/serve-static';
import { Hono, type MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { HttpProblem } from '../../../src/api/shared/problem.ts';
import { troubleOf } from './call.ts';
import { live } from './live.ts';
import type { MetricsFeed } from './metrics-feed.ts';
import type { BuiltPage } from './page-build.ts';
import type { Rounds } from './rounds.ts';
import type { About } from './shapes.ts';

export interface ConsoleParts {
  readonly about: () => Promise<About>;
  readonly rounds: Rounds;
  readonly metrics: MetricsFeed;
  readonly page: Promise<BuiltPage>;
}

/** Nothing but what comes from here: no inline scripts and styles, no frames, no forms that lead anywhere. */
const POLICY = {
  defaultSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
  objectSrc: ["'none'"],
};

export const consoleApp = ({ about, rounds, metrics, page }: ConsoleParts): Hono => {
  const app = new Hono();
  app.use(secureHeaders({ contentSecurityPolicy: POLICY, xFrameOptions: 'DENY', strictTransportSecurity: false }));
  app.get('/console/about', async (context) => {
    context.header('cache-control', 'no-store');
    return context.json(await inWords(about));
  });
  app.get('/console/live', live(rounds, metrics));
  app.all('/v1/*', ({ req }) => inWords(() => rounds.call(req.raw)));
  app.use(pageFiles(page));
  app.notFound(({ req }) =>
    new HttpProblem(404, `there is no ${req.method} ${req.path}: the console is at /, the API under /v1`).toResponse(),
  );
  app.onError((cause) => {
    if (cause instanceof HttpProblem) return cause.toResponse();
    console.error(cause);
    return new HttpProblem(
      500,
      'something went wrong here; the terminal that this was started in says what',
    ).toResponse();
  });
  return app;
};

/** @throws HttpProblem where the API cannot be asked. */
const inWords = async <T>(ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask();
  } catch (cause) {
    throw new HttpProblem(502, troubleOf(cause));
  }
};

/** Their names hold a hash of what is in them. */
const NAMED_BY_CONTENT = '/assets/';

/** The built page's files. Waits for the page while it is being built. */
const pageFiles = (page: Promise<BuiltPage>): MiddlewareHandler => {
  const files = page.then((built) => (built.ok ? serveStatic({ root: built.folder }) : undefined));
  return async (context, next) => {
    const serve = await files;
    if (!serve) return context.req.path === '/' ? notBuilt(await page) : next();
    const answer = await serve(context, next);
    // Otherwise it is another's answer.
    if (answer instanceof Response)
      answer.headers.set(
        'cache-control',
        context.req.path.startsWith(NAMED_BY_CONTENT) ? 'public, max-age=31536000, immutable' : 'no-cache',
      );
    return answer;
  };
};

const notBuilt = (page: BuiltPage): Response =>
  new HttpProblem(503, page.ok ? 'the page is there' : page.reason).toResponse();
