/** The built page's files. */
import { serveStatic } from '@hono/node-server/serve-static';
import type { MiddlewareHandler } from 'hono';
import { HttpProblem } from '../../../src/api/problem.ts';
import type { BuiltPage } from './page-build.ts';

/** Their names hold a hash of what is in them. */
const NAMED_BY_CONTENT = '/assets/';

/** Waits for the page while it is being built. */
export const pageFiles = (page: Promise<BuiltPage>): MiddlewareHandler => {
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
