/** The same trace on the local stack and in the simulator. */
import type { Millis } from '../../src/batching/ids.ts';
import type { Config } from '../../src/config/resolved.ts';
import { parseConfig } from '../../src/config/schema.ts';
import type { Arrival } from '../../src/simulate/arrival.ts';
import { simulate } from '../../src/simulate/simulate.ts';
import { LOCAL } from '../../src/simulate/surroundings.ts';
import { startTestDownstream } from '../../test/factories/downstream.ts';
import { onLocalStack } from './local.ts';
import { type Seen, seenIn } from './seen.ts';

const OPERATION = 'ship';
const MAX_SIZE = 100;
const MAX_WAIT = '3s';

/** Tasks come ten at once, as one request brings them. */
const TOGETHER = 10;
/** The tasks of a quiet depot: five times ten within a batch's wait, and none when it is about to end. */
const QUIET: Millis = 700;
const QUIET_DEPOTS = 4;
/** Those of a busy one: it fills a batch in 1.75 s. */
const BUSY: Millis = 175;
/** What a round takes: the batches of the quiet depots, and two of the busy one. */
const ROUND: Millis = 5 * QUIET;
const PAYLOAD_BYTES = 400;

const ten = (at: Millis, depot: string): readonly Arrival[] =>
  Array.from({ length: TOGETHER }, (_, n) => ({
    at,
    operation: OPERATION,
    payload: JSON.stringify({ depot, at, n, text: 'x'.repeat(PAYLOAD_BYTES) }),
  }));

const traceOf = (rounds: number): readonly Arrival[] => {
  const every = (span: Millis, from: Millis, depot: string): readonly Arrival[] =>
    Array.from({ length: (rounds * ROUND) / span }, (_, n) => ten(from + n * span, depot)).flat();
  const quiet = Array.from({ length: QUIET_DEPOTS }, (_, n) => every(QUIET, n * 130, `quiet-${n}`)).flat();
  return [...quiet, ...every(BUSY, 60, 'busy')].sort((a, b) => a.at - b.at);
};

const configOf = (url: string): Config => {
  const parsed = parseConfig({
    operations: {
      [OPERATION]: {
        target: ['depot'],
        batch: { maxSize: MAX_SIZE, maxWait: MAX_WAIT },
        downstream: { kind: 'http', url },
      },
    },
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
};

export interface Compared {
  readonly tasks: number;
  readonly ran: Seen;
  readonly simulated: Seen;
}

/** Takes as long as the trace, and some seconds. @param rounds of tasks */
export const compare = async (rounds: number): Promise<Compared> => {
  const trace = traceOf(rounds);
  const downstream = await startTestDownstream();
  try {
    const config = configOf(downstream.url);
    const ran = await onLocalStack(config, downstream, trace);
    const quick = { takes: 5, perItem: 0, callsPerSecond: null, down: null };
    const simulated = seenIn(await simulate({ config, arrivals: trace, surroundings: LOCAL, downstream: quick }));
    return { tasks: trace.length, ran, simulated };
  } finally {
    await downstream.stop();
  }
};
