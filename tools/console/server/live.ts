/** `GET /console/live`: the changes that a page shows, as server-sent events. */
import type { Handler } from 'hono';
import { streamSSE } from 'hono/streaming';
import { HttpProblem } from '../../../src/api/shared/problem.ts';
import type { Problem } from '../../../src/util/problems.ts';
import type { MetricsFeed } from './metrics-feed.ts';
import { outbox } from './outbox.ts';
import type { Rounds, Tell } from './rounds.ts';
import { HEARTBEAT_EVERY, PATH_LENGTH_MAX } from './shapes.ts';

interface Message {
  readonly event: string;
  readonly data: string;
}

export const live =
  (rounds: Rounds, metrics: MetricsFeed): Handler =>
  (context) => {
    const paths = context.req.queries('get') ?? [];
    const window = windowIn(context.req.query('window'));
    const problems = problemsWith(paths);
    if (problems.length > 0) throw new HttpProblem(400, 'the server does not make these calls for a page', problems);
    // A HEAD request never closes its stream, so the server would call the API for it forever.
    if (context.req.method === 'HEAD') return context.body(null, 200, { 'content-type': 'text/event-stream' });
    return streamSSE(context, async (stream) => {
      const box = outbox<Message>();
      const tell: Tell = (event, data, about) => box.put(about, { event, data: JSON.stringify(data) });
      const heart = setInterval(() => tell('heartbeat', {}, 'heartbeat'), HEARTBEAT_EVERY);
      const endings = [rounds.open(paths, tell), metrics.open(tell, window), () => clearInterval(heart), box.close];
      stream.onAbort(() => {
        for (const end of endings) end();
      });
      for await (const message of box) await stream.writeSSE(message);
    });
  };

/** The length of a longer time range. A text that is no such length is ignored: an open page may be of another release. */
const windowIn = (text = ''): number | undefined => (/^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined);

/** Maximum number of calls for one page: one call for each live part of the page. */
export const PATHS_MAX = 12;
const NOWHERE = 'http://api.invalid';

/**
 * Checks the calls that a page asks the server to repeat. @returns what is wrong with the calls; empty if all are
 * valid.
 */
export const problemsWith = (paths: readonly string[]): readonly Problem[] => [
  ...(paths.length > PATHS_MAX
    ? [{ path: 'get', reason: `is given ${paths.length} times, but a page may have at most ${PATHS_MAX} calls` }]
    : []),
  ...paths.slice(0, PATHS_MAX).flatMap((path) => {
    const reason = problemWith(path);
    return reason === undefined ? [] : [{ path: 'get', reason: `${JSON.stringify(path.slice(0, 200))} ${reason}` }];
  }),
];

const problemWith = (path: string): string | undefined => {
  if (path.length > PATH_LENGTH_MAX) return `has more than ${PATH_LENGTH_MAX} characters`;
  if (!path.startsWith('/v1/')) return 'is not a path of the API: it has to begin with /v1/';
  // Check the path after normalization, because dots and backslashes may lead out of the API.
  const { origin, pathname, hash } = new URL(path, NOWHERE);
  return origin === NOWHERE && pathname.startsWith('/v1/') && hash === '' ? undefined : 'leads out of the API';
};
