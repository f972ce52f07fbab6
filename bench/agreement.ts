/**
 * `npm run bench:agreement -- --rounds 8 --scale 0.2` runs the same traces on the local stack in real time and in the
 * simulator. It prints calls, waits and units of both, for light traces and for the sustained loads. It exits with an
 * error if they differ by more than docs/how-to/simulate.md states. Run it on an otherwise idle machine. `--traces "one
 * Target"` selects traces.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { compare } from './agreement/compare.ts';
import type { Seen } from './agreement/seen.ts';
import {
  inBursts,
  steadily,
  sustained,
  type Trace,
  withCap,
  withLargePayloads,
  withOutage,
  withRate,
} from './agreement/traces.ts';
import { loadsAt } from './sustained/loads.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    scale: { type: 'string', default: '0.2' },
    traces: { type: 'string' },
  },
});

interface Row {
  readonly what: string;
  readonly of: (seen: Seen, tasks: number) => number;
  /** The largest difference that is allowed, in percent. @default - none: the row is only printed */
  readonly within?: number;
  /** A difference up to this amount is allowed in any case. @default 0 */
  readonly orBy?: number;
}
/** In milliseconds. A mean of half a second consists mainly of the time of requests, which differs between machines. */
const MEAN_BY = 100;
const MEAN = 'mean wait, ms';
const rows: readonly Row[] = [
  { what: 'tasks', of: (seen) => seen.tasks, within: 0 },
  // The number of full batches must agree. Whether one more batch was sealed by time depends on a few milliseconds.
  { what: 'calls', of: (seen) => seen.calls, within: 5 },
  { what: MEAN, of: (seen) => seen.waits.mean, within: 10, orBy: MEAN_BY },
  { what: 'p50', of: (seen) => seen.waits.p50 },
  { what: 'p99', of: (seen) => seen.waits.p99, within: 10 },
  { what: 'longest', of: (seen) => seen.waits.max },
  { what: 'early guards', of: (seen) => seen.earlyGuards },
  { what: 'write units a task', of: (seen, tasks) => seen.writeUnits / tasks },
  { what: 'read units a task', of: (seen, tasks) => seen.readUnits / tasks },
];
const number = (value: number): string => value.toFixed(value < 100 ? 3 : 0).padStart(10);

const [rounds, scale] = [Number(values.rounds), Number(values.scale)];
const traces: readonly (readonly [string, Trace])[] = [
  ['steadily', steadily(rounds)],
  ['in bursts', inBursts(rounds)],
  ['with a rate', withRate(rounds)],
  ['with a cap', withCap(rounds)],
  ['with an outage', withOutage(rounds)],
  ['large payloads', withLargePayloads(rounds)],
  ...loadsAt(scale)
    .filter(({ name }) => name === 'one Target' || name === 'skewed Targets')
    .map((load) => [load.name, sustained(load)] as const),
];
const wanted = values.traces?.split(',');
for (const [name, trace] of traces) {
  if (wanted && !wanted.includes(name)) continue;
  const [machineLoad = 0] = loadavg();
  const { tasks, ran, simulated } = await compare(trace);
  console.log(`${name.padEnd(20)}     local  simulated   apart   (machine's load before: ${machineLoad.toFixed(1)})`);
  for (const { what, of, orBy = 0, ...row } of rows) {
    const within = (what === MEAN && trace.meanWithin) || (row.within ?? Number.POSITIVE_INFINITY);
    const [here, there] = [of(ran, tasks), of(simulated, tasks)];
    const apart = here === there ? 0 : (there / here - 1) * 100;
    const isTooFar = Math.abs(apart) > within && Math.abs(there - here) > orBy;
    if (isTooFar) process.exitCode = 1;
    const said = isTooFar ? `  more than ${within}%` : '';
    console.log(`${what.padEnd(20)}${number(here)} ${number(there)} ${apart.toFixed(1).padStart(6)}%${said}`);
  }
}
