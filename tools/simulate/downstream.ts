/** The simulated downstream: its speed, its rate limit, and its outages. */
import type { Answer, Call, Downstream } from '../../src/domain/downstream/downstream.ts';
import type { Millis } from '../../src/domain/ids.ts';
import type { Parsed } from '../../src/util/problems.ts';
import type { Scheduler } from '../../src/virtual/scheduler.ts';
import { duration, parseNameValues, perSecondIn, type Reader } from './name-values.ts';

/** A time span, in ms since the start of the trace. */
interface Span {
  readonly from: Millis;
  readonly until: Millis;
}

export interface DownstreamModel {
  /** Duration of a call, plus `perItem` for each item, in ms. */
  readonly takes: Millis;
  readonly perItem: Millis;
  /** Calls per second that are accepted; further calls get 429 immediately. Null: no limit. */
  readonly callsPerSecond: number | null;
  /** Time span in which the downstream is down and responds with 503. */
  readonly down: Span | null;
  /** Time span in which a quota, such as a daily quota, is used up and the downstream responds with 429. */
  readonly spent: Span | null;
}

export const QUICK: DownstreamModel = { takes: 50, perItem: 0, callsPerSecond: null, down: null, spent: null };

/** A call that the downstream received, and its response. */
export interface Heard {
  readonly call: Call;
  readonly answered: 'done' | 'throttled' | 'unavailable';
}

/** @param start start of the trace @param hear called for each received call */
export const modelledDownstream = (
  model: DownstreamModel,
  scheduler: Scheduler,
  start: Millis,
  hear: (heard: Heard) => void,
): Downstream => {
  const second = { begins: start, calls: 0 };
  const isIn = (span: Span | null): boolean => {
    const at = scheduler.now - start;
    return span !== null && at >= span.from && at < span.until;
  };
  /** Counts calls in fixed seconds, as most rate limits do. */
  const isTooMuch = (): boolean => {
    if (model.callsPerSecond === null) return false;
    if (scheduler.now - second.begins >= 1_000) {
      second.begins = scheduler.now - ((scheduler.now - start) % 1_000);
      second.calls = 0;
    }
    second.calls += 1;
    return second.calls > model.callsPerSecond;
  };
  const answerTo = async (call: Call): Promise<Answer> => {
    if (isIn(model.down)) {
      hear({ call, answered: 'unavailable' });
      return { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true };
    }
    if (isIn(model.spent) || isTooMuch()) {
      hear({ call, answered: 'throttled' });
      return { kind: 'unavailable', reason: 'answered 429', mayRetryAtOnce: false, throttled: true };
    }
    hear({ call, answered: 'done' });
    await scheduler.wait(model.takes + model.perItem * call.items.length);
    return { kind: 'all-succeeded' };
  };
  return { call: answerTo };
};

const span: Reader<Span> = {
  read: (text) => {
    const [from, until, ...more] = text.split('..').map(duration.read);
    return from === undefined || until === undefined || from >= until || more.length > 0 ? undefined : { from, until };
  },
  takes: 'a time span since the start of the trace, such as 1h..7h',
};

const limit: Reader<number> = {
  read: (text) => {
    const calls = perSecondIn(text);
    // Calls are counted per second, so a limit below one would accept none.
    return calls !== undefined && calls >= 1 ? calls : undefined;
  },
  takes: 'a rate of at least one call per second, such as 10/s',
};

/** Parses `--downstream`: `takes=200ms perItem=1ms limit=10/s down=1h..7h`. The defaults are {@link QUICK}. */
export const downstreamFrom = (text: string): Parsed<DownstreamModel> => {
  const described = parseNameValues(text, { takes: duration, perItem: duration, limit, down: span, spent: span });
  if (!described.ok) return described;
  const { limit: callsPerSecond = QUICK.callsPerSecond, ...rest } = described.value;
  return { ok: true, value: { ...QUICK, ...rest, callsPerSecond } };
};
