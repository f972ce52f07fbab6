/** The console of a local stack. It runs in the stack's process and on the port of the stack's API. */
import type { Hono } from 'hono';
import type { FlowEvent } from '../../../src/domain/events/events.ts';
import { aboutFrom } from './about.ts';
import { advising } from './advice/advising.ts';
import { finding } from './find.ts';
import { LOCAL } from './interval.ts';
import { localMetrics } from './local-metrics.ts';
import { metricsFeed } from './metrics-feed.ts';
import { keepMetrics, readMetrics } from './metrics-file.ts';
import type { BuiltPage } from './page-build.ts';
import { startRounds } from './rounds.ts';
import { searchNames } from './search-names.ts';
import { consoleApp } from './server.ts';

export interface LocalConsole {
  /** Adds an event to the metrics. */
  onEvent(event: FlowEvent): void;
  /** Serves the console at `/` and the API under `/v1`. */
  around(api: Hono): Hono;
  /** Saves the metrics, if they are kept. */
  stop(): Promise<void>;
}

/** Where the metrics are kept over a restart. */
interface Kept {
  readonly file: string;
  /** Receives a line about a file that cannot be read or written. */
  readonly report: (line: string) => void;
}

/** @param operations the names of the operations. @param kept without it, the metrics end with the process. */
export const localConsole = (operations: readonly string[], page: Promise<BuiltPage>, kept?: Kept): LocalConsole => {
  const metrics = localMetrics(Date.now, kept && readMetrics(kept.file, Date.now(), kept.report));
  const keeping = kept && keepMetrics(kept.file, metrics, kept.report);
  return {
    stop: async () => keeping?.stop(),
    onEvent: metrics.add,
    around: (api) => {
      const call = async (request: Request): Promise<Response> => api.fetch(request);
      const rounds = startRounds(call, LOCAL);
      return consoleApp({
        page,
        advise: advising(rounds.call, metrics),
        find: finding(searchNames(rounds, async () => operations, LOCAL)),
        about: aboutFrom({ kind: 'local' }, LOCAL, async () => operations, metrics),
        rounds,
        metrics: metricsFeed(metrics),
      });
    },
  };
};
