/**
 * Workers share the flights stream and keep state for their partitions, while one joins, one is killed and one is
 * restarted. At the end each flight must have been counted once.
 *
 *   npm run example:fleet                       about a minute
 *   npm run example:fleet -- --out FOLDER       the folder of the picture
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { temporaryFolder } from '../../lib/temporary-folder.ts';
import type { FleetEvent } from '../../src/domain/fleets/events.ts';
import type { FleetName } from '../../src/domain/fleets/ids.ts';
import { fleetsAt } from '../../src/fleet/table-at.ts';
import { startDynamoDB } from '../../tools/local/dynamodb-engine.ts';
import { makeFleetTable } from '../../tools/local/resources.ts';
import { plural, table } from '../../tools/terminal.ts';
import { count, type Delays, PARTITIONS, readFlights } from './flights.ts';
import { Owners } from './owners.ts';
import { pictureOf } from './picture.ts';
import type { Place, WorkerSetting } from './worker.ts';

/** Length of a cycle in ms: a fifth of the default, so that the example takes a minute. */
const CYCLE = 1_000;

const usage = (): never => {
  console.error('usage: npm run example:fleet -- [--flights 1000…20000] [--seconds 10…600] [--out FOLDER | --docs]');
  process.exit(2);
};
const readOptions = () => {
  try {
    return parseArgs({
      options: {
        flights: { type: 'string', default: '20000' },
        seconds: { type: 'string', default: '45' },
        out: { type: 'string' },
        docs: { type: 'boolean', default: false },
      },
    }).values;
  } catch {
    return usage();
  }
};
const options = readOptions();
const [flights, span] = [Number(options.flights), Number(options.seconds) * 1_000];
if (!Number.isInteger(flights) || flights < 1_000 || flights > 20_000 || !(span >= 10_000 && span <= 600_000)) usage();
if (options.docs && options.out !== undefined) usage();

const engine = await startDynamoDB({ port: 0 });
const at = await makeFleetTable(engine.endpoint, 'Fleet');
const fleets = fleetsAt(at);
const states = temporaryFolder('fleet-states');
let setting: Omit<WorkerSetting, 'name'> = { table: at, cycle: CYCLE, states, flights, span };

const owners = new Owners();
const workers = new Map<string, ChildProcess>();
const counted = { flights: 0 };

const start = (name: string): void => {
  const child = fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify({ ...setting, name })]);
  const life = child.pid ?? 0;
  workers.set(name, child);
  child.on('message', (message: { counted: number } | { event: FleetEvent; at: number }) => {
    if ('counted' in message) counted.flights += message.counted;
    else owners.hear(name, life, message.event, message.at);
  });
  child.once('exit', () => owners.gone(name, life, Date.now()));
};
/** Sends a signal to a worker, and waits for its exit. */
const end = async (name: string, signal: NodeJS.Signals): Promise<void> => {
  const child = workers.get(name);
  workers.delete(name);
  child?.kill(signal);
  if (child) await once(child, 'exit');
};

/** The time of each incident, as a share of the replay. */
const INCIDENTS: readonly (readonly [number, string, () => unknown])[] = [
  [0.17, 'w5 joins', () => start('w5')],
  [0.36, 'SIGKILL of w2', () => end('w2', 'SIGKILL')],
  [0.64, 'SIGTERM of w3', () => end('w3', 'SIGTERM')],
  [0.74, 'w3 starts again', () => start('w3')],
];
const happened: { name: string; at: number }[] = [];

const leases = async () => (await fleets.read('flights' as FleetName)).leases;
const places = async (): Promise<readonly Place[]> => {
  const checkpoints = await pLimit(8).map(await leases(), ({ partition }) =>
    fleets.checkpointOf('flights' as FleetName, partition),
  );
  return checkpoints.flatMap((text) => (text === undefined ? [] : [JSON.parse(text) as Place]));
};
const isEven = async (): Promise<boolean> => {
  const counts = [...Map.groupBy(await leases(), ({ owner }) => owner).values()].map(({ length }) => length);
  return counts.length === workers.size && Math.max(...counts) - Math.min(...counts) <= 1;
};
const reached = async (): Promise<number> => (await places()).reduce((sum, { position }) => sum + position, 0);

const stream = readFlights(flights);
console.log(
  `${plural(flights, 'flight')} in ${PARTITIONS} partitions within ${span / 1_000} s, 4 workers, a cycle of ${CYCLE / 1_000} s.`,
);
for (const name of ['w1', 'w2', 'w3', 'w4']) start(name);
// The stream begins when each partition has an owner, and when the workers have had time to share the partitions
// evenly.
while ((await leases()).filter(({ owner }) => owner !== undefined).length < PARTITIONS) await setTimeout(CYCLE / 5);
await setTimeout(2 * CYCLE);
const startsAt = Date.now();
setting = { ...setting, startsAt };
for (const worker of workers.values()) worker.send({ startsAt });
for (const [share, name, happen] of INCIDENTS) {
  await setTimeout(Math.max(0, startsAt + share * span - Date.now()));
  happened.push({ name, at: Date.now() });
  console.log(`${String(Math.round((Date.now() - startsAt) / 1_000)).padStart(3)} s  ${name}`);
  await happen();
}
const patience = Date.now() + span + 120_000;
while (((await reached()) < flights || !(await isEven())) && Date.now() < patience) await setTimeout(CYCLE / 2);
// Continue for three cycles, so that the picture shows the final state.
await setTimeout(3 * CYCLE);
const endsAt = Date.now();
await Promise.all([...workers.keys()].map((name) => end(name, 'SIGTERM')));

const kept: Delays = {};
for (const { file } of await places()) Object.assign(kept, JSON.parse(readFileSync(join(states, file), 'utf8')));
await engine.stop();
const direct: Delays = {};
count(direct, stream);

const rows = [{ name: 'the stream begins', at: startsAt }, ...happened].map(({ name, at: from }, index) => {
  const { moved, unowned } = owners.between(from, happened[index]?.at ?? endsAt);
  return [name, `${Math.round((from - startsAt) / 1_000)} s`, moved, `${(unowned / 1_000).toFixed(1)} s`];
});
console.log(`\n${table(['', 'at', 'moved', 'longest without an owner'], rows)}\n`);

const folder = options.docs
  ? join(import.meta.dirname, '../../docs/images')
  : (options.out ?? mkdtempSync(join(tmpdir(), 'groupage-fleet-example-')));
mkdirSync(folder, { recursive: true });
const picture = join(folder, options.docs ? 'fleet-example.svg' : 'owners.svg');
writeFileSync(
  picture,
  pictureOf({
    ...{ spans: owners.spans, workers: ['w1', 'w2', 'w3', 'w4', 'w5'], partitions: PARTITIONS },
    incidents: happened.map(({ name, at: then }) => ({ name, at: then - startsAt })),
    ...{ from: startsAt, to: endsAt },
  }),
);

const [sum, origins] = [Object.values(kept).reduce((all, each) => all + each.flights, 0), Object.keys(kept).length];
console.log(
  `${plural(sum, 'flight')} of ${plural(origins, 'origin')} in the states that the checkpoints name; ${plural(counted.flights - sum, 'flight')} were counted again because no checkpoint named a state with them.`,
);
console.log(`Picture of the owners: ${picture}`);
if (isDeepStrictEqual(kept, direct)) console.log('Equal to a direct count of the whole stream: each flight once.');
else {
  console.error('NOT equal to a direct count of the whole stream');
  process.exitCode = 1;
}
