/** Sends the metrics to all open pages, as often as their source can be read. */
import type { Millis } from '../../../src/domain/ids.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { CommandFailure } from '../../failure.ts';
import type { Tell } from './rounds.ts';
import type { About, MetricsView } from './shapes.ts';

export interface MetricsFeed {
  /** Sends the metrics to a page repeatedly. @returns a function that stops this. */
  open(tell: Tell): () => void;
}

/** The path of a `trouble` event that says why there are no metrics. */
const METRICS = 'metrics';

export const metricsFeed = (source: MetricsSource, now: () => Millis = Date.now): MetricsFeed => {
  const pages = new Set<Tell>();
  let tellLast: ((to: Tell) => void) | undefined;
  let nextAt: Millis = 0;
  let isLooking = false;
  let timer: NodeJS.Timeout | undefined;

  // Schedules the next read only while pages are open, because each read of the source may cost money.
  const schedule = (): void => {
    clearTimeout(timer);
    if (pages.size > 0 && !isLooking) timer = setTimeout(() => void look(), Math.max(0, nextAt - now()));
  };
  const look = async (): Promise<void> => {
    isLooking = true;
    const at = now();
    tellLast = await seen(source);
    nextAt = at + (await source.about()).everySeconds * 1_000;
    isLooking = false;
    for (const tell of pages) tellLast(tell);
    schedule();
  };
  return {
    open: (tell) => {
      pages.add(tell);
      tellLast?.(tell);
      schedule();
      return () => {
        pages.delete(tell);
        if (pages.size === 0) clearTimeout(timer);
      };
    },
  };
};

/** Reads the source. @returns a function that sends the metrics, or the reason why there are none. */
const seen = async (source: MetricsSource): Promise<(to: Tell) => void> => {
  try {
    const view = await source.look();
    return (to) => to('metrics', view, METRICS);
  } catch (cause) {
    const reason = reasonOf(cause);
    return (to) => to('trouble', { path: METRICS, reason }, METRICS);
  }
};

/** The source of the console's metrics. */
export interface MetricsSource {
  /** Returns how often the source is read, and what the reads cost. */
  about(): Promise<About['metrics']>;
  /** Reads the recent metrics. @throws CommandFailure if there are none; the message says why. */
  look(): Promise<MetricsView>;
}

/** A source without metrics. @param reason why there are no metrics, and what to do. */
export const noMetrics = (reason: string): MetricsSource => ({
  about: async () => ({ from: 'nowhere', everySeconds: 3_600, dollarsPerHour: 0 }),
  look: async () => {
    throw new CommandFailure(`the page shows no charts: ${reason}`);
  },
});
