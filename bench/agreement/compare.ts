/** Runs the same trace on the local stack and in the simulator. */
import type { Config } from '../../src/domain/config/resolved.ts';
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { startTestDownstream } from '../../test/factories/downstream.ts';
import { QUICK } from '../../tools/simulate/downstream.ts';
import { LOCAL } from '../../tools/simulate/platform.ts';
import { simulate } from '../../tools/simulate/simulate.ts';
import { onLocalStack } from './local.ts';
import { type Seen, seenIn } from './seen.ts';
import { OPERATION, type Trace } from './traces.ts';

export const configOf = (url: string, { maxSize, maxWait, limits }: Trace): Config => {
  const parsed = parseConfig({
    operations: {
      [OPERATION]: {
        target: ['depot'],
        batch: { maxSize, maxWait: `${maxWait}ms` },
        downstream: { kind: 'http', url },
        ...limits,
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

/** Compares one trace. This takes the duration of the trace and some seconds more. */
export const compare = async (trace: Trace): Promise<Compared> => {
  const downstream = await startTestDownstream();
  const { arrivals } = trace;
  try {
    const config = configOf(downstream.url, trace);
    const model = { ...QUICK, takes: 5, ...trace.downstream };
    const ran = await onLocalStack(config, downstream, arrivals, model);
    const simulated = seenIn(await simulate({ config, arrivals, surroundings: LOCAL, downstream: model }));
    return { tasks: arrivals.length, ran, simulated };
  } finally {
    await downstream.stop();
  }
};
