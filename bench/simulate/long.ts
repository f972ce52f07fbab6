/** Simulates one long trace in a process of its own, and prints the elapsed time and the memory. */
import { parseConfig } from '../../src/domain/config/schema/config.ts';
import { simulate } from '../../tools/simulate/simulate.ts';
import type { Arrival } from '../../tools/simulate/trace.ts';

const TARGETS = 200;
const PER_SECOND = 1_000;
const PAYLOAD_BYTES = 400;

function* arrivals(tasks: number): Generator<Arrival> {
  const text = 'x'.repeat(PAYLOAD_BYTES);
  for (let n = 0; n < tasks; n += 1)
    yield {
      at: Math.floor((n * 1_000) / PER_SECOND),
      operation: 'ship',
      payload: JSON.stringify({ depot: `D${(n * 7_919) % TARGETS}`, n, text }),
    };
}

const parsed = parseConfig({
  operations: {
    ship: {
      target: ['depot'],
      batch: { maxWait: '10s' },
      downstream: { kind: 'http', url: 'http://127.0.0.1:1/batch' },
    },
  },
});
if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));

const tasks = Number(process.argv[2]);
const from = performance.now();
const { operations } = await simulate({ config: parsed.value, arrivals: arrivals(tasks) });
const took = performance.now() - from;
const { maxRSS } = process.resourceUsage();
process.stdout.write(JSON.stringify({ tasks: operations[0]?.succeeded, took, megabytes: maxRSS / 1_024 }));
