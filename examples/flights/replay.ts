/**
 * Replays real flights (US domestic, early 2001, from the package vega-datasets) as tasks at a chosen speed, and compares them
 * with one call per flight.
 *
 *   npm run example:flights -- --count 5000 --seconds 30
 */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createClient } from '../../src/client/client.ts';
import { CONFIG_FILES } from '../../src/config/load.ts';
import { localClients } from '../../tools/local/clients.ts';
import { readLocalFile } from '../../tools/local/local-folder.ts';
import type { Flight, Tally } from './downstream.ts';

/** The package exports no data files, so find the file beside its entry. */
const DATA = fileURLToPath(new URL('../data/flights-20k.json', import.meta.resolve('vega-datasets')));

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '30' },
    'example-port': { type: 'string', default: '9100' },
  },
});
const count = Number(values.count);
const seconds = Number(values.seconds);
const port = Number(values['example-port']);
if (!(port > 0 && port < 65_536) || !Number.isInteger(count) || count < 1 || count > 20_000 || !(seconds > 0)) {
  console.error('usage: npm run example:flights -- [--count 1…20000] [--seconds N] [--example-port N]');
  process.exit(2);
}

const downstream = `http://127.0.0.1:${port}`;

const stack = readLocalFile(process.cwd());
if (!stack) {
  console.error('No local stack runs in this folder. Start one with `npm start` in another terminal.');
  process.exit(1);
}

const momentOf = ({ date }: Flight): number => Date.parse(`${date.replaceAll('/', '-').replace(' ', 'T')}Z`);

/** Flights in order of departure. */
const flights = (JSON.parse(readFileSync(DATA, 'utf8')) as Flight[])
  .toSorted((a, b) => momentOf(a) - momentOf(b))
  .slice(0, count);

const [first, last] = [flights[0] as Flight, flights.at(-1) as Flight];
const span = momentOf(last) - momentOf(first);
const origins = new Set(flights.map(({ origin }) => origin)).size;
const speed = span / (seconds * 1_000);
console.log(
  `${flights.length} flights from ${origins} airports, ${first.date} to ${last.date}, ${Math.round(speed).toLocaleString('en')} times as fast as in reality.`,
);

const groupage = createClient<{ 'report-flights': Flight }>({
  queueUrl: stack.queues.register,
  sqs: localClients({ sqs: stack.sqs }).sqs,
});

const tallies = async (): Promise<{ single: Tally; batch: Tally }> =>
  (await fetch(`${downstream}/tally`)).json() as Promise<{ single: Tally; batch: Tally }>;

const before = await tallies().catch(() => {
  console.error(
    `The service of this example (${downstream}) does not answer. It runs only with an \`npm start\` without a configuration. Stop yours, and start in a folder without ${CONFIG_FILES.join(' and ')}.`,
  );
  process.exit(1);
});
const from = Date.now();
const singles: Promise<unknown>[] = [];

/** Sends each flight twice: as a task, and as a single call. A single call that is refused is not repeated. */
for (let next = 0; next < flights.length; ) {
  const reached = momentOf(first) + (Date.now() - from) * speed;
  let end = next;
  while (end < flights.length && momentOf(flights[end] as Flight) <= reached) end += 1;
  const due = flights.slice(next, end);
  next = end;
  for (const flight of due)
    singles.push(fetch(`${downstream}/flight`, { method: 'POST', body: JSON.stringify(flight) }));
  if (due.length > 0) await groupage.sendAll(due.map((payload) => ({ operation: 'report-flights', payload })));
  if (process.stdout.isTTY) process.stdout.write(`\r${next.toLocaleString('en')} flights sent`);
  await setTimeout(50);
}
await Promise.all(singles);
console.log(`${process.stdout.isTTY ? '\n' : ''}All sent. Waiting for the last batches …`);

const done = async () => {
  const { single, batch } = await tallies();
  return { single: minus(single, before.single), batch: minus(batch, before.batch) };
};
const minus = (a: Tally, b: Tally): Tally => ({
  calls: a.calls - b.calls,
  refused: a.refused - b.refused,
  flights: a.flights - b.flights,
});

let result = await done();
while (result.batch.flights < flights.length && Date.now() - from < seconds * 1_000 + 300_000) {
  await setTimeout(500);
  result = await done();
}

const line = (way: string, { calls, refused, flights: taken }: Tally): string =>
  `${way.padEnd(16)}${String(calls).padStart(8)}${String(refused).padStart(10)}${String(taken).padStart(10)}${(taken / Math.max(1, calls - refused)).toFixed(1).padStart(14)}`;

console.log(`
                   calls   refused   flights  flights/call
${line('one call each', result.single)}
${line('with Groupage', result.batch)}

The service takes one call a second per origin. With one call per flight it refused ${percent(result.single)} of the calls,
which the caller would have to repeat. In batches it was called ${(result.single.calls / Math.max(1, result.batch.calls)).toFixed(0)} times less often${result.batch.refused > 0 ? `; ${result.batch.refused} calls came too early and were repeated later` : ''}, and every flight arrived.`);

function percent({ refused, calls }: Tally): string {
  return `${Math.round((refused / Math.max(1, calls)) * 100)}%`;
}
if (result.batch.flights < flights.length) {
  console.error(
    `\n${flights.length - result.batch.flights} flights did not arrive in time. See their state with: npm run groupage -- watch`,
  );
  process.exitCode = 1;
}
