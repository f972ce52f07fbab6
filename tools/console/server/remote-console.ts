/** The console of a deployed stack, served on this machine. */

import { CommandFailure } from '../../failure.ts';
import { type LocalServer, serveLocally } from '../../http/server.ts';
import { aboutFrom, operationsOf } from './about.ts';
import { advising } from './advice/advising.ts';
import type { CallApi } from './call.ts';
import { finding } from './find.ts';
import { DEPLOYED } from './interval.ts';
import { type MetricsSource, metricsFeed } from './metrics-feed.ts';
import { builtPage } from './page-build.ts';
import { startRounds } from './rounds.ts';
import { searchNames } from './search-names.ts';
import { consoleApp } from './server.ts';
import type { About } from './shapes.ts';

export interface RemoteStack {
  readonly source: About['source'];
  readonly call: CallApi;
  /** @param operations returns the names of the operations, as last read. */
  metrics(operations: () => readonly string[]): MetricsSource;
}

/**
 * @throws CommandFailure if there is no page, or the stack is not reachable. @throws StartFailure if the port is in
 * use.
 */
export const serveConsole = async ({ source, call, metrics }: RemoteStack, port: number): Promise<LocalServer> => {
  const page = builtPage();
  const rounds = startRounds(call, DEPLOYED);
  let known = await operationsOf(rounds.call);
  const built = await page;
  if (!built.ok) throw new CommandFailure(built.reason);
  const operations = async (): Promise<readonly string[]> => {
    known = await operationsOf(rounds.call);
    return known;
  };
  const from = metrics(() => known);
  const app = consoleApp({
    about: aboutFrom(source, DEPLOYED, operations, from),
    rounds,
    advise: advising(rounds.call, from),
    find: finding(searchNames(rounds, async () => known, DEPLOYED)),
    metrics: metricsFeed(from),
    page,
  });
  return serveLocally(app, port);
};
