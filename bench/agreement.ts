/**
 * `npm run bench:agreement -- --rounds 8`: the same traces on the local stack, in real time, and in the simulator: calls,
 * waits and units beside each other.
 */
import { parseArgs } from 'node:util';
import { compare } from './agreement/compare.ts';
import type { Seen } from './agreement/seen.ts';
import { inBursts, steadily } from './agreement/traces.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '8' } } });
const rows: readonly (readonly [string, (seen: Seen, tasks: number) => number])[] = [
  ['tasks', (seen) => seen.tasks],
  ['calls', (seen) => seen.calls],
  ['mean wait, ms', (seen) => seen.waits.mean],
  ['p50', (seen) => seen.waits.p50],
  ['p99', (seen) => seen.waits.p99],
  ['write units a task', (seen, tasks) => seen.writeUnits / tasks],
  ['read units a task', (seen, tasks) => seen.readUnits / tasks],
];
const number = (value: number): string => value.toFixed(value < 100 ? 3 : 0).padStart(10);

for (const [name, trace] of Object.entries({ steadily, 'in bursts': inBursts })) {
  const { tasks, ran, simulated } = await compare(trace(Number(values.rounds)));
  console.log(`${name.padEnd(20)}     local  simulated   apart`);
  for (const [what, of] of rows) {
    const apart = (of(simulated, tasks) / of(ran, tasks) - 1) * 100;
    const both = `${number(of(ran, tasks))} ${number(of(simulated, tasks))}`;
    console.log(`${what.padEnd(20)}${both} ${apart.toFixed(1).padStart(6)}%`);
  }
}
