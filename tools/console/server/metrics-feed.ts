/** Tells open pages the metrics, as often as their source allows; all of them the same. */
import type { Millis } from '../../../src/domain/ids.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { CommandFailure } from '../../failure.ts';
import type { Tell } from './rounds.ts';
import type { About, MetricsView } from './shapes.ts';

export interface MetricsFeed {
  /** A page wants to see them from now on. @returns what ends that. */
  open(tell: Tell): () => void;
}

/** Under this name pages hear why there are no metrics. */
const METRICS = 'metrics';

export const metricsFeed = (source: MetricsSource, now: () => Millis = Date.now): MetricsFeed => {
  const pages = new Set<Tell>();
  let tellLast: ((to: Tell) => void) | undefined;
  let nextAt: Millis = 0;
  let isLooking = false;
  let timer: NodeJS.Timeout | undefined;

  // Also when pages come and go: each look may cost something.
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

/** What to tell of a look. */
const seen = async (source: MetricsSource): Promise<(to: Tell) => void> => {
  try {
    const view = await source.look();
    return (to) => to('metrics', view, METRICS);
  } catch (cause) {
    const reason = reasonOf(cause);
    return (to) => to('trouble', { path: METRICS, reason }, METRICS);
  }
};

/** Where the console has its metrics from. */
export interface MetricsSource {
  /** How often it is looked at, and what that costs. */
  about(): Promise<About['metrics']>;
  /** The metrics of the last while. @throws CommandFailure when there are none to be had: why, in words. */
  look(): Promise<MetricsView>;
}

/** Where there are no metrics to be had. @param reason why, and what to do. */
export const noMetrics = (reason: string): MetricsSource => ({
  about: async () => ({ from: 'nowhere', everySeconds: 3_600, dollarsPerHour: 0 }),
  look: async () => {
    throw new CommandFailure(`there are no metrics: ${reason}`);
  },
});
