/** Traces that are compared: as many calls whatever some milliseconds do, so that these can be compared, too. */
import type { Millis } from '../../src/batching/ids.ts';
import type { Arrival } from '../../src/simulate/arrival.ts';

export const OPERATION = 'ship';
export const MAX_SIZE = 100;
export const MAX_WAIT = '3s';

/** Tasks come ten at once, as one request brings them. */
const TOGETHER = 10;
const PAYLOAD_BYTES = 400;

const ten = (at: Millis, depot: string): readonly Arrival[] =>
  Array.from({ length: TOGETHER }, (_, n) => ({
    at,
    operation: OPERATION,
    payload: JSON.stringify({ depot, at, n, text: 'x'.repeat(PAYLOAD_BYTES) }),
  }));

const ordered = (arrivals: readonly Arrival[]): readonly Arrival[] => arrivals.toSorted((a, b) => a.at - b.at);

/** The tasks of a quiet depot: five times ten within a batch's wait, and none when it is about to end. */
const QUIET: Millis = 700;
const QUIET_DEPOTS = 4;
/** Those of a busy one: it fills a batch in 1.75 s. */
const BUSY: Millis = 175;
/** The batches of the quiet depots, and two of the busy one. */
const ROUND: Millis = 5 * QUIET;

/** Four quiet depots and a busy one, for `rounds` of 3.5 s. */
export const steadily = (rounds: number): readonly Arrival[] => {
  const every = (span: Millis, from: Millis, depot: string): readonly Arrival[] =>
    Array.from({ length: (rounds * ROUND) / span }, (_, n) => ten(from + n * span, depot)).flat();
  const quiet = Array.from({ length: QUIET_DEPOTS }, (_, n) => every(QUIET, n * 130, `quiet-${n}`)).flat();
  return ordered([...quiet, ...every(BUSY, 60, 'busy')]);
};

/** A batch and a half for each of three depots at once, and again when that is over: also where requests take long. */
export const inBursts = (rounds: number): readonly Arrival[] => {
  const burst = (at: Millis, depot: string): readonly Arrival[] =>
    Array.from({ length: (1.5 * MAX_SIZE) / TOGETHER }, () => ten(at, depot)).flat();
  return ordered(
    Array.from({ length: rounds }, (_, round) =>
      ['MUC', 'HAM', 'BER'].flatMap((depot) => burst(round * 6_000, depot)),
    ).flat(),
  );
};
