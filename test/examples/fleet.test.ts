/** The example does what its README says, run as a user runs it, with fewer flights. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { count, type Delays, PARTITIONS, partitionOf, readFlights } from '../../examples/fleet/flights.ts';
import { Owners } from '../../examples/fleet/owners.ts';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import type { FleetEvent } from '../../src/domain/fleets/events.ts';

const ROOT = join(import.meta.dirname, '../..');
const NODE = join(ROOT, 'node_modules/node/bin/node');

it('the fleet example counts each flight once though workers join, die and restart', async () => {
  const out = temporaryFolder('fleet-example');
  const args = ['examples/fleet/run.ts', '--flights', '3000', '--seconds', '18', '--out', out];
  const { stdout } = await promisify(execFile)(NODE, args, { cwd: ROOT });
  expect(stdout).toMatch(/^3,000 flights of \d+ origins in the states that the checkpoints name; /m);
  expect(stdout).toContain('each flight once.');
  const names = ['w5 joins', 'SIGKILL of w2', 'SIGTERM of w3', 'w3 starts again'];
  expect(stdout.match(/^ *\d+ s {2}.*$/gm)?.map((line) => line.replace(/^ *\d+ s {2}/, ''))).toEqual(names);
  const picture = readFileSync(join(out, 'owners.svg'), 'utf8');
  for (const name of names) expect(picture).toContain(`>${name}</text>`);
  // Untouched workers are there all the time. A legend's bars are lower than a partition's.
  for (const worker of [0, 3]) expect(picture).toContain(`height="15" class="w${worker}"`);
  expect(picture.match(/class="l y">/g)).toHaveLength(PARTITIONS);
});

it('the flight stream is in order, with all flights of an origin in one partition', () => {
  const flights = readFlights(20_000);
  expect(flights.map(({ after }) => after)).toEqual(flights.map(({ after }) => after).sort((a, b) => a - b));
  expect([flights[0]?.after, flights.at(-1)?.after]).toEqual([0, 1]);
  const partitions = Map.groupBy(flights, partitionOf);
  expect(partitions.size).toBe(PARTITIONS);
  const counts = [...partitions.values()].map((some) => {
    const delays: Delays = {};
    count(delays, some);
    return Object.keys(delays).length;
  });
  const whole: Delays = {};
  count(whole, flights);
  expect(counts.reduce((sum, origins) => sum + origins)).toBe(Object.keys(whole).length);
});

it("a worker's partitions end with it in the picture, reported or not", () => {
  const owners = new Owners();
  const event = (name: 'acquired' | 'handed-over', partition: string) =>
    ({ event: name, partition, fence: 1, fleet: 'f', node: 'n' }) as FleetEvent;
  owners.hear('a', 1, event('acquired', '0'), 10);
  owners.hear('a', 1, event('acquired', '1'), 10);
  owners.hear('a', 1, event('handed-over', '0'), 20);
  owners.gone('a', 1, 30);
  owners.hear('b', 2, event('acquired', '1'), 37);
  expect(owners.spans).toEqual([
    { partition: '0', worker: 'a', from: 10, to: 20 },
    { partition: '1', worker: 'a', from: 10, to: 30 },
    { partition: '1', worker: 'b', from: 37, to: Number.POSITIVE_INFINITY },
  ]);
  expect(owners.between(0, 40)).toEqual({ moved: 1, unowned: 7 });
  expect(owners.between(0, 37)).toEqual({ moved: 0, unowned: 0 });
});
