/** The console of a local stack. It runs in the stack's process and on the port of the stack's API. */
import type { Hono } from 'hono';
import type { FlowEvent } from '../../../src/domain/events/events.ts';
import { aboutFrom } from './about.ts';
import { LOCAL } from './interval.ts';
import { localMetrics } from './local-metrics.ts';
import { metricsFeed } from './metrics-feed.ts';
import type { BuiltPage } from './page-build.ts';
import { startRounds } from './rounds.ts';
import { consoleApp } from './server.ts';

export interface LocalConsole {
  /** Adds an event to the metrics. */
  onEvent(event: FlowEvent): void;
  /** Serves the console at `/` and the API under `/v1`. */
  around(api: Hono): Hono;
}

/** @param operations the names of the operations. */
export const localConsole = (operations: readonly string[], page: Promise<BuiltPage>): LocalConsole => {
  const metrics = localMetrics();
  return {
    onEvent: metrics.add,
    around: (api) => {
      const call = async (request: Request): Promise<Response> => api.fetch(request);
      return consoleApp({
        page,
        about: aboutFrom({ kind: 'local' }, LOCAL, async () => operations, metrics),
        rounds: startRounds(call, LOCAL),
        metrics: metricsFeed(metrics),
      });
    },
  };
};
