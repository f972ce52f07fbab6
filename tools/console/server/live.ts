/** `GET /console/live`: what a page sees change, as server-sent events. */
import type { Handler } from 'hono';
import { streamSSE } from 'hono/streaming';
import { HttpProblem } from '../../../src/api/problem.ts';
import { problemsWith } from './asked-paths.ts';
import type { MetricsFeed } from './metrics-feed.ts';
import { outbox } from './outbox.ts';
import type { Rounds, Tell } from './rounds.ts';
import { HEARTBEAT_EVERY } from './shapes.ts';

interface Message {
  readonly event: string;
  readonly data: string;
}

export const live =
  (rounds: Rounds, metrics: MetricsFeed): Handler =>
  (context) => {
    const paths = context.req.queries('get') ?? [];
    const problems = problemsWith(paths);
    if (problems.length > 0) throw new HttpProblem(400, 'these calls are not made for a page', problems);
    // Whoever asks for the headers alone sees nothing: a page that never closes would be asked for for ever.
    if (context.req.method === 'HEAD') return context.body(null, 200, { 'content-type': 'text/event-stream' });
    return streamSSE(context, async (stream) => {
      const box = outbox<Message>();
      const tell: Tell = (event, data, about) => box.put(about, { event, data: JSON.stringify(data) });
      const heart = setInterval(() => tell('heartbeat', {}, 'heartbeat'), HEARTBEAT_EVERY);
      const endings = [rounds.open(paths, tell), metrics.open(tell), () => clearInterval(heart), box.close];
      stream.onAbort(() => {
        for (const end of endings) end();
      });
      for await (const message of box) await stream.writeSSE(message);
    });
  };
