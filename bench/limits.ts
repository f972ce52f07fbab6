/**
 * `npm run bench:limits` sends tasks through the local stack under limits, in real time, to a service that refuses every
 * call above them: first one call a second for each of five origins, then three calls a second for two operations
 * together. It prints the rate of the calls and the number of refusals, and takes about a minute.
 */
import { setTimeout } from 'node:timers/promises';
import { startDownstream } from '../examples/flights/downstream.ts';
import { createClient } from '../src/client/client.ts';
import { type ConfigInput, parseConfig } from '../src/domain/config/schema/config.ts';
import type { Millis } from '../src/domain/ids.ts';
import { startTestDownstream } from '../test/factories/downstream.ts';
import { localClients } from '../tools/local/clients.ts';
import { startStack } from '../tools/local/stack.ts';

const ORIGINS = ['MUC', 'HAM', 'BRE', 'TXL', 'CGN'];
const MAX_SIZE = 10;
const TASKS = 1_000;
/** Tasks are sent at once, so batches are full. */
const BATCH = { maxSize: MAX_SIZE, maxWait: '2s' } as const;

interface Call {
  readonly at: Millis;
  readonly of: string;
  readonly tasks: number;
  readonly isRefused: boolean;
}

/** Sends tasks to a stack with this configuration, and waits until calls for all of them were accepted. */
const run = async (
  input: ConfigInput,
  tasks: readonly { readonly operation: string; readonly payload: object }[],
  calls: readonly Call[],
): Promise<void> => {
  const parsed = parseConfig(input);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const errors: Error[] = [];
  const stack = await startStack({
    config: parsed.value,
    apiPort: 0,
    ports: { dynamodb: 0, sqs: 0 },
    host: { log: { info: () => {}, warn: () => {}, error: (...all) => console.error(...all) } },
    onError: (error) => errors.push(error),
  });
  const { sqs } = localClients({ sqs: stack.addresses.sqs });
  await createClient({ queueUrl: stack.addresses.queues.register, sqs }).sendAll(tasks);
  const done = (): number => calls.reduce((sum, call) => sum + (call.isRefused ? 0 : call.tasks), 0);
  while (done() < tasks.length) await setTimeout(100);
  await stack.stop();
  if (errors.length > 0) throw new AggregateError(errors, 'the local stack had errors');
};

/** Calls a second between the first call and the last. The last call of a Target may be late: it waits for `maxWait`. */
const rateOf = (calls: readonly Call[]): number => {
  const at = calls.map((call) => call.at);
  return ((at.length - 1) * 1_000) / ((at.at(-1) ?? 0) - (at[0] ?? 0));
};

const tellOf = (name: string, calls: readonly Call[], since: Millis): void => {
  const at = calls.map((call) => call.at - since);
  const refused = calls.filter(({ isRefused }) => isRefused).length;
  const gaps = at.slice(1).map((time, n) => time - (at[n] ?? 0));
  console.log(
    `${name.padEnd(12)} ${String(calls.length).padStart(3)} calls from ${(at[0] ?? 0) / 1_000} to ${(at.at(-1) ?? 0) / 1_000} s: ${rateOf(calls).toFixed(3)} a second, gaps ${Math.min(...gaps)} to ${Math.max(...gaps)} ms, ${refused} refused`,
  );
};

const perOrigin = async (): Promise<void> => {
  const calls: Call[] = [];
  const service = await startDownstream(0, (of, tasks, status) =>
    calls.push({ at: Date.now(), of, tasks, isRefused: status === 429 }),
  );
  const report = {
    target: ['origin'],
    limits: ['service'],
    batch: BATCH,
    downstream: { kind: 'http' as const, url: `${service.url}/batch` },
  };
  const tasks = Array.from({ length: TASKS }, (_, n) => ({
    operation: 'report',
    payload: {
      origin: ORIGINS[n % ORIGINS.length],
      destination: 'JFK',
      delay: n,
      distance: n,
      date: '2001/01/01 00:00',
    },
  }));
  const since = Date.now();
  await run({ limits: { service: { calls: 1, key: ['origin'] } }, operations: { report } }, tasks, calls);
  await service.stop();
  console.log(`One call a second for each origin, ${TASKS} tasks in batches of ${MAX_SIZE}:`);
  for (const [origin, own] of Map.groupBy(calls, ({ of }) => of)) tellOf(origin, own, since);
};

const RATE = 3;

/** A service that refuses a call if it accepted {@link RATE} calls in the second before. */
const shared = async (): Promise<void> => {
  const calls: Call[] = [];
  const accepted: Millis[] = [];
  const service = await startTestDownstream(({ operation, items }) => {
    const at = Date.now();
    const isRefused = at - (accepted.at(-RATE) ?? 0) < 1_000;
    if (!isRefused) accepted.push(at);
    calls.push({ at, of: operation, tasks: items.length, isRefused });
    return { status: isRefused ? 429 : 200 };
  });
  const of = {
    target: ['depot'],
    limits: ['vendor'],
    batch: BATCH,
    downstream: { kind: 'http' as const, url: service.url },
  };
  const tasks = Array.from({ length: TASKS }, (_, n) => ({
    operation: n % 2 === 0 ? 'ship' : 'return',
    payload: { depot: ORIGINS[n % ORIGINS.length] },
  }));
  const since = Date.now();
  await run({ limits: { vendor: { calls: RATE } }, operations: { ship: of, return: of } }, tasks, calls);
  await service.stop();
  console.log(`${RATE} calls a second for two operations together, ${TASKS} tasks in batches of ${MAX_SIZE}:`);
  tellOf('both', calls, since);
  for (const [operation, own] of Map.groupBy(calls, (call) => call.of)) tellOf(operation, own, since);
};

await perOrigin();
await shared();
