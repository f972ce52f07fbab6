/** What the default listener of events writes. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { LifeEvent } from '../../src/domain/fleets/events.ts';
import { reportTrouble } from '../../src/fleet/trouble.ts';
import { FLEET, key, partition } from './records.ts';

afterEach(() => void vi.restoreAllMocks());

const written = (event: LifeEvent): Record<string, unknown>[] => {
  const spy = vi.spyOn(console, 'error').mockReturnValue();
  spy.mockClear();
  reportTrouble({ ...event, fleet: FLEET, node: key('a') } as never);
  return spy.mock.calls.map(([line]) => JSON.parse(line as string));
};

const AT = { partition: partition(7), fence: 3 };

describe('the default listener', () => {
  it.each<[LifeEvent, RegExp]>([
    [
      { event: 'finished', ...AT, whenFinished: 'keep' },
      /returned by itself for partition 7: .* without work; set whenFinished/,
    ],
    [{ event: 'still-running', ...AT, reason: 'taken', span: 10_000 }, /has not returned 10 s after .*partition\.lost/],
    [{ event: 'work-failed', ...AT, pause: 2_000, cause: 'x' }, /threw for partition 7; .* after 2 s/],
    [{ event: 'evicted', away: 30_000 }, /others have its partitions; it joins again after 30 s/],
    [{ event: 'blocked', span: 61_000 }, /blocked for 61 s/],
    [{ event: 'store-failed', call: 'beat', cause: 'x' }, /the call beat .* is repeated/],
  ])('reports %o with a text', (event, text) => {
    expect(written(event)).toMatchObject([{ event: event.event, fleet: FLEET, text: expect.stringMatching(text) }]);
  });

  it.each<LifeEvent>([
    { event: 'joined' },
    { event: 'finished', ...AT, whenFinished: 'again' },
    { event: 'restarting', within: 60_000 },
  ])('is silent about %o', (event) => {
    expect(written(event)).toEqual([]);
  });

  it('shows causes that JSON cannot express', () => {
    expect(written({ event: 'work-failed', ...AT, pause: 1, cause: 7n })).toMatchObject([{ cause: '7n' }]);
    expect(written({ event: 'work-failed', ...AT, pause: 1, cause: new Error('why') })[0]?.cause).toMatch(
      /^Error: why/,
    );
  });
});
