/** The downstream of a simulated trace: how fast it is, what it takes, and when it is down. */
import type { Answer, Call, Downstream } from '../../src/domain/downstream/downstream.ts';
import type { Millis } from '../../src/domain/ids.ts';
import type { Parsed } from '../../src/util/problems.ts';
import type { Scheduler } from '../../src/virtual/scheduler.ts';
import { duration, parseNameValues, perSecondIn, type Reader } from './name-values.ts';

/** Two moments, in ms from the beginning of the trace. */
interface Span {
  readonly from: Millis;
  readonly until: Millis;
}

export interface DownstreamModel {
  /** How long a call takes, in ms, and each of its items. */
  readonly takes: Millis;
  readonly perItem: Millis;
  /** Calls a second that it takes; what is beyond is answered 429 at once. Null: any number. */
  readonly callsPerSecond: number | null;
  /** When it is down and answers 503. */
  readonly down: Span | null;
  /** When what it takes in a day, or a month, is used up, and it answers 429. */
  readonly spent: Span | null;
}

export const QUICK: DownstreamModel = { takes: 50, perItem: 0, callsPerSecond: null, down: null, spent: null };

/** A call that came in, and how it was answered. */
export interface Heard {
  readonly call: Call;
  readonly answered: 'done' | 'throttled' | 'unavailable';
}

/** @param start when the trace begins @param hear is told of each call when it comes in */
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
  /** A fixed second, as most rate limits count. */
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

/** A downstream as `--downstream` describes it: `takes=200ms perItem=1ms limit=10/s down=1h..7h`. What is left out is as {@link QUICK}. */
export const downstreamFrom = (text: string): Parsed<DownstreamModel> => {
  const described = parseNameValues(text, { takes: duration, perItem: duration, limit, down: span, spent: span });
  if (!described.ok) return described;
  const { limit: callsPerSecond = QUICK.callsPerSecond, ...rest } = described.value;
  return { ok: true, value: { ...QUICK, ...rest, callsPerSecond } };
};
