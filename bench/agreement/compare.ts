/** The same trace on the local stack and in the simulator. */
import type { Config } from '../../src/config/resolved.ts';
import { parseConfig } from '../../src/config/schema.ts';
import type { Arrival } from '../../src/simulate/arrival.ts';
import { simulate } from '../../src/simulate/simulate.ts';
import { LOCAL } from '../../src/simulate/surroundings.ts';
import { startTestDownstream } from '../../test/factories/downstream.ts';
import { onLocalStack } from './local.ts';
import { type Seen, seenIn } from './seen.ts';
import { MAX_SIZE, MAX_WAIT, OPERATION } from './traces.ts';

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

/** Takes as long as the trace, and some seconds. */
export const compare = async (trace: readonly Arrival[]): Promise<Compared> => {
  const downstream = await startTestDownstream();
  try {
    const config = configOf(downstream.url);
    const ran = await onLocalStack(config, downstream, trace);
    const quick = { takes: 5, perItem: 0, callsPerSecond: null, down: null, spent: null };
    const simulated = seenIn(await simulate({ config, arrivals: trace, surroundings: LOCAL, downstream: quick }));
    return { tasks: trace.length, ran, simulated };
  } finally {
    await downstream.stop();
  }
};
