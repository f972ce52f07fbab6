/**
 * The traces that are compared: light traces, whose number of calls does not depend on some milliseconds, and sustained
 * loads.
 */

import type { ConfigInput } from '../../src/domain/config/schema/config.ts';
import type { Millis } from '../../src/domain/ids.ts';
import type { DownstreamModel } from '../../tools/simulate/downstream.ts';
import type { Arrival } from '../../tools/simulate/trace.ts';
import { type Load, MAX_SIZE as SUSTAINED_SIZE, MAX_WAIT as SUSTAINED_WAIT } from '../sustained/loads.ts';

export const OPERATION = 'ship';

export interface Trace {
  readonly arrivals: readonly Arrival[];
  readonly maxSize: number;
  readonly maxWait: Millis;
  /** Limits of the operation in addition to its batch policy. */
  readonly limits?: Pick<ConfigInput['operations'][string], 'rateLimit' | 'concurrency'>;
  /** The behaviour of the downstream. @default - it answers quickly */
  readonly downstream?: Partial<DownstreamModel>;
  /**
   * Largest allowed difference of the mean waits where the simulator is known to be inaccurate, in percent.
   * @default - the same as for other traces
   */
  readonly meanWithin?: number;
}

/** `maxSize`, and `maxWait` in milliseconds, of the light traces. */
const [MAX_SIZE, MAX_WAIT] = [100, 3_000];

/** The number of tasks that arrive at once, in one request. */
const TOGETHER = 10;
const PAYLOAD_BYTES = 400;

const ten = (at: Millis, depot: string, bytes = PAYLOAD_BYTES): readonly Arrival[] =>
  Array.from({ length: TOGETHER }, (_, n) => ({
    at,
    operation: OPERATION,
    payload: JSON.stringify({ depot, at, n, text: 'x'.repeat(bytes) }),
  }));

const light = (arrivals: readonly Arrival[]): Trace => ({
  arrivals: arrivals.toSorted((a, b) => a.at - b.at),
  maxSize: MAX_SIZE,
  maxWait: MAX_WAIT,
});

/**
 * The interval between the arrivals of a quiet depot, in milliseconds. Ten tasks arrive at each of five times within a
 * batch's `maxWait`, and none near its end.
 */
const QUIET: Millis = 700;
const QUIET_DEPOTS = 4;
/** The interval between the arrivals of a busy depot, in milliseconds. The depot fills a batch in 1.75 s. */
const BUSY: Millis = 175;
/** The time for one batch of each quiet depot and two batches of the busy depot, in milliseconds. */
const ROUND: Millis = 5 * QUIET;

/** Four quiet depots and a busy one, for `rounds` of 3.5 s. */
export const steadily = (rounds: number): Trace => {
  const every = (span: Millis, from: Millis, depot: string): readonly Arrival[] =>
    Array.from({ length: (rounds * ROUND) / span }, (_, n) => ten(from + n * span, depot)).flat();
  const quiet = Array.from({ length: QUIET_DEPOTS }, (_, n) => every(QUIET, n * 130, `quiet-${n}`)).flat();
  return light([...quiet, ...every(BUSY, 60, 'busy')]);
};

/**
 * In each burst, one and a half batches for each of three depots. The next burst comes when these batches are done,
 * even if requests take long.
 */
export const inBursts = (rounds: number): Trace => {
  const burst = (at: Millis, depot: string): readonly Arrival[] =>
    Array.from({ length: (1.5 * MAX_SIZE) / TOGETHER }, () => ten(at, depot)).flat();
  return light(
    Array.from({ length: rounds }, (_, round) =>
      ['MUC', 'HAM', 'BER'].flatMap((depot) => burst(round * 6_000, depot)),
    ).flat(),
  );
};

/** More calls than the rate allows, so the calls of a burst wait for their reserved times. */
export const withRate = (rounds: number): Trace => ({ ...inBursts(rounds), limits: { rateLimit: 1 } });

/** Each call takes a second, and at most two calls run at once. */
export const withCap = (rounds: number): Trace => ({
  ...inBursts(rounds),
  limits: { concurrency: { total: 2 } },
  downstream: { takes: 1_000 },
});

/** The downstream is down for ten seconds in the middle. */
export const withOutage = (rounds: number): Trace => ({
  ...inBursts(rounds),
  downstream: { down: { from: 4_000, until: 14_000 } },
});

/**
 * Payloads of 100 KB: eight or nine of them fill a batch by bytes. The simulator does not model the time for
 * transferring bytes.
 */
export const withLargePayloads = (rounds: number): Trace => ({
  ...light(
    Array.from({ length: rounds }, (_, round) =>
      ['MUC', 'HAM'].flatMap((depot) => [0, 1, 2].flatMap(() => ten(round * 6_000, depot, 100_000))),
    ).flat(),
  ),
  meanWithin: 30,
});

/** A load of `npm run bench:sustained`, whose tasks arrive one by one. */
export const sustained = ({ sends }: Load): Trace => ({
  arrivals: sends.map(({ at, target }, n) => ({
    at: Math.floor(at),
    operation: OPERATION,
    payload: JSON.stringify({ depot: `D${target}`, n }),
  })),
  maxSize: SUSTAINED_SIZE,
  maxWait: SUSTAINED_WAIT,
});
