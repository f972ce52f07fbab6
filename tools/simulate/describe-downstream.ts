/** A downstream as `--downstream` describes it: `takes=200ms perItem=1ms limit=10/s down=1h..7h`. */
import type { Parsed } from '../../src/util/problems.ts';
import { describedBy, duration, perSecondIn, type Reader } from './described.ts';
import { type DownstreamModel, QUICK, type Span } from './downstream.ts';

const span: Reader<Span> = {
  read: (text) => {
    const [from, until, ...more] = text.split('..').map(duration.read);
    return from === undefined || until === undefined || from >= until || more.length > 0 ? undefined : { from, until };
  },
  takes: 'from when until when, from the beginning of the trace, such as 1h..7h',
};

const limit: Reader<number> = {
  read: (text) => {
    const calls = perSecondIn(text);
    // It counts by the second, and takes nothing at all below one.
    return calls !== undefined && calls >= 1 ? calls : undefined;
  },
  takes: 'calls a second, at least one, such as 10/s',
};

/** What is left out is as {@link QUICK}. */
export const downstreamFrom = (text: string): Parsed<DownstreamModel> => {
  const described = describedBy(text, { takes: duration, perItem: duration, limit, down: span, spent: span });
  if (!described.ok) return described;
  const { limit: callsPerSecond = QUICK.callsPerSecond, ...rest } = described.value;
  return { ok: true, value: { ...QUICK, ...rest, callsPerSecond } };
};
