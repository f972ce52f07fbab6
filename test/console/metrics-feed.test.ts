import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type MetricsSource, metricsFeed } from '../../tools/console/server/metrics-feed.ts';
import type { Tell } from '../../tools/console/server/rounds.ts';
import type { LiveEvents } from '../../tools/console/server/shapes.ts';

const HOUR = 3_600_000;
const EVERY = 60;

/** A source whose reads are recorded. The usual time range has 3 hours; the other is read every 8 minutes. */
const recorded = (dollarsPerHour: number) => {
  const reads: (number | undefined)[] = [];
  const source: MetricsSource = {
    about: async () => ({
      from: 'cloudwatch',
      everySeconds: EVERY,
      dollarsPerHour,
      window: 3 * HOUR,
      windows: [
        { millis: 3 * HOUR, everySeconds: EVERY },
        { millis: 24 * HOUR, everySeconds: 8 * EVERY },
      ],
    }),
    look: async (window) => {
      reads.push(window);
      const step = (window ?? 3 * HOUR) / 180;
      return { from: 0, step, steps: 180, series: [], totals: { since: 0, operations: [] } };
    },
  };
  return { source, reads };
};

/** A page that records the events it receives. */
const aPage = () => {
  const heard: string[] = [];
  const tell: Tell = (name, event) => {
    const { step, reason = '' } = event as LiveEvents['metrics'] & LiveEvents['trouble'];
    heard.push(name === 'trouble' ? `${name}: ${reason}` : `${name} ${(step * 180) / HOUR} h`);
  };
  return { heard, tell };
};

describe('the metrics feed', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('sends a longer time range at once, and only to the pages that show it', async () => {
    const { source } = recorded(0.01);
    const feed = metricsFeed(source);
    const [usual, longer] = [aPage(), aPage()];
    feed.open(usual.tell);
    feed.open(longer.tell, 24 * HOUR);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([usual.heard, longer.heard]).toEqual([['metrics 3 h'], ['metrics 3 h', 'charts 24 h']]);
  });

  it('makes as many paid reads with a longer time range as without', async () => {
    const counts: number[][] = [];
    for (const window of [undefined, 24 * HOUR]) {
      const { source, reads } = recorded(0.01);
      const close = metricsFeed(source).open(aPage().tell, window);
      await vi.advanceTimersByTimeAsync(4 * HOUR);
      close();
      counts.push([reads.length, reads.filter((each) => each === 24 * HOUR).length]);
    }
    expect(counts[0]).toEqual([241, 0]);
    expect(counts[1]?.[1]).toBe(30);
    expect(counts[1]?.[0]).toBeLessThanOrEqual(242);
  });

  it('makes no more paid reads when pages change between time ranges', async () => {
    const { source, reads } = recorded(0.01);
    const feed = metricsFeed(source);
    for (let n = 0; n < 360; n += 1) {
      const close = feed.open(aPage().tell, n % 2 === 0 ? 24 * HOUR : undefined);
      await vi.advanceTimersByTimeAsync(10_000);
      close();
    }
    expect(reads.length).toBeLessThanOrEqual(62);
  });

  it('reads a free source without slots', async () => {
    const { source, reads } = recorded(0);
    metricsFeed(source).open(aPage().tell, 24 * HOUR);
    await vi.advanceTimersByTimeAsync(HOUR - 1);
    expect(reads.filter((each) => each === undefined)).toHaveLength(60);
    expect(reads.filter((each) => each === 24 * HOUR)).toHaveLength(8);
  });

  it('never reads a time range that the source does not have', async () => {
    const { source, reads } = recorded(0.01);
    const page = aPage();
    metricsFeed(source).open(page.tell, 7);
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(new Set(reads)).toEqual(new Set([undefined]));
    expect(reads).toHaveLength(11);
    expect(page.heard).toContain('trouble: the charts cannot show this time range. Reload the page');
  });
});
