/**
 * `npm run bench:burst -- --tasks 10000 --targets 20` sends one burst through the local stack. It prints capacity
 * units, SQS requests, invocations, fill and waits per task.
 */
import { parseArgs } from 'node:util';
import { createClient } from '../src/client/client.ts';
import { parseDuration } from '../src/domain/config/duration.ts';
import { parseConfig } from '../src/domain/config/schema/config.ts';
import { startTestDownstream } from '../test/factories/downstream.ts';
import { localClients } from '../tools/local/clients.ts';
import { startStack } from '../tools/local/stack.ts';
import { fewestBatches, registeredAt } from './lateness.ts';
import { add, type Bill, metered, newBill, total } from './meter.ts';
import { quantile } from './quantile.ts';
import { zipf } from './zipf.ts';

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '10000' },
    targets: { type: 'string', default: '20' },
    size: { type: 'string', default: '100' },
    payload: { type: 'string', default: '500' },
    wait: { type: 'string', default: '1s' },
    detail: { type: 'boolean', default: false },
    /** The exponent of Zipf's law, by which tasks are distributed over Targets; 0 distributes them evenly. */
    skew: { type: 'string', default: '0' },
    /** The most register messages per invocation, and the batch window. */
    register: { type: 'string', default: '10' },
    gather: { type: 'string', default: '0s' },
    /** Sends the tasks over this many seconds. */
    over: { type: 'string', default: '0' },
  },
});
const [tasks, targets, size, payload, over] = [
  values.tasks,
  values.targets,
  values.size,
  values.payload,
  values.over,
].map(Number) as [number, number, number, number, number];

const downstream = await startTestDownstream();
const parsed = parseConfig({
  register: { maxMessages: Number(values.register), maxWait: values.gather },
  operations: {
    ship: {
      target: ['depot'],
      batch: { maxSize: size, maxWait: values.wait },
      downstream: { kind: 'http', url: downstream.url },
    },
  },
});
if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));

const bill: Bill = newBill();
const silent = {
  info: () => {},
  warn: () => {},
  error: (message: string, fields: object) => console.error(message, fields),
};
const stack = await startStack({
  config: parsed.value,
  apiPort: 0,
  ports: { dynamodb: 0, sqs: 0 },
  host: { log: silent },
  clients: (clients) => metered(clients, bill),
  onInvoke: (name) => add(bill.invocations, name),
  onError: (error) => console.error(error.message),
});

const client = createClient({
  queueUrl: stack.addresses.queues.register,
  sqs: localClients({ sqs: stack.addresses.sqs }).sqs,
});
const sentAt = new Map<string, number>();
const depots = zipf(tasks, targets, Number(values.skew));
const make = (n: number) => {
  const body = { depot: `D${depots[n]}`, n, text: '' };
  return {
    operation: 'ship',
    payload: { ...body, text: 'x'.repeat(Math.max(0, payload - JSON.stringify(body).length)) },
  };
};
const from = Date.now();
const slices = over > 0 ? over * 10 : 1;
for (let slice = 0; slice < slices; slice += 1) {
  const some = Array.from({ length: tasks }, (_, n) => n).filter((n) => n % slices === slice);
  const now = Date.now();
  for (const id of await client.sendAll(some.map(make))) sentAt.set(id, now);
  const next = from + ((slice + 1) * over * 1_000) / slices;
  if (next > Date.now()) await new Promise((resolve) => setTimeout(resolve, next - Date.now()));
}
const sent = Date.now();
const arrived = () => downstream.calls.reduce((sum, { items }) => sum + items.length, 0);
while (arrived() < tasks && Date.now() - sent < 120_000) await new Promise((resolve) => setTimeout(resolve, 50));
const done = Date.now();
// Wait until the last batches have written their results and the last leaders have released their locks.
await new Promise((resolve) => setTimeout(resolve, 3_000));
const registered = await registeredAt(stack.clients.dynamodb, stack.addresses.tables.task);
await stack.stop();
await downstream.stop();

const waits = downstream.calls
  .flatMap(({ at, items }) => items.map(({ id }) => at - (sentAt.get(id) ?? at)))
  .sort((a, b) => a - b);
const per = (counts: ReadonlyMap<string, number>): number => Number((total(counts) / tasks).toFixed(3));
const sizes = downstream.calls.map(({ items }) => items.length);
const maxWait = parseDuration(values.wait) ?? 0;
const fewest = [...Map.groupBy(registered.values(), ({ target }) => target).values()]
  .map((same) =>
    fewestBatches(
      same.map(({ at }) => at),
      size,
      maxWait,
    ),
  )
  .reduce((sum, each) => sum + each, 0);
// A batch that is full before `maxWait` is over is not late. A batch of a backlog is late by the time that the backlog
// takes.
const late = downstream.calls
  .map(({ at, items }) => at - maxWait - Math.min(...items.map(({ id }) => registered.get(id)?.at ?? at)))
  .sort((a, b) => a - b);
const ids = downstream.calls.flatMap(({ items }) => items.map(({ id }) => id));
console.log(
  JSON.stringify(
    {
      tasks,
      targets,
      maxSize: size,
      payloadBytes: payload,
      arrived: new Set(ids).size,
      twice: ids.length - new Set(ids).size,
      batches: sizes.length,
      fullBatches: sizes.filter((each) => each === size).length,
      fill: Number((sizes.reduce((sum, each) => sum + each, 0) / sizes.length / size).toFixed(3)),
      // The fewest batches that can hold these tasks, divided by the number of batches that were made.
      fillOfBest: Number((fewest / sizes.length).toFixed(3)),
      writeUnitsPerTask: per(bill.writeUnits),
      readUnitsPerTask: per(bill.readUnits),
      sqsRequestsPerTask: per(bill.sqsRequests),
      emptyReceives: total(bill.emptyReceives),
      invocationsPerTask: per(bill.invocations),
      sendingSeconds: (sent - from) / 1_000,
      untilAllArrivedSeconds: (done - from) / 1_000,
      // For the oldest task of each batch: the time from registration to the call, minus `maxWait`.
      lateMs: { p50: quantile(late, 0.5), p99: quantile(late, 0.99), max: late.at(-1) },
      waitMs: { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), max: waits.at(-1) },
    },
    null,
    2,
  ),
);
if (values.detail)
  for (const [what, counts] of Object.entries(bill))
    console.log(
      what,
      Object.fromEntries(
        [...(counts as Map<string, number>)]
          .sort((a, b) => b[1] - a[1])
          .map(([name, count]) => [name, Number((count / tasks).toFixed(4))]),
      ),
    );
