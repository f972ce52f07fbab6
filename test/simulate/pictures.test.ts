import { describe, expect, it } from 'vitest';
import { linear, logInTime } from '../../tools/simulate/chart.ts';
import { count, dollars, span } from '../../tools/simulate/figures.ts';
import type { Outcome } from '../../tools/simulate/outcome.ts';
import { pageOf } from '../../tools/simulate/page.ts';
import { timelinePicture } from '../../tools/simulate/picture-timeline.ts';
import { tradeOffPicture } from '../../tools/simulate/picture-trade-off.ts';
import type { Tried, Varied } from '../../tools/simulate/vary.ts';

const SPREAD = { count: 10, mean: 1_000, p50: 900, p95: 1_800, p99: 2_000, max: 2_100 };
const OUTCOME: Outcome = {
  span: 3_000,
  sentOver: 2_000,
  operations: [
    {
      operation: 'a<b>"&',
      tasks: 10,
      succeeded: 10,
      failed: 0,
      batches: 2,
      sealedBy: { full: 1, waited: 1 },
      sizes: { ...SPREAD, mean: 5 },
      fill: 0.5,
      waits: SPREAD,
      late: SPREAD,
      calledOver: 60_000,
      calls: 3,
      throttled: 1,
      unanswered: 0,
    },
  ],
  limits: [],
  rejected: 0,
  rejections: [],
  earlyGuards: 0,
  usage: { writeUnits: 60, readUnits: 30, sqsRequests: 10, invocations: { register: 5 }, lambdaMillis: 100 },
  produced: { messages: 10, oneByOne: 10, tenAtOnce: 1 },
  timeline: [
    { at: 0, arrived: 6, calls: 0, throttled: 0, waiting: 6 },
    { at: 1_000, arrived: 4, calls: 3, throttled: 1, waiting: 0 },
  ],
};
const triedWith = (maxWait: number, callsPerHour: number): Tried => ({
  policy: { maxWait },
  wait: { ...SPREAD, p99: maxWait + 100 },
  calls: callsPerHour,
  callsPerHour,
  fill: 0.5,
  size: 5,
  perDay: 3 + callsPerHour / 1_000,
  perMillion: 4,
});
const TRIED = [triedWith(0, 5_000), triedWith(1_000, 500), triedWith(60_000, 100), triedWith(60_000, 120)];
const VARIED: Varied = { tried: TRIED, refused: [], front: TRIED.slice(0, 3), knee: TRIED[1] };

/** Checks that every element is closed in order, and that text has no bare < or &. */
const unclosed = (svg: string): string[] => {
  const open: string[] = [];
  for (const [, end, name = '', self] of svg.matchAll(/<(\/?)([a-zA-Z]+)(?:\s+[a-zA-Z-]+="[^"<]*")*\s*(\/?)>/g))
    if (end) {
      if (open.pop() !== name) return [`</${name}> ends another element`];
    } else if (!self) open.push(name);
  const rest = svg.replaceAll(/<\/?[a-zA-Z]+(?:\s+[a-zA-Z-]+="[^"<]*")*\s*\/?>/g, '');
  return [...open, ...(rest.match(/<|&(?!(?:lt|gt|amp|quot);)/g) ?? [])];
};

describe('a picture', () => {
  it.each([
    ['of the trace', timelinePicture(OUTCOME)],
    ['of a trace without calls', timelinePicture({ ...OUTCOME, operations: [], timeline: [] })],
    ['of a trade-off', tradeOffPicture(VARIED, triedWith(2_000, 400))],
    [
      'of a single policy',
      tradeOffPicture(
        { ...VARIED, tried: TRIED.slice(0, 1), front: TRIED.slice(0, 1), knee: undefined },
        triedWith(0, 5),
      ),
    ],
  ])('%s is well-formed, and has a description', (_, svg) => {
    expect(unclosed(svg)).toEqual([]);
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    expect(svg).toMatch(/<title>.+<\/title><desc>.*<\/desc>/);
    expect(svg).not.toMatch(/<script|href=/);
  });

  it('marks the knee and the present policy', () => {
    const svg = tradeOffPicture(VARIED, triedWith(2_000, 400));
    expect(svg.match(/class="knee"/g)).toHaveLength(3);
    expect(svg.match(/class="now"/g)).toHaveLength(3);
    expect(svg).toContain('knee: maxWait=1s');
    expect(tradeOffPicture({ ...VARIED, knee: undefined }, triedWith(2_000, 400))).not.toContain('class="knee"');
  });

  it('is in a page that loads nothing, and that has a dark mode', () => {
    const page = pageOf('Title <1>', [timelinePicture(OUTCOME)], 'a < b');
    expect(page).toContain("default-src 'none'");
    expect(page).toContain('prefers-color-scheme: dark');
    expect(page).toContain('a &lt; b');
    expect(page).not.toMatch(/<script|<link|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
  });
});

describe('an axis', () => {
  it('begins at zero and ends at a round number, or uses round times', () => {
    expect(linear(87, 0, 100).ticks).toEqual([0, 25, 50, 75, 100]);
    expect(linear(0, 0, 100).ticks.length).toBeGreaterThan(1);
    expect(logInTime([100, 60_000], 0, 100).ticks).toEqual([100, 500, 2_000, 10_000, 60_000]);
  });
});

describe('figures', () => {
  it('have three significant digits', () => {
    expect([0, 0.1234, 7, 99.96, 1_234.5, 1_234_567].map(count)).toEqual([
      '0',
      '0.123',
      '7',
      '100',
      '1,235',
      '1,234,567',
    ]);
    expect([0, 250, 1_234, 90_000, 5_400_000, 8_000_000].map(span)).toEqual([
      '0 ms',
      '250 ms',
      '1.23 s',
      '90 s',
      '90 min',
      '2.22 h',
    ]);
    expect([0, 0.0012345, 0.4, 12.345].map(dollars)).toEqual(['$0.00', '$0.00123', '$0.40', '$12.35']);
  });
});
