/** Sends the metrics to all open pages, as often as their source can be read. */
import type { Millis } from '../../../src/domain/ids.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { CommandFailure } from '../../failure.ts';
import type { Tell } from './rounds.ts';
import type { About, MetricsView } from './shapes.ts';

export interface MetricsFeed {
  /**
   * Sends the metrics to a page repeatedly. @param window the length of a longer time range, which is sent too, as
   * `charts`. @returns a function that stops this.
   */
  open(tell: Tell, window?: Millis): () => void;
}

/**
 * The parts that are sent: the metrics of the usual time range, or of a longer one. The name is also the path of a `trouble` event
 * that says why there are none.
 */
type Part = 'metrics' | 'charts';

interface Page {
  readonly tell: Tell;
  readonly window: Millis | undefined;
}

/** The latest read of a time range. */
interface Read {
  readonly tell: (to: Tell) => void;
  /** When it is read again. */
  readonly nextAt: Millis;
}

/** The key of the usual time range. */
const USUAL = 0;

/**
 * Reads that cost money have slots: each read takes one, and a slot begins every `everySeconds`. A longer time range
 * takes the next slot of the usual one. So its reads add nothing to the cost, however many time ranges pages show.
 */
export const metricsFeed = (source: MetricsSource, now: () => Millis = Date.now): MetricsFeed => {
  const pages = new Set<Page>();
  const reads = new Map<Millis, Read>();
  let slotAt: Millis = 0;
  let isLooking = false;
  let timer: NodeJS.Timeout | undefined;

  const wanted = (): readonly Millis[] => [USUAL, ...new Set([...pages].flatMap(({ window }) => window ?? []))];
  const dueAt = (window: Millis): Millis => Math.max(reads.get(window)?.nextAt ?? 0, window === USUAL ? slotAt : 0);
  const next = (): Millis => wanted().reduce((first, window) => (dueAt(window) < dueAt(first) ? window : first));

  // Schedules the next read only while pages are open, because each read of the source may cost money.
  const schedule = (): void => {
    clearTimeout(timer);
    if (pages.size > 0 && !isLooking) timer = setTimeout(() => void look(), Math.max(0, dueAt(next()) - now()));
  };
  const look = async (): Promise<void> => {
    isLooking = true;
    const at = now();
    const window = next();
    const { everySeconds, dollarsPerHour, windows } = await source.about();
    const longer = windows.find(({ millis }) => millis === window);
    const isKnown = window === USUAL || longer !== undefined;
    const tell = isKnown ? await seen(source, window) : tellUnknown;
    reads.set(window, { tell, nextAt: at + (longer?.everySeconds ?? everySeconds) * 1_000 });
    if (dollarsPerHour > 0 && isKnown) slotAt = Math.max(slotAt, at) + everySeconds * 1_000;
    isLooking = false;
    for (const page of pages) if (window === USUAL || page.window === window) tell(page.tell);
    schedule();
  };
  const open = (page: Page): (() => void) => {
    pages.add(page);
    for (const window of [USUAL, page.window]) if (window !== undefined) reads.get(window)?.tell(page.tell);
    schedule();
    return () => {
      pages.delete(page);
      if (pages.size === 0) clearTimeout(timer);
    };
  };
  return { open: (tell, window) => open({ tell, window }) };
};

/** For a page that was loaded from the console of another stack, or of another release. */
const tellUnknown = (to: Tell): void =>
  to('trouble', { path: 'charts', reason: 'the charts cannot show this time range. Reload the page' }, 'charts');

/** Reads the source. @returns a function that sends the metrics, or the reason why there are none. */
const seen = async (source: MetricsSource, window: Millis): Promise<(to: Tell) => void> => {
  const part: Part = window === USUAL ? 'metrics' : 'charts';
  try {
    const view = await source.look(window === USUAL ? undefined : window);
    return (to) => to(part, view, part);
  } catch (cause) {
    const reason = reasonOf(cause);
    return (to) => to('trouble', { path: part, reason }, part);
  }
};

/** The source of the console's metrics. */
export interface MetricsSource {
  /** Returns the time ranges, how often the source is read, and what the reads cost. */
  about(): Promise<About['metrics']>;
  /**
   * Reads the recent metrics. @param window the length of one of the time ranges. @default - the usual one
   *
   * @throws CommandFailure if there are none; the message says why.
   */
  look(window?: Millis): Promise<MetricsView>;
}

/** A source without metrics. @param reason why there are no metrics, and what to do. */
export const noMetrics = (reason: string): MetricsSource => ({
  about: async () => ({ from: 'nowhere', everySeconds: 3_600, dollarsPerHour: 0, window: 0, windows: [] }),
  look: async () => {
    throw new CommandFailure(`the page shows no charts: ${reason}`);
  },
});
