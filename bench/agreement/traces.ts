/** Traces that are compared: light ones, which give as many calls whatever some milliseconds do, and sustained loads. */

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
  /** What else is configured. */
  readonly limits?: Pick<ConfigInput['operations'][string], 'rateLimit' | 'concurrency'>;
  /** How the downstream is, if it is not quick. */
  readonly downstream?: Partial<DownstreamModel>;
  /** How far the mean waits may be apart where the simulator is known to be wrong, in percent. @default - as those of other traces */
  readonly meanWithin?: number;
}

/** Of the light traces. */
const [MAX_SIZE, MAX_WAIT] = [100, 3_000];

/** Tasks come ten at once, as one request brings them. */
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

/** The tasks of a quiet depot: five times ten within a batch's wait, and none when it is about to end. */
const QUIET: Millis = 700;
const QUIET_DEPOTS = 4;
/** Those of a busy one: it fills a batch in 1.75 s. */
const BUSY: Millis = 175;
/** The batches of the quiet depots, and two of the busy one. */
const ROUND: Millis = 5 * QUIET;

/** Four quiet depots and a busy one, for `rounds` of 3.5 s. */
export const steadily = (rounds: number): Trace => {
  const every = (span: Millis, from: Millis, depot: string): readonly Arrival[] =>
    Array.from({ length: (rounds * ROUND) / span }, (_, n) => ten(from + n * span, depot)).flat();
  const quiet = Array.from({ length: QUIET_DEPOTS }, (_, n) => every(QUIET, n * 130, `quiet-${n}`)).flat();
  return light([...quiet, ...every(BUSY, 60, 'busy')]);
};

/** A batch and a half for each of three depots at once, and again when that is over: also where requests take long. */
export const inBursts = (rounds: number): Trace => {
  const burst = (at: Millis, depot: string): readonly Arrival[] =>
    Array.from({ length: (1.5 * MAX_SIZE) / TOGETHER }, () => ten(at, depot)).flat();
  return light(
    Array.from({ length: rounds }, (_, round) =>
      ['MUC', 'HAM', 'BER'].flatMap((depot) => burst(round * 6_000, depot)),
    ).flat(),
  );
};

/** More calls than the rate lets through: what comes in a burst waits for its moments. */
export const withRate = (rounds: number): Trace => ({ ...inBursts(rounds), limits: { rateLimit: 1 } });

/** Calls that take a second, two at a time. */
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

/** Payloads of 100 KB: eight or nine fill a batch by their bytes. The simulator does not count the time that bytes take. */
export const withLargePayloads = (rounds: number): Trace => ({
  ...light(
    Array.from({ length: rounds }, (_, round) =>
      ['MUC', 'HAM'].flatMap((depot) => [0, 1, 2].flatMap(() => ten(round * 6_000, depot, 100_000))),
    ).flat(),
  ),
  meanWithin: 30,
});

/** A load of `npm run bench:sustained`, whose tasks come one by one. */
export const sustained = ({ sends }: Load): Trace => ({
  arrivals: sends.map(({ at, target }, n) => ({
    at: Math.floor(at),
    operation: OPERATION,
    payload: JSON.stringify({ depot: `D${target}`, n }),
  })),
  maxSize: SUSTAINED_SIZE,
  maxWait: SUSTAINED_WAIT,
});
