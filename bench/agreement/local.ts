/** Runs a trace on the local stack in real time, and reports it like a simulation. */
import { setTimeout } from 'node:timers/promises';
import { createClient } from '../../src/client/client.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import type { Millis } from '../../src/domain/ids.ts';
import type { TestDownstream } from '../../test/factories/downstream.ts';
import { localClients } from '../../tools/local/clients.ts';
import { startStack } from '../../tools/local/stack.ts';
import type { DownstreamModel } from '../../tools/simulate/downstream.ts';
import { Spreading } from '../../tools/simulate/spread.ts';
import type { Arrival } from '../../tools/simulate/trace.ts';
import { add, metered, newBill, total } from '../meter.ts';
import type { Seen } from './seen.ts';

const silent = {
  info: () => {},
  warn: () => {},
  error: (message: string, fields: object) => console.error(message, fields),
};
/** Time until the last results are written and the last leaders have released their locks, in milliseconds. */
const AFTERWARDS: Millis = 4_000;

export const onLocalStack = async (
  config: Config,
  downstream: TestDownstream,
  trace: readonly Arrival[],
  { takes, down }: Pick<DownstreamModel, 'takes' | 'down'>,
): Promise<Seen> => {
  const bill = newBill();
  const errors: Error[] = [];
  let earlyGuards = 0;
  const stack = await startStack({
    config,
    apiPort: 0,
    ports: { dynamodb: 0, sqs: 0 },
    host: {
      log: silent,
      onEvent: ({ event }) => {
        if (event === 'early-guard') earlyGuards += 1;
      },
    },
    clients: (clients) => metered(clients, bill),
    onInvoke: (name) => add(bill.invocations, name),
    onError: (error) => errors.push(error),
  });
  const client = createClient({
    queueUrl: stack.addresses.queues.register,
    sqs: localClients({ sqs: stack.addresses.sqs }).sqs,
  });
  const sentAt = new Map<string, Millis>();
  const sending: Promise<void>[] = [];
  const from = Date.now();
  const done = new Set<string>();
  downstream.behave(async ({ items }) => {
    const at = Date.now() - from;
    if (down && at >= down.from && at < down.until) return { status: 503 };
    // Shorter durations are within the overhead of the answer.
    if (takes > 5) await setTimeout(takes);
    for (const { id } of items) done.add(id);
    return { status: 200 };
  });
  for (const [at, together] of Map.groupBy(trace, (each) => each.at)) {
    await setTimeout(Math.max(0, from + at - Date.now()));
    const now = Date.now();
    const tasks = together.map(({ operation, payload }) => ({ operation, payload: JSON.parse(payload) }));
    // The request is not awaited, because a slow request must not delay the next requests.
    sending.push(
      client.sendAll(tasks).then((ids) => {
        for (const id of ids) sentAt.set(id, now);
      }),
    );
  }
  await Promise.all(sending);
  const deadline = Date.now() + 120_000;
  while (done.size < trace.length && Date.now() < deadline) await setTimeout(50);
  await setTimeout(AFTERWARDS);
  await stack.stop();
  if (errors.length > 0) throw new AggregateError(errors, 'the local stack had errors');
  const waits = new Spreading();
  const called = new Set<string>();
  for (const { at, items } of downstream.calls)
    for (const { id } of items) {
      // If a task was included in several calls, only the wait until its first call counts.
      if (!called.has(id)) waits.add(at - (sentAt.get(id) ?? at));
      called.add(id);
    }
  return {
    calls: downstream.calls.length,
    tasks: done.size,
    waits: waits.spread,
    earlyGuards,
    writeUnits: total(bill.writeUnits),
    readUnits: total(bill.readUnits),
  };
};
