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
const MAX_SIZE = 50;
const MAX_WAIT = '3s';

/** How often tasks come together, and for how many depots. */
const EVERY: Millis = 4_500;
const DEPOTS = 4;
/** Of each depot: a full batch and a half, so that one is sealed when it is full and the other when it has waited. */
const TOGETHER = 75;
const PAYLOAD_BYTES = 400;

/** @param rounds of tasks */
const traceOf = (rounds: number): readonly Arrival[] =>
  Array.from({ length: rounds * DEPOTS * TOGETHER }, (_, n): Arrival => {
    const round = Math.floor(n / (DEPOTS * TOGETHER));
    const depot = Math.floor((n % (DEPOTS * TOGETHER)) / TOGETHER);
    return {
      at: round * EVERY,
      operation: OPERATION,
      payload: JSON.stringify({ depot: `D${depot}`, n, text: 'x'.repeat(PAYLOAD_BYTES) }),
    };
  });

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
