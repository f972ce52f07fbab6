/** Tasks of a producer without its own ids, which sends until all are accepted, while every third request fails. */
import { expect } from 'vitest';
import { type Client, createClient, NotAllSent, type TaskToSend } from '../../src/client/client.ts';
import { localClients } from '../../tools/local/clients.ts';
import { type Fate, withFates } from '../client/faulty-sqs.ts';
import { expectEachTaskInOneBatch } from '../end-to-end/each-once.ts';
import { startLocalFlow } from './flow.ts';

const FATES: readonly Fate[] = ['refused', 'answer-lost', 'partial', 'throttled', 'partly-refused'];
const DEPOTS = 5;

type Ship = { ship: { readonly depot: string; readonly n: number } };

/** Sends the tasks, and expects that the downstream got each of them once. */
export const expectEachOnceUnderFaults = async (count: number): Promise<void> => {
  const flow = await startLocalFlow({ batch: { maxSize: 100, maxWait: '1s' } });
  try {
    const { sqs } = localClients({ sqs: flow.stack.addresses.sqs });
    withFates(sqs, (request) => (request % 3 === 0 ? FATES[(request / 3) % FATES.length] : undefined));
    const client = createClient<Ship>({ queueUrl: flow.stack.addresses.queues.register, sqs });
    const tasks = Array.from({ length: count }, (_, n) => ({
      operation: 'ship' as const,
      payload: { depot: `D${n % DEPOTS}`, n },
    }));
    const sent = await sendUntilDone(client, tasks);
    expect(sent.ids.size).toBe(count);
    expect(sent.failures).toBeGreaterThan(count / 100);
    await flow.settled([...sent.ids]);
    expectEachTaskInOneBatch(flow.downstream.calls, [...sent.ids]);
    const numbers = flow.downstream.calls.flatMap(({ items }) => items.map(({ payload }) => Number(payload.n)));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(tasks.map(({ payload: { n } }) => n));
  } finally {
    await flow.stop();
  }
};

const sendUntilDone = async (client: Client<Ship>, tasks: readonly TaskToSend<Ship>[]) => {
  const ids = new Set<string>();
  let failures = 0;
  for (let rest = tasks; ; ) {
    try {
      for (const id of await client.sendAll(rest)) ids.add(id);
      return { ids, failures };
    } catch (cause) {
      if (!(cause instanceof NotAllSent)) throw cause;
      failures += 1;
      for (const id of cause.sent) ids.add(id);
      rest = [...cause.left, ...rest.slice(cause.read)];
    }
  }
};
