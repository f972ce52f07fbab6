/**
 * `npm run bench:agreement -- --rounds 8`: the same trace on the local stack, in real time, and in the simulator: calls,
 * waits and units beside each other.
 */
import { parseArgs } from 'node:util';
import { compare } from './agreement/compare.ts';
import type { Seen } from './agreement/seen.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '8' } } });
const { tasks, ran, simulated } = await compare(Number(values.rounds));

const rows: readonly (readonly [string, (seen: Seen) => number])[] = [
  ['tasks', (seen) => seen.tasks],
  ['calls', (seen) => seen.calls],
  ['mean wait, ms', (seen) => seen.waits.mean],
  ['p50', (seen) => seen.waits.p50],
  ['p99', (seen) => seen.waits.p99],
  ['write units a task', (seen) => seen.writeUnits / tasks],
  ['read units a task', (seen) => seen.readUnits / tasks],
];
const number = (value: number): string => value.toFixed(value < 100 ? 3 : 0).padStart(10);
console.log(`${''.padEnd(20)}     local  simulated   apart`);
for (const [name, of] of rows) {
  const apart = (of(simulated) / of(ran) - 1) * 100;
  console.log(`${name.padEnd(20)}${number(of(ran))} ${number(of(simulated))} ${apart.toFixed(1).padStart(6)}%`);
}
